import Platform
import StrataFiles
import Testing

@testable import StrataStorage

@Suite struct MapDamageTests {
    private static func make(_ directory: TemporaryDirectory, rows: Int = 4000) throws -> String {
        let path = directory.path + "/store"
        let store = try Store.open(path: path)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: StoreHistory.schema)
        for key in 0..<rows {
            try StoreHistory.withCells([.integer(Int64(key)), .null]) {
                try transaction.insert(StoreHistory.dogs, key: RowKey(Int64(key)), $0)
            }
        }
        try transaction.commit()
        try store.close()
        return path
    }

    /// Opens the store, truncates its file from outside, and reads everything.
    static func readCut(_ path: String, to size: Int) throws {
        let store = try Store.open(path: path)
        let view = try store.snapshot().view
        #expect(truncate(path, size) == 0)
        var found: StorageError?
        do throws(StorageError) {
            for key in 0..<4000 {
                guard let row = try view.locate(StoreHistory.dogs, RowKey(Int64(key))) else { continue }
                #expect(try view.integer(row, 0) == Int64(key))
            }
            _ = try view.sum(StoreHistory.dogs, 0)
            try view.scan(StoreHistory.dogs, columns: [0, 1]) { (batch) throws(StorageError) in batch.count > 0 }
        } catch {
            found = error
        }
        guard case .corrupt(_, _, let reason) = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(reason == .unreadable || reason == .checksum)
        if CoverageMarks.areCounted && reason == .unreadable { #expect(CoverageMarks.hits[.lostPage] != nil) }
        // From now on pinning a version fails at once.
        let cut = StorageError.corrupt(
            page: PageNumber(UInt32(size / 4096)), offset: size % 4096, reason: .fileTooShort)
        #expect(throws: cut) { try store.snapshot() }
        #expect(throws: cut) { try store.beginWrite() }
        if CoverageMarks.areCounted { #expect(CoverageMarks.hits[.cutWhileOpen] != nil) }
    }

    @Test("a file that is truncated while open is an error, not a signal", arguments: [0, 8192, 12288 + 100])
    func cut(size: Int) throws {
        let directory = try TemporaryDirectory()
        try withExtendedLifetime(directory) { try Self.readCut(try Self.make(directory), to: size) }
    }

    @Test("a process that reads a truncated file ends by itself") func cutInChild() async throws {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            try withExtendedLifetime(directory) { try Self.readCut(try Self.make(directory), to: 8192) }
        }
    }

    @Test("a bus error outside the maps of stores ends the process") func foreignSignal() async {
        await #expect(processExitsWith: .signal(SIGBUS)) {
            let directory = try TemporaryDirectory()
            let store = try Store.open(path: directory.path + "/store")
            let path = directory.path + "/other"
            let descriptor = open(path, O_RDWR | O_CREAT, 0o644)
            _ = ftruncate(descriptor, 4096)
            let base = try #require(mmap(nil, 8192, PROT_READ, MAP_SHARED, descriptor, 0))
            print(base.load(fromByteOffset: 5000, as: UInt8.self), store.path)
        }
    }

    @Test("an earlier signal handler receives all other bus errors") func previousHandler() async {
        await #expect(processExitsWith: .exitCode(42)) {
            signal(SIGBUS) { _ in _exit(42) }
            let directory = try TemporaryDirectory()
            let store = try Store.open(path: directory.path + "/store")
            let descriptor = open(directory.path + "/other", O_RDWR | O_CREAT, 0o644)
            _ = ftruncate(descriptor, 4096)
            let base = try #require(mmap(nil, 8192, PROT_READ, MAP_SHARED, descriptor, 0))
            print(base.load(fromByteOffset: 5000, as: UInt8.self), store.path)
        }
    }

    /// The process once went on without a handler, and the next page that it could not read ended it.
    @Test("a bus error that a process sends ends the process at once") func sentSignal() async {
        await #expect(processExitsWith: .signal(SIGBUS)) {
            let directory = try TemporaryDirectory()
            let store = try Store.open(path: directory.path + "/store")
            raise(SIGBUS)
            print(store.path)
        }
    }

    @Test("a process that ignores bus errors ignores a sent one, and still reads a truncated file")
    func ignoredSignal() async {
        await #expect(processExitsWith: .success) {
            signal(SIGBUS, SIG_IGN)
            let directory = try TemporaryDirectory()
            try withExtendedLifetime(directory) {
                let path = try Self.make(directory)
                raise(SIGBUS)
                try Self.readCut(path, to: 8192)
            }
        }
    }

    @Test("maps are unregistered when they end") func manyMaps() throws {
        let directory = try TemporaryDirectory()
        let path = try Self.make(directory)
        // More at once than a block of the registry holds.
        var stores: [Store] = []
        var options = StoreOptions(readOnly: true)
        options.mapReserve = 1 << 20
        for _ in 0..<600 { stores.append(try Store.open(path: path, options: options)) }
        for store in stores { #expect(try store.snapshot().view.rowCount(StoreHistory.dogs) == 4000) }
        stores = []
        try withExtendedLifetime(directory) { try Self.readCut(path, to: 8192) }
    }
}
