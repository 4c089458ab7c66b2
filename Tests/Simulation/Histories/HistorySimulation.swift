import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles

@testable import StrataStorage

/// A long seeded history of one store and a model: after every transaction the invariants are checked and everything is
/// read back.
///
/// Sessions of some dozen transactions end in a close, the death of the process, or a loss of power that keeps any part
/// of the un-synced work. Crashes occur at any operation: within a commit, a checkpoint, a compaction, a close, the
/// open. The session after a crash often crashes again during its recovery, and so does the next one. Each session may
/// have another durability, and sometimes compacts; every third history is encrypted. Snapshots are held over many
/// transactions and over the close.
///
/// After a crash the disk is first opened read-only and checked, then recovered, checked again and compared: both opens
/// must find the same state, one that the session allows at that operation. One disk in a hundred is copied, damaged
/// and salvaged, and the salvage's report is compared with the written contents.
struct HistorySimulation {
    struct Wrong: Error, CustomStringConvertible {
        var description: String
    }

    private struct Pin {
        var snapshot: Snapshot
        var model: HistoryModel
    }

    static let path = "folder/database"
    /// A crash in the recovery from a crash in the recovery from a crash.
    private static let deepest = 3
    private let seed: Seed
    /// One in this many states is salvaged.
    private let salvagedEvery: Int
    /// A layer between the store and the disk, in tests of the simulation itself.
    private let layer: @Sendable (SimulatedDisk) -> any FileSystem
    private let cipher: (any Cipher)?
    private var random: RandomStream
    private var steps: HistorySteps
    private var disk: SimulatedDisk
    private var model = HistoryModel()
    private var durability = Durability.full
    private var possible = PossibleStates([HistoryModel()])
    private var timeline = SessionTimeline(
        after: PossibleStates([]), opened: 0, version: 0, HistoryModel())
    /// The contents that the read-only check after a crash found; nil if there was none.
    private var checked: HistoryModel?
    /// Consecutive crashes, each but the first in the recovery from the one before.
    private var depth = 0
    private var pins: [Pin] = []
    /// The contents of versions that the disk may hold.
    private var versions = VersionModels()
    private(set) var counts = HistoryCounts()

    init(
        _ seed: Seed, salvagedEvery: Int = 100, layer: @escaping @Sendable (SimulatedDisk) -> any FileSystem = { $0 }
    ) {
        self.seed = seed
        self.salvagedEvery = salvagedEvery
        self.layer = layer
        cipher = seed.rawValue % 3 == 0 ? SimulatedCipher() : nil
        random = RandomStream(seed.derived(part: "sessions"))
        steps = HistorySteps(random: RandomStream(seed.derived(part: "steps")))
        disk = SimulatedDisk(seed: seed.derived(part: "disk"))
        counts.encrypted = cipher == nil ? 0 : 1
    }

    /// Runs sessions until this many operations were made.
    mutating func run(operations: Int) throws {
        while counts.operations < operations {
            do { try runSession() } catch {
                throw Wrong(
                    description: """
                        session \(counts.sessions), \(counts.operations) operations, \(durability), \(depth) deep: \
                        \(error)
                        """)
            }
            counts.sessions += 1
        }
    }

    private mutating func runSession() throws {
        durability = [Durability.full, .full, .periodic, .none][random.below(4)]
        let scheduling = CooperativeScheduling(seed.derived(part: "scheduling \(counts.sessions)"))
        let isBrief = depth > 0 && depth < Self.deepest && random.chance(2, in: 3)
        let start = disk.operations
        let options = makeOptions(scheduling)
        disk.setOperation(options.compactOnLaunch == nil ? "open" : "launch compaction")
        let store = try Store.open(path: Self.path, options: options)
        try adoptRecovered(store)
        for _ in 0..<(isBrief ? random.below(3) : 4 + random.below(40)) {
            try runTransaction(store)
            disk.setOperation("background")
            scheduling.runSome()
            if case .online = store.options.compaction {
                disk.setOperation("online compaction")
                // Invariants hold between any two steps.
                for _ in 0..<6 where scheduling.runOne() { try store.checkInvariants() }
            }
            keepSynced(store)
        }
        try end(store, scheduling, start: start, isBrief: isBrief)
        scheduling.dropWork()
    }

