import Datasets
import Harness
import RunRecords
import Seeds

/// Rows that are inserted one by one into a database of people, and the check for them.
enum PeopleRows {
    /// Number of persons in the case's data set. Throws: `HarnessError` for another data set.
    static func count(in context: CaseContext) throws -> Int {
        try oracle(context).rowCount
    }

    /// The loaded rows, which are people.
    static func oracle(_ context: CaseContext) throws -> RowOracle {
        let rows = try RowOracle(context)
        guard rows.main.name == "Person", rows.main.key == "id" else {
            throw HarnessError("\(context.test.scenario) changes people, and runs on the data set people alone")
        }
        return rows
    }

    /// The tables of people without a row.
    static func noRows() throws -> TableSet {
        try PeopleDataset().tables(size: 0, seed: Seed(0))
    }

    /// The rows with the `count` ids from `base` on, in chunks, so that a case can check its budget after each.
    static func chunks(from base: Int, count: Int) -> (tables: [Table], end: Int) {
        let end = base + count
        let tables = stride(from: base, to: end, by: 100).map { PeopleDataset.persons($0..<min($0 + 100, end)) }
        return (tables, end)
    }

    /// Opens the database again and compares all of it with the loaded rows and the acknowledged changes.
    ///
    /// - Parameters:
    ///   - isEmpty: the database began without rows instead of the case's data set.
    ///   - inserted: ids of the inserted rows.
    ///   - updates: other changes.
    ///   - rows: makes the rows with these ids.
    static func verify(
        _ context: CaseContext, at location: DatabaseLocation, isEmpty: Bool = false, inserted: [Range<Int>],
        updates: (inout ExactOracle) -> Void = { _ in },
        rows: (Range<Int>) -> Table = { PeopleDataset.persons($0) }
    ) throws {
        let base = isEmpty ? try noRows() : try context.tables()
        let first = base.main.rowCount
        let end = max(first, inserted.map(\.upperBound).max() ?? first)
        var expected = ExactOracle(base.appending(rows(first..<end)))
        var isThere = [Bool](repeating: false, count: end)
        for row in 0..<first { isThere[row] = true }
        for range in inserted { for row in range { isThere[row] = true } }
        expected.delete(table: base.main.name, keys: (first..<end).filter { !isThere[$0] }.map { Int64($0) })
        updates(&expected)
        context.judgeContent("content", at: location, expected: expected)
    }
}
