import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import StrataStorage

/// A long seeded history of one store against a model: after every transaction the invariants are walked and everything
/// is read back.
///
/// Sessions of some dozen transactions end in a close, the death of the process, or a loss of power that keeps any part
/// of the un-synced work; the next one may have another durability, and compacts now and then. Snapshots are held over
/// many transactions and over the close.
struct HistorySimulation {
    struct Counts: CustomStringConvertible {
        var operations = 0
        var transactions = 0
        var schemaChanges = 0
        var sessions = 0
        var crashes = 0
        var copies = 0

        var description: String {
            """
            \(operations) operations in \(transactions) transactions, each followed by a walk of all invariants; \
            \(schemaChanges) changes of the schema, \(sessions) sessions, \(crashes) of them crashed, \(copies) copies
            """
        }

        static func += (one: inout Counts, other: Counts) {
            one.operations += other.operations
            one.transactions += other.transactions
            one.schemaChanges += other.schemaChanges
            one.sessions += other.sessions
            one.crashes += other.crashes
            one.copies += other.copies
        }
    }

    struct Wrong: Error, CustomStringConvertible {
        var description: String
    }

    private struct Pin {
        var snapshot: Snapshot
        var model: HistoryModel
    }

    private static let path = "folder/database"
    private let seed: Seed
    private var random: RandomStream
    private var steps: HistorySteps
    private var disk: SimulatedDisk
    private var model = HistoryModel()
    private var durability = Durability.full
    /// What a loss of power may go back to, oldest first; the last is the present.
    private var possible = [HistoryModel()]
    private var pins: [Pin] = []
    private(set) var counts = Counts()

    init(_ seed: Seed) {
        self.seed = seed
        random = RandomStream(seed.derived(part: "sessions"))
        steps = HistorySteps(random: RandomStream(seed.derived(part: "steps")))
        disk = SimulatedDisk(seed: seed.derived(part: "disk"))
    }

    /// Runs sessions until so many operations were made.
    mutating func run(operations: Int) throws {
        while counts.operations < operations {
            do { try runSession() } catch {
                throw Wrong(description: "session \(counts.sessions), \(counts.operations) operations: \(error)")
            }
            counts.sessions += 1
        }
    }

    private mutating func runSession() throws {
        durability = [Durability.full, .full, .periodic, .none][random.below(4)]
        let scheduling = CooperativeScheduling(seed.derived(part: "scheduling \(counts.sessions)"))
        let store = try Store.open(path: Self.path, options: makeOptions(scheduling))
        try adoptRecovered(store)
        for _ in 0..<(4 + random.below(40)) {
            try runTransaction(store)
            scheduling.runSome()
            if case .online = store.options.compaction {
                // Invariants hold between any two steps.
                for _ in 0..<6 where scheduling.runOne() { try store.checkInvariants() }
            }
        }
        try end(store, scheduling)
        scheduling.dropWork()
    }

    private mutating func makeOptions(_ scheduling: CooperativeScheduling) -> StoreOptions {
        var options = StoreOptions(fileSystem: disk, scheduling: scheduling, durability: durability)
        options.limits = .tiny
        options.logHalfBytes = [8 << 10, 16 << 10, 64 << 10][random.below(3)]
        options.mapReserve = 64 << 20
        options.periodicBytes = 4 << 10
        options.checkpointBytes = 64 << 10
        options.growth = [.standard, .fixed(64 << 10), .percent(10)][random.below(3)]
        if random.chance(1, in: 6) { options.compactOnLaunch = { _, _ in true } }
        if random.chance(1, in: 3) { options.compaction = .online(freeShare: 0.1) }
        return options
    }

    /// After a loss of power any possible state may be there; from now on it is the only one.
    private mutating func adoptRecovered(_ store: Store) throws {
        let view = try store.snapshot().view
        let found = possible.lastIndex { model in
            do {
                try model.compare(view, sample: 0)
                return true
            } catch { return false }
        }
        guard let found else {
            try model.compare(view, sample: 0)
            throw Wrong(description: "none of \(possible.count) possible states is there")
        }
        model = possible[found]
        possible = [model]
        try store.checkInvariants()
    }

