import Harness
import RunRecords
import Seeds

/// Transactions that set the age of random rows, with a model of the result.
struct RandomAges {
    private let rows: RowOracle
    /// The rows that may be changed.
    private let chosen: Range<Int>
    private let count: Int
    private var random: RandomStream
    private(set) var ages: [Int64: Int64] = [:]
    private(set) var committed = 0

    /// Larger than any age of the data set, so that changed rows are told from others.
    static let firstAge: Int64 = 100

    /// - Parameter within: only that many rows in the middle are changed; 0 for all.
    init(_ rows: RowOracle, count: Int, within: Int = 0, random: RandomStream) {
        self.rows = rows
        chosen = Self.middle(within, of: rows.rowCount)
        self.count = count
        self.random = random
    }

    /// The positions of `size` rows in the middle; 0 stands for all rows.
    static func middle(_ size: Int, of count: Int) -> Range<Int> {
        let size = size == 0 ? count : min(size, count)
        let first = (count - size) / 2
        return first..<(first + size)
    }

    /// The changes of the next transaction, without duplicate rows.
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

    /// Adds changes that another process committed.
    mutating func note(_ keys: [Int64], _ values: [Int64]) {
        for (key, value) in zip(keys, values) { ages[key] = value }
        committed += 1
    }

    /// Compares the closed database with the loaded rows and the changes, as the parameter `compare` says.
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
