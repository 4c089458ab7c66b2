import Harness
import RunRecords
import Seeds

/// Transactions that set the age of random rows, and what the rows hold afterwards.
struct RandomAges {
    private let rows: RowOracle
    /// Those that are changed.
    private let chosen: Range<Int>
    private let count: Int
    private var random: RandomStream
    private(set) var ages: [Int64: Int64] = [:]
    private(set) var committed = 0

    /// Larger than any age of the data set: a row that was changed can be told from one that was not.
    static let firstAge: Int64 = 100

    /// - Parameter within: only so many rows in the middle of all are changed; 0 for all.
    init(_ rows: RowOracle, count: Int, within: Int = 0, random: RandomStream) {
        self.rows = rows
        chosen = Self.middle(within, of: rows.rowCount)
        self.count = count
        self.random = random
    }

    /// So many places in the middle of all; 0 stands for all.
    static func middle(_ size: Int, of count: Int) -> Range<Int> {
        let size = size == 0 ? count : min(size, count)
        let first = (count - size) / 2
        return first..<(first + size)
    }

    /// What the next transaction sets: no row twice.
    mutating func next() -> (keys: [Int64], values: [Int64]) {
        var keys: Set<Int64> = []
        while keys.count < min(count, chosen.count) {
            keys.insert(rows.key(ofRow: chosen.lowerBound + random.below(chosen.count)))
        }
        return (keys.sorted(), Array(repeating: Self.firstAge + Int64(committed), count: keys.count))
    }

    mutating func commit(_ session: any UpdateSession) throws {
        let (keys, values) = next()
        try commit(session, keys, values)
    }

    mutating func commit(_ session: any UpdateSession, _ keys: [Int64], _ values: [Int64]) throws {
        try session.update(table: rows.main.name, column: "age", keys: keys, values: values)
        note(keys, values)
    }

    /// Somebody else has committed them.
    mutating func note(_ keys: [Int64], _ values: [Int64]) {
        for (key, value) in zip(keys, values) { ages[key] = value }
        committed += 1
    }

    /// Compares the closed database with what was loaded and changed, as the parameter `compare` says.
    func verify(_ context: CaseContext, at location: DatabaseLocation) throws {
        if try context.text("compare") == "sample" {
            return try SampledContent(rows: rows, ages: ages).judge(context, at: location)
        }
        var expected = ExactOracle(try context.tables())
        let keys = ages.keys.sorted()
        expected.update(table: rows.main.name, column: "age", keys: keys, values: keys.compactMap { ages[$0] })
        context.judgeContent("content", at: location, expected: expected)
    }
}