    // MARK: Transactions

    private mutating func runTransaction(_ store: Store) throws {
        let transaction = try store.beginWrite()
        var next = model
        if next.schema.tables.isEmpty {
            try transaction.apply(schema: HistorySteps.firstSchema)
            next.apply(HistorySteps.firstSchema)
        }
        if random.chance(1, in: 30) {
            try steps.changeSchema(&next, transaction)
            counts.schemaChanges += 1
        }
        let length = random.chance(1, in: 50) ? 60 + random.below(120) : random.chance(1, in: 2) ? 1 : random.below(9)
        for _ in 0..<length {
            try steps.change(&next, transaction)
            counts.operations += 1
        }
        if random.chance(1, in: 40) { try next.compare(transaction.view, sample: random.next()) }
        if random.chance(1, in: 15) {
            transaction.rollback()
        } else {
            try transaction.commit()
            model = next
            if durability == .full { possible = [] }
            possible.append(model)
        }
        counts.transactions += 1
        try store.checkInvariants()
        try model.compare(store.snapshot().view, sample: random.next())
        try checkPins(store)
        if random.chance(1, in: 80) { try copy(store) }
    }

    private mutating func checkPins(_ store: Store) throws {
        if pins.count < 4, random.chance(1, in: 6) { pins.append(Pin(snapshot: try store.snapshot(), model: model)) }
        if pins.isEmpty { return }
        let place = random.below(pins.count)
        try pins[place].model.compare(pins[place].snapshot.view, sample: random.next())
        if random.chance(1, in: 5) { pins.remove(at: place) }
    }

    private mutating func copy(_ store: Store) throws {
        let path = "folder/copy"
        // The removal of the last one need not have outlived a loss of power.
        if try disk.status(path) != nil { try disk.remove(path) }
        try store.writeCopy(to: path)
        var options = store.options
        options.compactOnLaunch = nil
        options.compaction = .never
        let copy = try Store.open(path: path, options: options)
        try model.compare(copy.snapshot().view, sample: random.next())
        try copy.checkInvariants()
        try copy.close()
        counts.copies += 1
    }

    // MARK: Ends

    private mutating func end(_ store: Store, _ scheduling: CooperativeScheduling) throws {
        switch random.below(4) {
        case 0: try closeWithPins(store, scheduling)
        case 1:
            pins = []
            try store.close()
            possible = [model]
            if random.chance(1, in: 4) { try Store.compact(path: Self.path, options: makeOptions(scheduling)) }
            restart(disk.image)
        case 2:
            // The process dies and caches live on.
            pins = []
            if durability != .none { possible = [model] }
            restart(disk.image)
            counts.crashes += 1
        default:
            pins = []
            restart(disk.crash(StateMask(bits: (0..<4096).filter { _ in random.chance(1, in: 2) })).image)
            counts.crashes += 1
        }
    }

    private mutating func closeWithPins(_ store: Store, _ scheduling: CooperativeScheduling) throws {
        if pins.isEmpty { pins.append(Pin(snapshot: try store.snapshot(), model: model)) }
        try store.close()
        possible = [model]
        do {
            _ = try Store.open(path: Self.path, options: makeOptions(scheduling))
            throw Wrong(description: "a store is opened while pages of a snapshot look free")
        } catch let error as StorageError {
            guard case .inUse = error else { throw error }
        }
        for pin in pins { try pin.model.compare(pin.snapshot.view, sample: random.next()) }
        pins = []
        restart(disk.image)
    }

    /// The next session's disk: these bytes, and no history behind them.
    private mutating func restart(_ image: DiskImage) {
        let seed = self.seed.derived(part: "disk \(counts.sessions)")
        disk = SimulatedDisk(SimulatedDisk.Settings(seed: seed), image: image)
    }
}
