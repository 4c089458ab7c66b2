import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// The platform's files on a disk that can be full, for a process that can be out of descriptors.
private final class ScarceFileSystem: FileSystemLayer {
    enum Scarcity: CaseIterable, Sendable { case space, descriptors }

    let base = POSIXFileSystem()
    let lacks = Mutex<Scarcity?>(nil)

    fileprivate var lacksSpace: Bool { lacks.withLock { $0 } == .space }

    private func checkDescriptors(_ path: String) throws(FileError) {
        if lacks.withLock({ $0 }) == .descriptors { throw FileError(.open, path: path, errno: 24) }
    }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        try checkDescriptors(path)
        return ScarceFile(base: try base.open(path, mode), self)
    }

    func syncDirectory(of path: String) throws(FileError) {
        try checkDescriptors(path)
        try base.syncDirectory(of: path)
    }
}

private final class ScarceFile: FileLayer {
    let base: any File
    private let owner: ScarceFileSystem

    init(base: any File, _ owner: ScarceFileSystem) {
        self.base = base
        self.owner = owner
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        if owner.lacksSpace { throw FileError(.write, path: path, errno: 28) }
        try base.write(bytes, at: offset)
    }
    func preallocate(to size: Int64) throws(FileError) {
        if owner.lacksSpace { throw FileError(.preallocate, path: path, errno: 28) }
        try base.preallocate(to: size)
    }
}

