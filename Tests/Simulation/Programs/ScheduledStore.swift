import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Synchronization

@testable import StrataStorage

/// The operation of a thread in a schedule.
enum ScheduledOperation: Sendable, CustomStringConvertible {
    /// Reads a counter, adds one, commits.
    case increment
    /// Increments in a transaction so large that it bypasses the log.
    case incrementLarge
    /// Pins the visible version and reads it. Until the pin is released, at the latest when the thread ends, the
    /// version is read again whenever free pages have been overwritten.
    case pin
    /// Releases the thread's oldest pin.
    case unpin
    /// Releases the pin with the lowest number, which another thread of the process may have taken.
    case unpinAny
    /// Changes the counter and rolls back.
    case rollBack
    case close

    var description: String {
        switch self {
        case .increment: "increment"
        case .incrementLarge: "large"
        case .pin: "pin"
        case .unpin: "unpin"
        case .unpinAny: "unpin any"
        case .rollBack: "rollback"
        case .close: "close"
        }
    }
}

/// Runs a few threads over a tiny store under one schedule.
///
/// The run checks that every increment is in the store at the end and after a reopening; that the store notifies
/// observers of versions in order; that a snapshot has every acknowledged commit, and everything that an earlier
/// snapshot had; that under full durability these survive a power loss at that moment; that a pinned version does not
/// change, although the run fills free pages with a pattern at once; that the store keeps no pin after its threads have
/// ended, and keeps its invariants.
final class ScheduledStore: Sendable {
    struct Wrong: Error, CustomStringConvertible {
        var description: String
    }

    private static let path = "folder/database"
    private static let pattern: UInt8 = 0xDB
    private static let filler = 24

    private let scheduling: DeterministicScheduling
    private let disk: SimulatedDisk
    private let durability: Durability
    /// The scheduler's baton guards all state here; the mutexes only satisfy the compiler.
    private let acknowledged = Mutex(0)
    /// The highest count that a thread has committed or read.
    private let known = Mutex<Int64>(0)
    private let heard = Mutex<[UInt64]>([])
    private let patterned = Mutex<Set<Int>>([])
    private let pins = Mutex<[Int: PinnedVersion]>([:])
    private let failure = Mutex<String?>(nil)

    private struct PinnedVersion: Sendable {
        var snapshot: Snapshot
        var digest: UInt64
    }

    init(_ chooser: any ScheduleChoosing, durability: Durability = .full) {
        let scheduling = DeterministicScheduling(chooser)
        var settings = SimulatedDisk.Settings(seed: Seed(7))
        settings.beforeOperation = { kind in
            // Reads change nothing, and no thread waits for them.
            if kind.isRecorded { scheduling.yield(at: "disk") }
        }
        self.scheduling = scheduling
        self.durability = durability
        disk = SimulatedDisk(settings)
    }

    private func options(_ disk: SimulatedDisk, _ scheduling: any Scheduling) -> StoreOptions {
        var options = StoreOptions(fileSystem: disk, scheduling: scheduling, durability: durability)
        options.limits = .tiny
        options.logHalfBytes = 4 << 10
        options.mapReserve = 4 << 20
        options.periodicBytes = 1 << 10
        options.checkpointBytes = 16 << 10
        return options
    }

    /// - Throws: ``Wrong``, and errors of the store.
    func run(_ threads: [[ScheduledOperation]]) throws {
        try scheduling.run { [self] in
            nonisolated(unsafe) var store: Store?
            scheduling.atomically { store = try? prepare() }
            guard let store else { throw Wrong(description: "the store cannot be made") }
            let token = store.addObserver { [self] notice in heard.withLock { $0.append(notice.version.rawValue) } }
            let first = store.newestVersion.rawValue
            scheduling.atEveryPoint = { [self] in
                do { try check(store) } catch { failure.withLock { $0 = $0 ?? "\(error)" } }
            }
            try scheduling.together(
                threads.enumerated().map { number, operations in
                    ("thread \(number)", { [self] in try perform(operations, number, store) })
                })
            token.cancel()
            try finish(store, first: first)
            scheduling.atEveryPoint = nil
        }
    }

