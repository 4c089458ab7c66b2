import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles

/// A row of the one table that a simulation works on.
struct ProgramRow: Hashable {
    var number: Int64
    var text: [UInt8]

    /// What its place under a key adds to the digest of a state.
    static func digest(_ key: Int64, _ number: Int64, _ text: UnsafeRawBufferPointer) -> UInt64 {
        splitMix(splitMix(UInt64(bitPattern: key)) ^ splitMix(UInt64(bitPattern: number) &+ 1) ^ ByteDigest.hash(text))
    }
}

/// The whole content of a database.
struct ProgramState: Equatable {
    private(set) var rows: [Int64: ProgramRow] = [:]
    /// Equal for equal contents, whatever their order: what states are compared by.
    private(set) var digest: UInt64 = 0

    mutating func apply(_ changes: [ProgramChange]) {
        for change in changes {
            if let old = rows[change.key] { digest &-= Self.digest(change.key, old) }
            rows[change.key] = change.row
            if let row = change.row { digest &+= Self.digest(change.key, row) }
        }
    }

    private static func digest(_ key: Int64, _ row: ProgramRow) -> UInt64 {
        row.text.withUnsafeBytes { ProgramRow.digest(key, row.number, $0) }
    }
}

/// A change to one row: a new content, or none.
struct ProgramChange {
    var key: Int64
    var row: ProgramRow?
}

/// A storage engine as a simulation drives it.
protocol SimulatedProgram: Sendable {
    /// Whether a commit that returned survives a loss of power. Without that, any earlier state may come back, until
    /// the database is closed.
    static var keepsAcknowledged: Bool { get }
    /// Opens the database on the disk, makes it when there is none.
    static func open(_ disk: SimulatedDisk, _ scheduling: any Scheduling) throws -> Self
    /// Makes changes, all together; durable on return if the engine keeps what it acknowledged.
    /// - Parameter changes: called when the transaction has the write lock.
    func commit(_ changes: () -> [ProgramChange]) throws
    /// Pins the newest version.
    /// - Returns: reads the content of that version, and gives its digest; goes with the pin.
    func pin() throws -> () throws -> UInt64
    /// The engine's own checks.
    func check() throws
    func close() throws
    /// Pages that say each alone where the database begins: with one of them lost, what was kept is still there, or the
    /// engine says that it is not.
    static var twins: [(path: String, page: Int)] { get }
    /// Whether an error says that bytes are damaged.
    static func isDetection(_ error: any Error) -> Bool
    /// What should not be on a disk whose database was closed; nil when all is as it should be.
    static func leftovers(_ disk: SimulatedDisk) throws -> String?
}

extension SimulatedProgram {
    static var keepsAcknowledged: Bool { true }
    static var twins: [(path: String, page: Int)] { [] }
    static func isDetection(_ error: any Error) -> Bool { false }
    static func leftovers(_ disk: SimulatedDisk) throws -> String? { nil }

    /// With background work in an order that the disk's seed decides.
    static func open(_ disk: SimulatedDisk) throws -> Self {
        try open(disk, CooperativeScheduling(disk.settings.seed.derived(part: "scheduling")))
    }

    /// The content of the newest version.
    func digest() throws -> UInt64 { try pin()() }
}

/// A seeded history: transactions, and the content after each number of them.
struct ProgramHistory {
    private(set) var transactions: [[ProgramChange]] = []
    /// `states[v]` is the content after v transactions.
    private(set) var states: [ProgramState] = [ProgramState()]
    private var random: RandomStream
    private let keys: Int

    /// - Parameter largest: bytes of one transaction in `count`, which is more than a log segment takes; none when 0.
    init(_ seed: Seed, count: Int, keys: Int = 40, longest: Int = 12, largest: Int = 0) {
        random = RandomStream(seed)
        self.keys = keys
        // Not the last one: a small transaction behind a large one is what can be lost.
        let large = largest > 0 && count > 3 ? 2 + random.below(count - 3) : -1
        for number in 0..<count { append(number == large ? makeLarge(largest) : make(longest)) }
    }

    /// A history that goes on from a content.
    init(_ seed: Seed, after state: ProgramState, count: Int) {
        random = RandomStream(seed)
        keys = 40
        states = [state]
        for _ in 0..<count { append(make(4)) }
    }

    private mutating func make(_ longest: Int) -> [ProgramChange] {
        var changes: [ProgramChange] = []
        var touched: Set<Int64> = []
        for _ in 0..<(1 + random.below(longest)) {
            let key = Int64(random.below(keys))
            guard touched.insert(key).inserted else { continue }
            if random.chance(1, in: 4) {
                changes.append(ProgramChange(key: key, row: nil))
            } else {
                changes.append(row(key, random.chance(1, in: 8) ? random.below(9_000) : random.below(60)))
            }
        }
        return changes
    }

    private mutating func makeLarge(_ bytes: Int) -> [ProgramChange] {
        (0..<(bytes / 4_000 + 1)).map { row(Int64($0), 4_000) }
    }

    private mutating func row(_ key: Int64, _ length: Int) -> ProgramChange {
        let text = [UInt8](repeating: UInt8(97 + random.below(26)), count: length)
        return ProgramChange(key: key, row: ProgramRow(number: Int64(bitPattern: random.next()), text: text))
    }

    private mutating func append(_ changes: [ProgramChange]) {
        var state = states[states.count - 1]
        state.apply(changes)
        transactions.append(changes)
        states.append(state)
    }
}