/// Without a log, only the owner of writing has the commits since the last checkpoint. If it cannot make a checkpoint
/// it keeps ownership and reports an error. It once gave ownership away, and the next owner had lost the commits.
@Suite(.serialized, .enabled(if: POSIXFileSystem().isShared))
struct HandOverFailureTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let files = ScarceFileSystem()

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
    }

    private func open(_ durability: Durability = .none, cipher: Bool = false, scarce: Bool = false) throws -> Store {
        var options = StoreOptions(durability: durability)
        if scarce { options.fileSystem = files }
        if cipher { options.cipher = TestCipher(key: 7) }
        options.mapReserve = 1 << 28
        options.writeTimeout = 20_000_000
        return try Store.open(path: path, options: options)
    }

    /// The first store owns writing and has commits since the last checkpoint. Only this store runs out of space or
    /// descriptors.
    private func pair(cipher: Bool = false) throws -> (owner: Store, other: Store) {
        let made = try open(cipher: cipher)
        try PlainTable.setUp(made)
        try made.close()
        let owner = try open(cipher: cipher, scarce: true)
        let other = try open(cipher: cipher)
        try PlainTable.insert(owner, 0..<40)
        return (owner, other)
    }

    private func insertLong(_ store: Store, _ key: Int64) throws {
        let transaction = try store.beginWrite()
        defer { transaction.rollback() }
        try [UInt8](repeating: 66, count: 9000).withUnsafeBytes { text in
            try [Cell.integer(key), .bytes(text)].withUnsafeBufferPointer {
                try transaction.insert(0, key: RowKey(key), $0)
            }
        }
        try transaction.commit()
    }

    /// Whether an error names the resource that this process lacks, or that the owner of writing lacks.
    private func isNamed(_ error: any Error, _ scarcity: ScarceFileSystem.Scarcity) -> Bool {
        switch (scarcity, error as? StorageError) {
        case (.space, .noSpace): true
        case (.descriptors, .file(let file)): file.errno == 24
        case (.descriptors, .busy(let path)): path == self.path
        default: false
        }
    }

    private func finish(
        _ stores: Store..., durability: Durability = .none, cipher: Bool = false, keys: [Int64]
    ) throws {
        for store in stores {
            #expect(try store.snapshot().view.keys(0) == keys)
            try store.checkInvariants()
        }
        for store in stores { try store.close() }
        let store = try open(durability, cipher: cipher)
        #expect(try store.snapshot().view.keys(0) == keys)
        try store.checkInvariants()
        try store.close()
    }

    @Test(
        "a close beside others that cannot make a checkpoint leaves the store open, with its commits",
        arguments: ScarceFileSystem.Scarcity.allCases, [true, false])
    fileprivate func close(scarcity: ScarceFileSystem.Scarcity, isPinned: Bool) throws {
        let (owner, other) = try pair()
        let pinned = isPinned ? try owner.snapshot() : nil
        files.lacks.withLock { $0 = scarcity }
        do {
            try owner.close()
            Issue.record("the checkpoint succeeded unexpectedly")
        } catch {
            #expect(isNamed(error, scarcity), "\(error)")
        }
        #expect(try PlainTable.keys(other.snapshot().view) == Array(0..<40))
        files.lacks.withLock { $0 = nil }
        // Both stores stay open and can write.
        try PlainTable.insert(owner, [40])
        try PlainTable.insert(other, [41])
        try owner.close()
        #expect(throws: StorageError.closed) { _ = try owner.snapshot() }
        try PlainTable.insert(other, [42])
        try withExtendedLifetime(pinned) { try finish(other, keys: Array(0..<43)) }
    }

    @Test(
        "a process that needs ownership is told why it cannot have it, and gets it later",
        arguments: ScarceFileSystem.Scarcity.allCases, [true, false])
    fileprivate func claim(scarcity: ScarceFileSystem.Scarcity, cipher: Bool) throws {
        let (owner, other) = try pair(cipher: cipher)
        let refused = CoverageMarks.hits[.refusedOwnership] ?? 0
        for _ in 0..<3 {
            files.lacks.withLock { $0 = scarcity }
            do {
                // A long value has its own pages, so ownership is needed: inside the transaction, or before it if no
                // turn is lent.
                try insertLong(other, 50)
                Issue.record("it became the owner unexpectedly")
            } catch {
                #expect(isNamed(error, scarcity), "\(error)")
            }
            files.lacks.withLock { $0 = nil }
            #expect(try other.snapshot().view.keys(0) == Array(0..<40))
        }
        if CoverageMarks.areCounted { #expect((CoverageMarks.hits[.refusedOwnership] ?? 0) >= refused + 3) }
        try insertLong(other, 40)
        try PlainTable.insert(owner, [41])
        try finish(other, owner, cipher: cipher, keys: Array(0..<42))
    }

    @Test("an owner that cannot hand over writing still lends turns") func streak() throws {
        let (owner, other) = try pair()
        // Commits for guests use existing pages and need no descriptor; a checkpoint opens the directory.
        files.lacks.withLock { $0 = .descriptors }
        for key in 40..<140 as Range<Int64> { try PlainTable.insert(other, [key]) }
        #expect(owner.commits.withState { $0.isOwner })
        files.lacks.withLock { $0 = nil }
        try finish(owner, other, keys: Array(0..<140))
    }

    @Test(
        "a recovery beside others without room is an error, and is done once there is some",
        arguments: ScarceFileSystem.Scarcity.allCases, [true, false])
    fileprivate func recovery(scarcity: ScarceFileSystem.Scarcity, isPinned: Bool) throws {
        let made = try open(.full)
        try PlainTable.setUp(made)
        try made.close()
        var owner: Store? = try open(.full)
        let other = try open(.full, scarce: true)
        for round in 0..<6 as Range<Int64> {
            try PlainTable.insert(#require(owner), (round * 10)..<(round * 10 + 10))
        }
        let pinned = isPinned ? try other.snapshot() : nil
        files.lacks.withLock { $0 = scarcity }
        // The owner's store is released without a close, as by a process that dies.
        owner = nil
        for _ in 0..<3 {
            do {
                try PlainTable.insert(other, [60])
                Issue.record("there was room")
            } catch {
                #expect(isNamed(error, scarcity), "\(error)")
            }
            #expect(try PlainTable.keys(other.snapshot().view) == Array(0..<60))
        }
        let third = try open(.full)
        files.lacks.withLock { $0 = nil }
        try PlainTable.insert(other, [60])
        try PlainTable.insert(third, [61])
        if let pinned { #expect(try PlainTable.keys(pinned.view) == Array(0..<60)) }
        try withExtendedLifetime(pinned) { try finish(other, third, durability: .full, keys: Array(0..<62)) }
    }

    @Test("with a log ownership is handed over, since the next owner replays the log") func withLog() throws {
        let made = try open(.full)
        try PlainTable.setUp(made)
        try made.close()
        let owner = try open(.full, scarce: true)
        let other = try open(.full)
        for round in 0..<4 as Range<Int64> { try PlainTable.insert(owner, (round * 10)..<(round * 10 + 10)) }
        files.lacks.withLock { $0 = .space }
        try owner.close()
        try PlainTable.insert(other, [40])
        try other.close()
        let again = try open(.full)
        #expect(try PlainTable.keys(again.snapshot().view) == Array(0..<41))
        try again.checkInvariants()
        try again.close()
    }
}