    /// A store with a log and some rows; the schedule starts afterwards.
    private func prepare() throws -> Store {
        let store = try Store.open(path: Self.path, options: options(disk, scheduling))
        try Self.prepare(store)
        return store
    }

    /// Inserts the row of the counter, and some others.
    static func prepare(_ store: Store) throws {
        let columns = [
            ColumnDefinition(id: ColumnID(1), name: "count", type: .integer, index: .ordered),
            ColumnDefinition(id: ColumnID(2), name: "text", type: .bytes),
        ]
        let schema = StoreSchema(tables: [TableDefinition(id: TableID(1), name: "rows", columns: columns)])
        for round in 0..<3 {
            let transaction = try store.beginWrite()
            if round == 0 {
                try transaction.apply(schema: schema)
                try insert(transaction, 0, 0, [])
            } else {
                for key in 0..<3 { try insert(transaction, Int64(10 * round + key), 5, [1, 2, 3]) }
            }
            try transaction.commit()
        }
    }

    private static func insert(_ transaction: WriteTransaction, _ key: Int64, _ count: Int64, _ text: [UInt8]) throws {
        try text.withUnsafeBytes { text in
            let cells: [Cell] = [.integer(count), .bytes(text)]
            try cells.withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(key), $0) }
        }
    }

    // MARK: Threads

    private func perform(_ operations: [ScheduledOperation], _ thread: Int, _ store: Store) throws {
        var pinned: [Int] = []
        for (number, operation) in operations.enumerated() {
            let id = thread * 100 + number
            switch operation {
            case .increment, .incrementLarge, .rollBack: try change(store, operation, id)
            case .pin:
                let least = known.withLock { $0 }
                guard let snapshot = try unlessClosed({ try store.snapshot() }) else { continue }
                let digest = try StoreProgram.digest(snapshot.view)
                let count = try Self.counter(snapshot.view)
                if count < least { throw Wrong(description: "a snapshot has \(count), a thread saw \(least) before") }
                known.withLock { $0 = max($0, count) }
                expectKept(count)
                pins.withLock { $0[id] = PinnedVersion(snapshot: snapshot, digest: digest) }
                pinned.append(id)
            case .unpin: if !pinned.isEmpty { unpin(pinned.removeFirst()) }
            case .unpinAny: if let any = pins.withLock({ $0.keys.min() }) { unpin(any) }
            case .close:
                try store.close()
                if try unlessClosed({ try store.snapshot() }) != nil {
                    throw Wrong(description: "a closed store returns a snapshot")
                }
            }
        }
        for id in pinned { unpin(id) }
    }

    private func unpin(_ id: Int) {
        // Released outside the mutex, since its release unpins at a point of the schedule.
        let snapshot = pins.withLock { $0.removeValue(forKey: id) }
        _ = snapshot
    }

    /// nil if the store is already closed, in a history with a close.
    private func unlessClosed<Value>(_ body: () throws -> Value) throws -> Value? {
        do { return try body() } catch let error as StorageError {
            if case .closed = error { return nil }
            throw error
        }
    }

    private func change(_ store: Store, _ operation: ScheduledOperation, _ id: Int) throws {
        guard let transaction = try unlessClosed({ try store.beginWrite() }) else { return }
        guard let row = try transaction.view.locate(0, RowKey(0)) else { throw Wrong(description: "no counter") }
        let count = try transaction.view.integer(row, 0) ?? -1
        try transaction.set(0, RowKey(0), column: 0, to: .integer(count + 1))
        if case .incrementLarge = operation {
            try Self.insert(transaction, Int64(1000 + id), 0, [UInt8](repeating: 3, count: 5000))
        }
        if case .rollBack = operation {
            transaction.rollback()
            // The transaction has read its base version, so that version must survive a loss of power.
            expectKept(count)
            return
        }
        let version = try transaction.commit()
        if store.newestVersion < version { throw Wrong(description: "\(version) is acknowledged and not visible") }
        acknowledged.withLock { $0 += 1 }
        known.withLock { $0 = max($0, count + 1) }
        expectKept(count + 1)
    }

    /// Under full durability: checks that acknowledged and seen increments survive a loss of power now.
    private func expectKept(_ count: Int64) {
        if durability != .full { return }
        scheduling.atomically { [self] in
            if let wrong = lossOfPower(count: count) { failure.withLock { $0 = $0 ?? wrong } }
        }
    }

    /// Checks that a loss of all un-synced work leaves at least this many increments.
    private func lossOfPower(count: Int64) -> String? {
        do {
            let left = disk.crash(StateMask())
            let store = try Store.open(path: Self.path, options: options(left, CooperativeScheduling(Seed(1))))
            let found = try counter(store)
            return found < count ? "\(count) increments were seen, a loss of power leaves \(found)" : nil
        } catch {
            return "after a loss of power: \(error)"
        }
    }

    private func counter(_ store: Store) throws -> Int64 { try Self.counter(store.snapshot().view) }

    static func counter(_ view: ReadView) throws -> Int64 {
        guard let row = try view.locate(0, RowKey(0)) else { throw Wrong(description: "no counter") }
        return try view.integer(row, 0) ?? -1
    }

    // MARK: Checks

    /// Called at every point while no lock is held: fills pages that have become free with a pattern, and if there were
    /// any, reads every pinned version.
    private func check(_ store: Store) throws {
        if failure.withLock({ $0 != nil }) { return }
        if try !fillFreePages(store) { return }
        for (_, pin) in pins.withLock({ $0 }) where try StoreProgram.digest(pin.snapshot.view) != pin.digest {
            throw Wrong(description: "the pinned version \(pin.snapshot.version) changed")
        }
    }

    /// - Returns: whether any page was filled.
    private func fillFreePages(_ store: Store) throws -> Bool {
        let free = try store.allocator.snapshotForCheck().free
        var fresh: [Int] = []
        patterned.withLock { patterned in
            for page in free.indices {
                if !free[page] {
                    patterned.remove(page)
                } else if patterned.insert(page).inserted {
                    fresh.append(page)
                }
            }
        }
        if fresh.isEmpty { return false }
        let bytes = [UInt8](repeating: Self.pattern, count: Format.pageSize)
        let file = try disk.open(Self.path, .write)
        for page in fresh {
            try file.put(bytes, at: Int64(page * Format.pageSize))
            // A reader that still uses the page has to verify it again.
            store.pages.tags[page].store(0, ordering: .relaxed)
        }
        return true
    }

    private func finish(_ store: Store, first: UInt64) throws {
        if let wrong = failure.withLock({ $0 }) { throw Wrong(description: wrong) }
        let count = Int64(acknowledged.withLock { $0 })
        let versions = heard.withLock { $0 }
        if versions != (0..<UInt64(versions.count)).map({ first + 1 + $0 }) {
            throw Wrong(description: "observers heard of \(versions) after \(first)")
        }
        if try unlessClosed({ try counter(store) }) ?? count != count {
            throw Wrong(description: "an increment is lost")
        }
        if try unlessClosed({ try store.snapshot() }) != nil {
            // Every thread has released its pins.
            if store.activeVersions != 1 { throw Wrong(description: "the store keeps a version without a pin") }
            try store.checkInvariants()
            try store.close()
        }
        let left = disk.kill()
        let again = try Store.open(path: Self.path, options: options(left, CooperativeScheduling(Seed(2))))
        try again.checkInvariants()
        if try counter(again) != count { throw Wrong(description: "an increment is lost after a reopening") }
        try again.close()
        if let wrong = failure.withLock({ $0 }) { throw Wrong(description: wrong) }
    }
}
