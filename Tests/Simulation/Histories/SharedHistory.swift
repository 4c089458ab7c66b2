import FaultModel
import Foundation
import Seeds
import SimulatedDisk
import StrataFiles
import StrataStorage
import Synchronization

/// A history of four stores on one simulated disk, each acting as a process: they take turns as owner and guest, hand
/// over writing, and close one by one.
///
/// Each transaction adds 1 to a row of its process and to row 0, which gives the total order: the state after any
/// number of transactions is known. Each process also reads: its snapshot must contain every transaction that any
/// process acknowledged or read before, and a version must not change while the process pins it. Threads run freely, so
/// a seed repeats what each does, not when.
final class SharedHistory: Sendable {
    struct Wrong: Error, CustomStringConvertible {
        var description: String
    }

    /// A transaction, with the numbers of requested operations when its commit began and returned.
    struct Made: Sendable {
        var process: Int
        var begun: Int
        var acknowledged: Int?
    }

    static let processes = 4
    private static let path = "folder/database"
    private let seed: Seed
    let durability: Durability
    private let isCompacting: Bool
    let disk: SimulatedDisk
    private let shared: any FileSystem
    /// The transactions, by the value that each gives row 0.
    private let made = Mutex<[Int: Made]>([:])
    /// The highest number that a process has acknowledged or read.
    private let known = Mutex(0)
    private let errors = Mutex<[String]>([])

    /// - Parameters:
    ///   - lockPath: where the lock file stands among the platform's files.
    ///   - mistake: the mistake between the stores and the disk.
    init(_ seed: Seed, lockPath: String, mistake: PlantedMistake? = nil) {
        self.seed = seed
        durability = [Durability.full, .periodic, .none][Int(seed.rawValue % 3)]
        isCompacting = seed.rawValue % 2 == 0
        disk = SimulatedDisk(seed: seed.derived(part: "disk"))
        if let mistake {
            shared = SharedDisk(MistakenDisk(disk, mistake), lockPath: lockPath)
        } else {
            shared = SharedDisk(disk, lockPath: lockPath)
        }
    }

    func options(_ fileSystem: any FileSystem) -> StoreOptions {
        var options = StoreOptions(fileSystem: fileSystem, durability: durability)
        options.cipher = seed.rawValue % 5 == 0 ? SimulatedCipher() : nil
        options.limits = .tiny
        options.logHalfBytes = 16 << 10
        options.mapReserve = 64 << 20
        options.periodicBytes = 4 << 10
        options.checkpointBytes = 64 << 10
        options.writeTimeout = 30_000_000
        if isCompacting { options.compaction = .online(freeShare: 0.05) }
        return options
    }

    /// Runs all processes to their end.
    /// - Returns: all transactions in order, and the number of requested operations after which the initial rows exist.
    func play(transactions: Int) throws -> (made: [Made], prepared: Int) {
        let first = try Store.open(path: Self.path, options: options(shared))
        try prepare(first)
        // Under the other classes the rows are durable only after a close.
        if durability != .full { try first.close() }
        let prepared = disk.operations
        let group = DispatchGroup()
        for process in 1...Self.processes {
            group.enter()
            let isStarted = SystemScheduling().spawn("process \(process)") { [self] in
                do { try work(process, transactions) } catch {
                    errors.withLock { $0.append("process \(process): \(error)") }
                }
                group.leave()
            }
            if !isStarted { group.leave() }
        }
        group.wait()
        if durability == .full { try first.close() }
        if let error = errors.withLock({ $0.first }) { throw Wrong(description: error) }
        let found = made.withLock { $0 }
        let inOrder = try (0..<found.count).map { number in
            guard let one = found[number + 1] else { throw Wrong(description: "no process made number \(number + 1)") }
            return one
        }
        return (inOrder, prepared)
    }

