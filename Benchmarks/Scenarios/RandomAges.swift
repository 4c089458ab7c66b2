import Harness
import RunRecords
import Seeds

/// Transactions that set the age of random rows, and what the rows hold afterwards.
struct RandomAges {
    private let rows: RowOracle
    private let count: Int
    private var random: RandomStream
    private(set) var ages: [Int64: Int64] = [:]
    private(set) var committed = 0

    /// Larger than any age of the data set: a row that was changed can be told from one that was not.
    static let firstAge: Int64 = 100

    init(_ rows: RowOracle, count: Int, random: RandomStream) {
        self.rows = rows
        self.count = count
        self.random = random
    }

    /// What the next transaction sets: no row twice.
    mutating func next() -> (keys: [Int64], values: [Int64]) {
        var keys: Set<Int64> = []
        while keys.count < min(count, rows.rowCount) { keys.insert(rows.key(ofRow: random.below(rows.rowCount))) }
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
