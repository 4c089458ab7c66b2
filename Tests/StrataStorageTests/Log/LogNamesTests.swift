import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// A log renamed under a writer once lost 171 acknowledged commits at the next kill, since recovery opens the log by
/// name.
@Suite struct LogNamesTests {
    enum Change: CaseIterable { case renamed, removed, replacedByCopy, replacedByOther, link, directory }

    private static func apply(_ change: Change, _ log: String) throws {
        switch change {
        case .renamed: #expect(rename(log, log + ".elsewhere") == 0)
        case .removed: #expect(unlink(log) == 0)
        case .replacedByCopy:
            let bytes = try contents(log)
            try put(bytes, log + ".new")
            #expect(rename(log + ".new", log) == 0)
        case .replacedByOther: try put([1, 2, 3], log)
        case .link:
            #expect(rename(log, log + ".elsewhere") == 0)
            #expect(symlink(log + ".elsewhere", log) == 0)
        case .directory:
            #expect(unlink(log) == 0)
            #expect(mkdir(log, 0o755) == 0)
        }
    }

    private static func contents(_ path: String) throws -> [UInt8] {
        let file = try POSIXFileSystem().open(path, .read)
        defer { file.close() }
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes
    }

    private static func put(_ bytes: [UInt8], _ path: String) throws {
        unlink(path)
        let file = try POSIXFileSystem().open(path, .createNew)
        defer { file.close() }
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }

    @Test(
        "commits before and after a change of the log's name survive a kill",
        arguments: Change.allCases, [Durability.full, .periodic])
    func commits(change: Change, durability: Durability) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        var options = StoreOptions(durability: durability)
        options.mapReserve = 1 << 30
        // Each commit is synced.
        options.periodicBytes = 1
        do {
            let store = try Store.open(path: path, options: options)
            try PlainTable.setUp(store)
            for row in 0..<20 as Range<Int64> { try PlainTable.insert(store, [row]) }
            try Self.apply(change, path + ".log")
            for row in 20..<40 as Range<Int64> { try PlainTable.insert(store, [row]) }
            // Released without a close, as by a dying process.
        }
        let store = try Store.open(path: path, options: options)
        #expect(try PlainTable.keys(store.snapshot().view) == Array(0..<40))
        try store.checkInvariants()
        try store.close()
        for name in [".log.elsewhere", ".log.replaced"] {
            unlink(path + name)
            rmdir(path + name)
        }
    }

    @Test("after renaming the data file with its log, nothing is written under the old name") func movedTogether()
        throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let moved = directory.path + "/moved"
        var options = StoreOptions()
        options.mapReserve = 1 << 30
        do {
            let store = try Store.open(path: path, options: options)
            try PlainTable.setUp(store)
            for row in 0..<20 as Range<Int64> { try PlainTable.insert(store, [row]) }
            let transaction = try store.beginWrite()
            try PlainTable.insert(transaction, 20)
            for suffix in ["", ".log"] { #expect(rename(path + suffix, moved + suffix) == 0) }
            #expect(throws: StorageError.self) { try transaction.commit() }
        }
        #expect(try POSIXFileSystem().status(path + ".log") == nil)
        let store = try Store.open(path: moved, options: options)
        #expect(try PlainTable.keys(store.snapshot().view).starts(with: 0..<20))
        try store.close()
        unlink(path + ".lock")
    }

    @Test(
        "a rewritten log is moved aside if another file takes the data file's name: a backup opens",
        arguments: [false, true])
    func replacedLater(isClosed: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        var options = StoreOptions()
        options.mapReserve = 1 << 30
        do {
            let store = try Store.open(path: path, options: options)
            try PlainTable.setUp(store)
            try PlainTable.insert(store, [0])
            try store.close()
        }
        let backup = try Self.contents(path)
        do {
            let store = try Store.open(path: path, options: options)
            for row in 1..<20 as Range<Int64> { try PlainTable.insert(store, [row]) }
            #expect(rename(path + ".log", path + ".log.elsewhere") == 0)
            try PlainTable.insert(store, [20])
            #expect(rename(path, path + ".elsewhere") == 0)
            try Self.put(backup, path)
            if isClosed {
                #expect(throws: StorageError.self) { try store.close() }
            } else {
                #expect(throws: StorageError.self) { try PlainTable.insert(store, [21]) }
            }
        }
        #expect(try POSIXFileSystem().status(path + ".log") == nil)
        #expect(try POSIXFileSystem().status(path + ".log.replaced") != nil)
        let store = try Store.open(path: path, options: options)
        #expect(try PlainTable.keys(store.snapshot().view) == [0])
        try store.close()
        for name in [".log.elsewhere", ".log.replaced", ".elsewhere"] { unlink(path + name) }
    }
}
