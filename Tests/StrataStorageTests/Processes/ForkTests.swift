import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// Processes that fork while they have a store open: its locks belong to the open file, which parent and child share.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct ForkTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
    }

    @Test("parent and child each open a store of their own, commit, and lose nothing", arguments: 1...5)
    func bothCommit(round: Int) throws {
        let worker = try StoreWorkerProcess(path, ["fork", "2", "times=40"], name: "worker")
        #expect(worker.wait() == 0, "\(worker.errors)")
        #expect(worker.count("f") == 5 && worker.count("C") == 1)
        let store = try Store.open(path: path)
        try store.checkInvariants()
        let view = try store.snapshot().view
        func value(_ row: Int64) throws -> Int64? {
            try view.integer(try #require(try view.locate(0, RowKey(row))), 0)
        }
        #expect(try value(1) == 40 && value(2) == 40 && value(0) == 80)
        try store.close()
    }

    @Test("an idle child keeps no process out when its parent is killed") func idleChild() throws {
        let worker = try StoreWorkerProcess(path, ["fork-idle", "2"], name: "worker")
        try worker.waitFor("f")
        worker.end(SIGKILL)
        defer { close(open(path + ".stop", O_CREAT | O_WRONLY, 0o644)) }
        var options = StoreOptions()
        options.openTimeout = 0
        options.writeTimeout = 1_000_000
        let store = try Store.open(path: path, options: options)
        try store.beginWrite().rollback()
        try store.checkInvariants()
        try store.close()
    }

    @Test("a forked child that releases its copy of a pin does not end the parent's pin") func pinOfTheParent() throws {
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 30
        let owner = try Store.open(path: path, options: options)
        let first = try StoreWorkerProcess(path, ["once", "1"], name: "first")
        #expect(first.wait() == 0, "\(first.errors)")
        let worker = try StoreWorkerProcess(path, ["fork-pin"], name: "worker")
        try worker.waitFor("e")
        #expect(owner.processes?.pins.foreign == [owner.newestVersion.rawValue], "the child has ended the pin")
        close(open(path + ".go", O_CREAT | O_WRONLY, 0o644))
        try worker.waitFor("p")
        for value in 1...40 as ClosedRange<Int64> {
            let transaction = try owner.beginWrite()
            try transaction.set(0, RowKey(1), column: 0, to: .integer(value))
            try transaction.set(0, RowKey(0), column: 0, to: .integer(value))
            try transaction.commit()
        }
        close(open(path + ".stop", O_CREAT | O_WRONLY, 0o644))
        #expect(worker.wait() == 0, "\(worker.errors)")
        try owner.close()
    }
}
