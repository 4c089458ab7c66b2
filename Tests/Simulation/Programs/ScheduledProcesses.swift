import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Synchronization

@testable import StrataStorage

/// Runs a few threads under one schedule. Several stores have one tiny database open, and each acts as a process.
///
/// The run checks that every increment is in the database at the end and after a reopening; that a snapshot has every
/// commit that any process acknowledged, and everything that an earlier snapshot of any process had; that at each point
/// of the schedule readers without the lock pin the newest published version, or none; that a pinned version does
/// not change, although the writer fills free pages with a pattern after each commit; that no process keeps a pin after
/// its threads have ended.
final class ScheduledProcesses: Sendable {
    /// The operations of a thread, all in one process.
    struct Thread: Sendable {
        var process: Int
        var operations: [ScheduledOperation]

        init(_ process: Int, _ operations: [ScheduledOperation]) {
            self.process = process
            self.operations = operations
        }
    }

    private typealias Wrong = ScheduledStore.Wrong

    private static let path = "folder/database"
    private static let pattern: UInt8 = 0xDB

    private let scheduling: DeterministicScheduling
    private let disk: SimulatedDisk
    private let shared: ScheduledTable
    /// The scheduler's baton guards all state here; the mutexes only satisfy the compiler.
    private let acknowledged = Mutex<Int64>(0)
    /// The highest count that a thread has committed or read.
    private let known = Mutex<Int64>(0)
    private let pins = Mutex<[Int: PinnedVersion]>([:])
    private let failure = Mutex<String?>(nil)

    init(_ chooser: any ScheduleChoosing) {
        let scheduling = DeterministicScheduling(chooser)
        var settings = SimulatedDisk.Settings(seed: Seed(7))
        settings.beforeOperation = { kind in if kind.isRecorded { scheduling.yield(at: "disk") } }
        self.scheduling = scheduling
        disk = SimulatedDisk(settings)
        shared = ScheduledTable(disk, scheduling)
    }

    private func open(_ fileSystem: any FileSystem, _ scheduling: any Scheduling) throws -> Store {
        var options = StoreOptions(fileSystem: fileSystem, scheduling: scheduling)
        options.limits = .tiny
        options.logHalfBytes = 4 << 10
        options.mapReserve = 4 << 20
        return try Store.open(path: Self.path, options: options)
    }

    /// - Throws: ``ScheduledStore/Wrong``, and errors of the stores.
    func run(_ threads: [Thread]) throws {
        try scheduling.run { [self] in
            nonisolated(unsafe) var stores: [Store] = []
            nonisolated(unsafe) var failure: (any Error)?
            scheduling.atomically {
                do {
                    let first = try open(shared, scheduling)
                    try ScheduledStore.prepare(first)
                    stores = [first]
                    for _ in threads.indices where stores.count <= threads.map(\.process).max() ?? 0 {
                        stores.append(try open(shared, scheduling))
                    }
                } catch { failure = error }
            }
            if let failure { throw failure }
            let all = stores
            scheduling.atAnyPoint = { [self] in all.forEach(checkWhatReadersPin) }
            try scheduling.together(
                threads.enumerated().map { number, thread in
                    ("thread \(number)", { [self] in try perform(thread, number, all) })
                })
            try finish(all)
            scheduling.atAnyPoint = nil
            stores = []
            if let wrong = self.failure.withLock({ $0 }) { throw Wrong(description: wrong) }
        }
    }

    // MARK: Threads

    private struct PinnedVersion: Sendable {
        var process: Int
        var snapshot: Snapshot
        var digest: UInt64
    }

    private func perform(_ thread: Thread, _ number: Int, _ all: [Store]) throws {
        let store = all[thread.process]
        var pinned: [Int] = []
        for (step, operation) in thread.operations.enumerated() {
            switch operation {
            case .increment, .incrementLarge, .rollBack: try change(store, operation, all)
            case .pin:
                let least = known.withLock { $0 }
                let snapshot = try store.snapshot()
                let digest = try StoreProgram.digest(snapshot.view)
                let id = number * 100 + step
                pins.withLock {
                    $0[id] = PinnedVersion(process: thread.process, snapshot: snapshot, digest: digest)
                }
                pinned.append(id)
                try expect(try ScheduledStore.counter(snapshot.view), atLeast: least)
            case .unpin: if !pinned.isEmpty { try unpin(pinned.removeFirst()) }
            case .unpinAny:
                let ofProcess = pins.withLock { all in all.filter { $0.value.process == thread.process }.keys.min() }
                if let id = ofProcess { try unpin(id) }
            case .close:
                try store.close()
                do {
                    _ = try store.snapshot()
                    throw Wrong(description: "a closed store returns a snapshot")
                } catch StorageError.closed {}
            }
            for id in pinned {
                if let pin = pins.withLock({ $0[id] }) { try Self.check(pin) }
            }
        }
        for id in pinned { try unpin(id) }
    }