    private mutating func makeOptions(_ scheduling: CooperativeScheduling) -> StoreOptions {
        var options = plainOptions(scheduling)
        options.logHalfBytes = [8 << 10, 16 << 10, 64 << 10][random.below(3)]
        options.growth = [.standard, .fixed(64 << 10), .percent(10)][random.below(3)]
        if random.chance(1, in: 6) { options.compactOnLaunch = { _, _ in true } }
        if random.chance(1, in: 3) { options.compaction = .online(freeShare: 0.1) }
        return options
    }

    private func plainOptions(_ scheduling: CooperativeScheduling) -> StoreOptions {
        var options = StoreOptions(fileSystem: layer(disk), scheduling: scheduling, durability: durability)
        options.cipher = cipher
        options.limits = .tiny
        options.mapReserve = 64 << 20
        options.periodicBytes = 4 << 10
        options.checkpointBytes = 64 << 10
        return options
    }

    /// After a crash any allowed state may be found; from now on only that one is allowed.
    private mutating func adoptRecovered(_ store: Store) throws {
        do {
            let view = try store.snapshot().view
            // An earlier read-only check has determined which one it is.
            model = try Self.find(view, checked.map { [$0] } ?? possible.found)
        }
        checked = nil
        try store.checkInvariants()
        let version = store.newestVersion.rawValue
        timeline = SessionTimeline(after: possible, opened: disk.operations, version: version, model)
        versions.begin(version, model)
    }

    private static func find(_ view: ReadView, _ states: [HistoryModel]) throws -> HistoryModel {
        let found = states.last { model in
            do {
                try model.compare(view, sample: 0)
                return true
            } catch { return false }
        }
        if let found { return found }
        try states.last?.compare(view, sample: 0)
        throw Wrong(description: "none of \(states.count) possible states is there")
    }

    // MARK: Transactions

