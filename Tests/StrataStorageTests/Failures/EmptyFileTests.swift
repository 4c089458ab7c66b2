import Platform
import StrataFiles
import StrataStorage
import Testing

/// An empty file of `mkstemp` was once refused, while other engines create a database in it.
@Suite(.serialized)
struct EmptyFileTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
        close(open(path, O_CREAT | O_WRONLY, 0o640))
        chmod(path, 0o640)
    }

    @Test("an empty file becomes a store, keeps its permissions, and the open reports it") func begins()
        throws
    {
        let store = try Store.open(path: path)
        #expect(store.damage.startedEmpty)
        try PlainTable.setUp(store)
        try PlainTable.insert(store, 0..<10)
        try store.close()
        var found = stat()
        #expect(stat(path, &found) == 0 && found.st_mode & 0o777 == 0o640)
        let again = try Store.open(path: path)
        #expect(try PlainTable.keys(again.snapshot().view) == Array(0..<10))
        #expect(!again.damage.startedEmpty)
        try again.close()
        #expect(directory.names() == ["store"])
    }

    @Test("an empty file with a log was a store: the open throws, and both stay") func withLog() throws {
        let log = path + ".log"
        close(open(log, O_CREAT | O_WRONLY, 0o640))
        #expect(throws: StorageError.notAStore(path: path)) { try Store.open(path: path) }
        #expect(directory.names() == ["store", "store.log"])
        unlink(log)
        #expect(throws: StorageError.notAStore(path: path)) {
            try Store.open(path: path, options: StoreOptions(readOnly: true))
        }
    }

    @Test(
        "processes that open an empty file at once find one store",
        .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
    func atOnce() throws {
        for round in 0..<10 {
            let workers = try (1...6).map { try StoreWorkerProcess(path, ["once", "\($0)"], name: "w\($0)") }
            for worker in workers { #expect(worker.wait() == 0, "round \(round): \(worker.errors)") }
            var options = StoreOptions()
            options.limits = .tiny
            let store = try Store.open(path: path, options: options)
            let view = try store.snapshot().view
            let place = try #require(try view.locate(0, RowKey(0)))
            #expect(try view.integer(place, 0) == 6, "round \(round)")
            try store.close()
            #expect(truncate(path, 0) == 0)
        }
    }
}