    /// Checks and releases a pin, unless another thread has released it.
    private func unpin(_ id: Int) throws {
        // Released outside the mutex, since its release unpins at a point of the schedule.
        if let pin = pins.withLock({ $0.removeValue(forKey: id) }) { try Self.check(pin) }
    }

    private static func check(_ pin: PinnedVersion) throws {
        if try StoreProgram.digest(pin.snapshot.view) != pin.digest {
            throw Wrong(description: "the pinned version \(pin.snapshot.version) changed")
        }
    }

    private func expect(_ count: Int64, atLeast least: Int64) throws {
        if count < least { throw Wrong(description: "a snapshot has \(count) increments, a thread saw \(least)") }
        known.withLock { $0 = max($0, count) }
    }

    private func change(_ store: Store, _ operation: ScheduledOperation, _ all: [Store]) throws {
        let least = known.withLock { $0 }
        let transaction = try store.beginWrite()
        let count = try ScheduledStore.counter(transaction.view)
        if count < least { throw Wrong(description: "a transaction has \(count) increments, a thread saw \(least)") }
        try transaction.set(0, RowKey(0), column: 0, to: .integer(count + 1))
        if operation == .rollBack { return transaction.rollback() }
        let isLarge = operation == .incrementLarge
        // A guest cannot write a long value: its process becomes the owner.
        let text = [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: isLarge ? 5_000 : 20)
        try text.withUnsafeBytes { try transaction.set(0, RowKey(0), column: 1, to: .bytes($0)) }
        try transaction.commit()
        acknowledged.withLock { $0 += 1 }
        known.withLock { $0 = max($0, count + 1) }
        for each in all { try fillFreePages(of: each, all) }
    }

    /// Fills the free pages with the pattern, if the store's process owns writing.
    private func fillFreePages(of store: Store, _ all: [Store]) throws {
        try store.gate.whileHeld { _ in
            guard store.commits.withState({ $0.isOwner && !$0.isClosed }) else { return }
            var failure: (any Error)?
            scheduling.atomically {
                do {
                    let free = try store.allocator.snapshotForCheck().free
                    let bytes = [UInt8](repeating: Self.pattern, count: Format.pageSize)
                    let file = try disk.open(Self.path, .write)
                    for page in free.indices where free[page] {
                        try file.put(bytes, at: Int64(page * Format.pageSize))
                        // A reader that still uses the page has to verify it again.
                        for each in all { each.pages.tags[page].store(0, ordering: .relaxed) }
                    }
                } catch { failure = error }
            }
            if let failure { throw failure }
        }
    }

    /// Pins as a reader does, and compares the pinned publication with the newest one. The check takes no lock,
    /// because another thread may hold it.
    private func checkWhatReadersPin(_ store: Store) {
        let pin: ReaderPin
        switch store.commits.readers.pin() {
        case .none: return
        case .outdated(let found): pin = found
        case .pinned(let found, _):
            pin = found
            if pin.withVersion({ $0.publication }) != store.processes?.versions.publication {
                let version = pin.withVersion { $0.state.version }
                failure.withLock { $0 = $0 ?? "a reader pins version \(version) after a newer one was published" }
            }
        }
        _ = store.commits.readers.release(pin)
    }

    // MARK: The end

    private func finish(_ stores: [Store]) throws {
        let count = acknowledged.withLock { $0 }
        for (number, store) in stores.enumerated() where store.isOpen {
            if try ScheduledStore.counter(store.snapshot().view) != count {
                throw Wrong(description: "the newest version of process \(number) lacks an increment")
            }
        }
        for (number, store) in stores.enumerated() where store.isOpen {
            // Every thread has released its pins.
            if store.activeVersions != 1 { throw Wrong(description: "process \(number) keeps a version without a pin") }
        }
        for store in stores { try store.close() }
        let again = try open(disk.kill(), CooperativeScheduling(Seed(2)))
        try again.checkInvariants()
        if try ScheduledStore.counter(again.snapshot().view) != count {
            throw Wrong(description: "the reopened store lacks an increment")
        }
        try again.close()
    }
}
