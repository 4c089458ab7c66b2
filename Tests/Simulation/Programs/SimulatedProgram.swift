import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles

/// A row of the one table that a simulation works on.
struct ProgramRow: Hashable {
    var number: Int64
    var text: [UInt8]

    /// The row's contribution to the digest of a state, under its key.
    static func digest(_ key: Int64, _ number: Int64, _ text: UnsafeRawBufferPointer) -> UInt64 {
        splitMix(splitMix(UInt64(bitPattern: key)) ^ splitMix(UInt64(bitPattern: number) &+ 1) ^ ByteDigest.hash(text))
    }
}

/// The whole content of a database.
struct ProgramState: Equatable {
    private(set) var rows: [Int64: ProgramRow] = [:]
    /// The digest by which states are compared; independent of the order of rows.
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

/// A change of one row: its new content, or nil to delete it.
struct ProgramChange {
    var key: Int64
    var row: ProgramRow?
}

/// A storage engine as a simulation drives it.
protocol SimulatedProgram: Sendable {
    /// Whether a returned commit survives a loss of power. If not, any earlier state is allowed until the database is
    /// closed.
    static var keepsAcknowledged: Bool { get }
    /// Opens or creates the database on the disk.
    static func open(_ disk: SimulatedDisk, _ scheduling: any Scheduling) throws -> Self
    /// Makes changes atomically; durable on return if the engine keeps acknowledged commits.
    /// - Parameter changes: called when the transaction has the write lock.
    func commit(_ changes: () -> [ProgramChange]) throws
    /// Pins the newest version.
    /// - Returns: a closure that reads that version's content and returns its digest; its release unpins.
    func pin() throws -> () throws -> UInt64
    /// The engine's own checks.
    func check() throws
    func close() throws
    /// Pages of which each alone locates the database. If one is lost, the contents are still readable, or the engine
    /// reports an error.
    static var twins: [(path: String, page: Int)] { get }
    /// Whether an error reports damaged bytes.
    static func isDetection(_ error: any Error) -> Bool
    /// Leftovers on the disk of a closed database; nil if there are none.
    static func leftovers(_ disk: SimulatedDisk) throws -> String?
}

extension SimulatedProgram {
    static var keepsAcknowledged: Bool { true }
    static var twins: [(path: String, page: Int)] { [] }
    static func isDetection(_ error: any Error) -> Bool { false }
    static func leftovers(_ disk: SimulatedDisk) throws -> String? { nil }

    /// Opens or creates the database; the disk's seed orders its background work.
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

    /// - Parameter largest: the bytes of one transaction in `count`, more than the log takes; 0 for none.
    init(_ seed: Seed, count: Int, keys: Int = 40, longest: Int = 12, largest: Int = 0) {
        random = RandomStream(seed)
        self.keys = keys
        // The large transaction is not the last one: some mistakes show only in the small transaction after it.
        let large = largest > 0 && count > 3 ? 2 + random.below(count - 3) : -1
        for number in 0..<count { append(number == large ? makeLarge(largest) : make(longest)) }
    }

    /// A history that continues from a content.
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