    private func prepare(_ store: Store) throws {
        let columns = [
            ColumnDefinition(id: ColumnID(1), name: "count", type: .integer, index: .ordered),
            ColumnDefinition(id: ColumnID(2), name: "text", type: .bytes),
        ]
        let transaction = try store.beginWrite()
        try transaction.apply(
            schema: StoreSchema(tables: [TableDefinition(id: TableID(1), name: "rows", columns: columns)]))
        for row in 0...Self.processes {
            let cells: [Cell] = [.integer(0), .bytes(UnsafeRawBufferPointer(start: nil, count: 0))]
            try cells.withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(Int64(row)), $0) }
        }
        try transaction.commit()
    }

    private func work(_ process: Int, _ transactions: Int) throws {
        var random = RandomStream(seed.derived(part: "process \(process)"))
        var store = try Store.open(path: Self.path, options: options(shared))
        var pinned: (snapshot: Snapshot, counts: [Int])?
        for _ in 0..<transactions {
            if let pinned, try Self.counts(pinned.snapshot.view) != pinned.counts {
                throw Wrong(description: "the pinned version \(pinned.snapshot.version) changed")
            }
            if random.chance(1, in: 3) { pinned = nil }
            for _ in 0..<random.below(4) {
                let found = try read(store)
                if pinned == nil { pinned = found }
            }
            let transaction = try store.beginWrite()
            let counts = try Self.counts(transaction.view)
            try transaction.set(0, RowKey(Int64(process)), column: 0, to: .integer(Int64(counts[process] + 1)))
            try transaction.set(0, RowKey(0), column: 0, to: .integer(Int64(counts[0] + 1)))
            // Long texts have pages of their own, and make checkpoints frequent.
            let text = [UInt8](repeating: 65, count: random.chance(1, in: 4) ? 9000 : random.below(40))
            try text.withUnsafeBytes { try transaction.set(0, RowKey(Int64(process)), column: 1, to: .bytes($0)) }
            let number = counts[0] + 1
            let begun = disk.operations
            let isFirst = made.withLock { $0.updateValue(Made(process: process, begun: begun), forKey: number) == nil }
            if !isFirst { throw Wrong(description: "two processes made number \(number)") }
            try transaction.commit()
            let returned = disk.operations
            made.withLock { $0[number]?.acknowledged = returned }
            known.withLock { $0 = max($0, number) }
            if random.chance(1, in: 12) {
                pinned = nil
                try store.close()
                store = try Store.open(path: Self.path, options: options(shared))
            }
        }
        pinned = nil
        try store.close()
    }

    /// Pins and reads the newest version.
    /// - Throws: ``Wrong`` if it lacks a transaction that a process had acknowledged or read.
    private func read(_ store: Store) throws -> (snapshot: Snapshot, counts: [Int]) {
        let least = known.withLock { $0 }
        let snapshot = try store.snapshot()
        let counts = try Self.counts(snapshot.view)
        if counts[0] < least { throw Wrong(description: "a snapshot has \(counts[0]), a process saw \(least) before") }
        known.withLock { $0 = max($0, counts[0]) }
        return (snapshot, counts)
    }

    /// The counts in the rows; empty if the rows do not exist yet.
    private static func counts(_ view: ReadView) throws -> [Int] {
        if view.schema.tables.isEmpty { return [] }
        return try (0...processes).map { row in
            guard let place = try view.locate(0, RowKey(Int64(row))), let count = try view.integer(place, 0) else {
                throw Wrong(description: "row \(row) is gone")
            }
            return Int(count)
        }
    }

    // MARK: What is left

    /// Opens a disk as one process, and checks it before and after its recovery.
    /// - Parameter made: all transactions.
    /// - Returns: the number of transactions on the disk, -1 if the rows do not exist yet; and the number of requested
    ///   operations when the open returned.
    /// - Throws: also for contents that are no state of the history.
    func recover(_ disk: SimulatedDisk, _ made: [Made]) throws -> (count: Int, opened: Int) {
        let scheduling = CooperativeScheduling(seed.derived(part: "recovery"))
        defer { scheduling.dropWork() }
        var options = options(disk)
        options.scheduling = scheduling
        var seen: Int?
        if try disk.status(Self.path) != nil {
            options.readOnly = true
            let reader = try Store.open(path: Self.path, options: options)
            try reader.checkInvariants()
            seen = try count(reader, made)
            try reader.close()
            options.readOnly = false
        }
        let store = try Store.open(path: Self.path, options: options)
        let opened = disk.operations
        try store.checkInvariants()
        let found = try count(store, made)
        if let seen, seen != found {
            throw Wrong(description: "\(seen) are there before the recovery, \(found) after it")
        }
        return (found, opened)
    }

    private func count(_ store: Store, _ made: [Made]) throws -> Int {
        let found = try Self.counts(store.snapshot().view)
        if found.isEmpty { return -1 }
        guard found[0] <= made.count else { throw Wrong(description: "\(found[0]) of \(made.count) are there") }
        var expected = [Int](repeating: 0, count: Self.processes + 1)
        for one in made.prefix(found[0]) { expected[one.process] += 1 }
        expected[0] = found[0]
        if expected != found { throw Wrong(description: "rows hold \(found), not \(expected)") }
        return found[0]
    }
}
