import Datasets
import Harness
import RunRecords
import Seeds

/// Rows that are inserted into a database of people one by one, and the check that they are there.
enum PeopleRows {
    /// Number of persons in the case's data set. Throws: `HarnessError` when it is not people.
    static func count(in context: CaseContext) throws -> Int {
        let main = try context.tables().main
        guard main.name == "Person", main.key == "id" else {
            throw HarnessError("\(context.test.scenario) inserts people, and runs on the data set people alone")
        }
        return main.rowCount
    }

    /// The tables of people without a row.
    static func noRows() throws -> TableSet {
        try PeopleDataset().tables(size: 0, seed: Seed(0))
    }

    /// Rows with the ids that follow `base`, in pieces after which a case can look at its budget.
    static func chunks(from base: Int, count: Int) -> (tables: [Table], end: Int) {
        let end = base + count
        let tables = stride(from: base, to: end, by: 100).map { PeopleDataset.persons($0..<min($0 + 100, end)) }
        return (tables, end)
    }

    /// Opens the database again, and reads back what was acknowledged.
    static func verify(
        _ context: CaseContext, at location: DatabaseLocation, inserted: Range<Int>, count: Int
    ) throws {
        let session = try context.open(location, as: (any TableSession).self)
        let expected = ExactOracle(
            TableSet(dataset: "inserted", tables: [PeopleDataset.persons(inserted)], digest: 0))
        let reads = PointReads(
            table: "Person", keys: inserted.map { Int64($0) }, columns: ["name", "age", "score"])
        context.report.check("rows", expected: count, got: try session.rowCount(table: "Person"))
        context.report.check(
            "values", expected: expected.digest(reads), got: try session.readPoints(reads, latency: nil))
        try session.close()
    }
}
