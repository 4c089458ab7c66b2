import StrataFiles
import Synchronization
import Testing

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

/// Two processes that found the same damaged store once both salvaged it. The second process replaced the store that
/// the first one had made, and with it lost the commits that had been made in the new store.
@Suite struct ConcurrentRecoveryTests {
    /// A file system that calls a function of the test once, before the call that the test names.
    private final class WatchedDisk: FileSystemLayer {
        enum Step: Hashable {
            case open(String)
            case remove(String)
        }

        let base: FileImages.Disk
        private let waiting = Mutex<[Step: @Sendable () -> Void]>([:])

        init(_ base: FileImages.Disk) { self.base = base }

        func before(_ step: Step, _ body: @escaping @Sendable () -> Void) { waiting.withLock { $0[step] = body } }

        private func reach(_ step: Step) { waiting.withLock { $0.removeValue(forKey: step) }?() }

        func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
            reach(.open(path))
            return try base.open(path, mode)
        }

        func remove(_ path: String) throws(FileError) {
            reach(.remove(path))
            try base.remove(path)
        }
    }

    private static let path = FileImages.path
    private static let lostLog = StorageError.logMissing(path: FileImages.path + ".log")

    /// Makes a store that lacks its log, or that has the log of another store in the place of its own.
    private func damaged(hasLog: Bool) throws -> WatchedDisk {
        var image = try FileImages.withLog(seed: 4, steps: 60, commits: 8)
        image.log = hasLog ? try FileImages.withLog(seed: 5, steps: 60, commits: 8).log : nil
        return WatchedDisk(try FileImages.Disk(image))
    }

    /// The file at the store's path, as a process finds it.
    private static func file(_ disk: WatchedDisk) throws -> FileStatus { try #require(try disk.status(path)) }

    private static func mend(
        _ disk: WatchedDisk, _ policy: DamagePolicy, of file: FileStatus
    ) throws(StorageError) -> DamageReport? {
        try Repair.mend(path: path, options: FileImages.options(on: disk), policy: policy, of: file, because: lostLog)
    }

    /// Opens the store, commits a row, and closes the store.
    private static func write(_ disk: WatchedDisk, key: Int64) throws {
        let store = try Store.open(path: path, options: FileImages.options(on: disk))
        let transaction = try store.beginWrite()
        if transaction.view.schema.tables.isEmpty { try transaction.apply(schema: StoreHistory.schema) }
        try StoreHistory.withCells([.integer(7), .null]) {
            try transaction.insert(StoreHistory.dogs, key: RowKey(key), $0)
        }
        try transaction.commit()
        try store.close()
    }

    private static func has(_ key: Int64, _ disk: WatchedDisk) throws -> Bool {
        let store = try Store.open(path: path, options: FileImages.options(on: disk))
        defer { try? store.close() }
        let view = try store.snapshot().view
        // A store that `.startAfresh` has made has no tables.
        return try !view.schema.tables.isEmpty && view.locate(StoreHistory.dogs, RowKey(key)) != nil
    }

    private static let key: Int64 = 1 << 40
    private static let policies: [DamagePolicy] = [.lastGoodVersion, .salvage, .startAfresh]

    @Test("a second recovery is refused while the first one makes the new store", arguments: policies)
    func meanwhile(policy: DamagePolicy) throws {
        let disk = try damaged(hasLog: false)
        let file = try Self.file(disk)
        let refusal = Mutex<StorageError?>(nil)
        let unfinished = Self.path + (policy == .salvage ? ".mending.salvaging" : ".mending")
        disk.before(.open(unfinished)) {
            do {
                _ = try Self.mend(disk, policy, of: file)
                // If the second recovery succeeds, the first one must not replace this commit.
                try Self.write(disk, key: Self.key)
            } catch {
                refusal.withLock { $0 = error as? StorageError }
            }
        }
        let report = try #require(try Self.mend(disk, policy, of: file))
        let refused = refusal.withLock { $0 }
        #expect(refused == .inUse(path: Self.path))
        #expect(try Self.has(Self.key, disk) == (refused == nil))
        #expect(report.keptPath == Self.path + ".damaged-1")
        #expect(try disk.status(Self.path + ".damaged-2") == nil)
        #expect(try disk.status(Self.path + ".mending") == nil)
    }

    @Test("a recovery does not replace a store that another recovery has already repaired", arguments: policies)
    func afterwards(policy: DamagePolicy) throws {
        let disk = try damaged(hasLog: false)
        let file = try Self.file(disk)
        #expect(try Self.mend(disk, .salvage, of: file) != nil)
        try Self.write(disk, key: Self.key)
        #expect(try Self.mend(disk, policy, of: file) == nil)
        #expect(try Self.has(Self.key, disk))
        #expect(try disk.status(Self.path + ".damaged-2") == nil)
    }

    /// A waiting process opens the new store as soon as the recovery has renamed it to the store's path.
    @Test("an open is refused until the recovery has removed the log of the damaged store", arguments: policies)
    func logOfTheDamaged(policy: DamagePolicy) throws {
        let disk = try damaged(hasLog: true)
        let file = try Self.file(disk)
        let refusal = Mutex<StorageError?>(nil)
        disk.before(.remove(Self.path + ".log")) {
            do { try Self.write(disk, key: Self.key) } catch { refusal.withLock { $0 = error as? StorageError } }
        }
        #expect(try Self.mend(disk, policy, of: file) != nil)
        #expect(refusal.withLock { $0 } == .inUse(path: Self.path))
        try Self.write(disk, key: Self.key)
        #expect(try Self.has(Self.key, disk))
    }

    @Test("an open that finds damage which another process repairs meanwhile opens the new store", arguments: policies)
    func openMeanwhile(policy: DamagePolicy) throws {
        let disk = try damaged(hasLog: false)
        let file = try Self.file(disk)
        let failure = Mutex<(any Error)?>(nil)
        // At the first call the open finds the damage; at the second call its recovery is about to take the lock.
        disk.before(.open(Self.path)) {
            disk.before(.open(Self.path)) {
                do {
                    _ = try Self.mend(disk, .salvage, of: file)
                    try Self.write(disk, key: Self.key)
                } catch {
                    failure.withLock { $0 = error }
                }
            }
        }
        let reports = Mutex(0)
        let store = try Repair.open(path: Self.path, options: FileImages.options(on: disk), onDamage: policy) { _ in
            reports.withLock { $0 += 1 }
        }
        try store.close()
        #expect(failure.withLock { $0 } == nil)
        #expect(reports.withLock { $0 } == 0)
        #expect(try Self.has(Self.key, disk))
    }
}
