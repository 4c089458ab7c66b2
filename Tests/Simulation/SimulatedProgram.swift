import FaultModel
import SimulatedDisk

/// A row of the one table that a simulation works on.
struct ProgramRow: Hashable {
    var number: Int64
    var text: [UInt8]
}

/// The whole content of a database.
typealias ProgramState = [Int64: ProgramRow]

/// A change to one row: a new content, or none.
struct ProgramChange {
    var key: Int64
    var row: ProgramRow?
}

/// A storage engine as a simulation drives it.
protocol SimulatedProgram {
    /// Whether a commit that returned survives a loss of power. Without that, any earlier state may come back.
    static var keepsAcknowledged: Bool { get }
    /// Opens the database on the disk, makes it when there is none.
    static func open(_ disk: SimulatedDisk) throws -> Self
    /// Makes the changes, all together; durable on return if the engine keeps what it acknowledged.
    func commit(_ changes: [ProgramChange]) throws
    /// The content of the newest version.
    func read() throws -> ProgramState
    /// The engine's own checks.
    func check() throws
    func close() throws
}

/// A seeded history: transactions, and the content after each number of them.
struct ProgramHistory {
    private(set) var transactions: [[ProgramChange]] = []
    /// `states[v]` is the content after v transactions.
    private(set) var states: [ProgramState] = [[:]]

    init(_ seed: Seed, count: Int, keys: Int = 40, longest: Int = 12) {
        var random = RandomStream(seed)
        for _ in 0..<count {
            var changes: [ProgramChange] = []
            var touched: Set<Int64> = []
            for _ in 0..<(1 + random.below(longest)) {
                let key = Int64(random.below(keys))
                guard touched.insert(key).inserted else { continue }
                if random.chance(1, in: 4) {
                    changes.append(ProgramChange(key: key, row: nil))
                } else {
                    let length = random.chance(1, in: 8) ? random.below(9_000) : random.below(60)
                    let text = [UInt8](repeating: UInt8(97 + random.below(26)), count: length)
                    let number = Int64(bitPattern: random.next())
                    changes.append(ProgramChange(key: key, row: ProgramRow(number: number, text: text)))
                }
            }
            append(changes)
        }
    }

    mutating func append(_ changes: [ProgramChange]) {
        var state = states[states.count - 1]
        for change in changes { state[change.key] = change.row }
        transactions.append(changes)
        states.append(state)
    }
}

extension SimulatedProgram {
    static var keepsAcknowledged: Bool { true }
}