    private mutating func runTransaction(_ store: Store) throws {
        disk.setOperation("commit")
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
            timeline.begin(next, at: disk.operations)
            let version = try transaction.commit().rawValue
            timeline.end(version: version, at: disk.operations)
            model = next
            versions.note(version, model)
            keepSynced(store, acknowledged: version)
        }
        counts.transactions += 1
        try store.checkInvariants()
        try model.compare(store.snapshot().view, sample: random.next())
        try checkPins(store)
        if random.chance(1, in: 80) { try copy(store) }
    }

    /// Records the commits that a crash must not lose from now on. Every durability class keeps what the store reports
    /// as synced.
    private mutating func keepSynced(_ store: Store, acknowledged: UInt64 = 0) {
        let said = store.commits.withState { $0.queue.synced }
        let synced = durability == .full ? max(said, acknowledged) : said
        let written = durability == .none ? synced : max(synced, acknowledged)
        timeline.keep(synced: synced, written: written, at: disk.operations)
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
        disk.setOperation("copy")
        // Removes the copy of an earlier session: one that was interrupted, or whose removal a loss of power undid.
        for file in [path, path + ".log"] where try disk.status(file) != nil { try disk.remove(file) }
        try store.writeCopy(to: path, cipher: cipher)
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

    private mutating func end(
        _ store: Store, _ scheduling: CooperativeScheduling, start: Int, isBrief: Bool
    ) throws {
        let closes = !isBrief && random.chance(1, in: 2)
        if closes {
            disk.setOperation("close")
            if random.chance(1, in: 2) {
                try closeWithPins(store, scheduling)
            } else {
                pins = []
                try store.close()
                timeline.keepAll(at: disk.operations)
                if random.chance(1, in: 4) {
                    disk.setOperation("compaction")
                    try Store.compact(path: Self.path, options: makeOptions(scheduling))
                }
            }
        }
        pins = []
        if closes, random.chance(2, in: 3) {
            possible = PossibleStates([model])
            depth = 0
            let seed = self.seed.derived(part: "disk \(counts.sessions)")
            disk = SimulatedDisk(SimulatedDisk.Settings(seed: seed), image: disk.image)
        } else {
            try crash(start: start, isBrief: isBrief)
        }
    }

    private mutating func closeWithPins(_ store: Store, _ scheduling: CooperativeScheduling) throws {
        if pins.isEmpty { pins.append(Pin(snapshot: try store.snapshot(), model: model)) }
        try store.close()
        timeline.keepAll(at: disk.operations)
        do {
            _ = try Store.open(path: Self.path, options: makeOptions(scheduling))
            throw Wrong(description: "a store is opened while pages of a snapshot look free")
        } catch let error as StorageError {
            guard case .inUse = error else { throw error }
        }
        for pin in pins { try pin.model.compare(pin.snapshot.view, sample: random.next()) }
    }

    /// Kills the process, or cuts power, at some operation of the session.
    private mutating func crash(start: Int, isBrief: Bool) throws {
        let end = disk.operations
        let opened = max(start, timeline.opened)
        let isInOpen = isBrief ? random.chance(7, in: 8) : random.chance(1, in: 6)
        let operation =
            isInOpen
            ? start + random.below(opened - start + 1)
            : random.chance(1, in: 4) ? end : start + random.below(end - start + 1)
        depth = depth > 0 && operation <= opened ? depth + 1 : 1
        counts.note(depth: depth, struck: disk.trace.dropFirst(operation).first)
        if random.chance(1, in: 3) {
            counts.deaths += 1
            possible = timeline.afterDeath(at: operation)
            disk = disk.kill(after: operation)
        } else {
            possible = timeline.afterLoss(at: operation)
            disk = disk.crash(after: operation, kept())
        }
        try check()
    }

    /// The un-synced parts that survive: any, few, most, the oldest, none or all of them.
    private mutating func kept() -> StateMask {
        let width = 4096
        switch random.below(6) {
        case 0: return StateMask()
        case 1: return StateMask(allBelow: width)
        case 2: return StateMask(allBelow: random.below(120))
        case 3: return StateMask(bits: (0..<width).filter { _ in random.chance(1, in: 8) })
        case 4: return StateMask(bits: (0..<width).filter { _ in random.chance(7, in: 8) })
        default: return StateMask(bits: (0..<width).filter { _ in random.chance(1, in: 2) })
        }
    }

    // MARK: After a crash

    /// Checks a state without changing any byte, and salvages a damaged copy of some states.
    private mutating func check() throws {
        guard try disk.status(Self.path) != nil else { return }
        let operations = disk.operations
        var options = plainOptions(CooperativeScheduling(seed.derived(part: "check \(counts.sessions)")))
        options.readOnly = true
        do {
            let store = try Store.open(path: Self.path, options: options)
            checked = try Self.find(store.snapshot().view, possible.found)
            try store.checkInvariants()
            try store.close()
        } catch {
            throw Wrong(description: "the check of the files after a crash: \(error)")
        }
        if disk.operations != operations { throw Wrong(description: "a check changed the files") }
        counts.checked += 1
        if random.chance(1, in: salvagedEvery) { try salvage() }
    }

    private mutating func salvage() throws {
        let salvage = HistorySalvage(
            seed.derived(part: "salvage \(counts.sessions)"), disk.image, versions, newest: checked, cipher: cipher)
        counts.salvaged += 1
        do {
            guard let wrong = try salvage.violations() else {
                counts.refused += 1
                return
            }
            if let first = wrong.first { throw Wrong(description: first) }
        } catch {
            throw Wrong(description: "a salvage after \(salvage.damage): \(error)")
        }
    }
}
