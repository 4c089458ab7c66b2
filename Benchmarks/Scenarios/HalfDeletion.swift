import Harness
import Measuring
import RunRecords

/// Deletes half of the rows of the main table in one transaction, with the model that goes along with it.
struct HalfDeletion {
    private(set) var oracle: ExactOracle
    let table: String
    let keys: [Int64]
    /// Those of the rows that stay.
    let liveKeys: [Int64]
    /// The same as places in the loaded table.
    let liveRows: [Int]

    /// Rows that stay and rows that go, by turns, where what is asked is how small a database gets: so many that most
    /// pages are left by all of their rows. Of pages that are half full an engine that moves pages, and not rows,
    /// cannot make fewer: with every second row deleted `mdb_copy -c` would be blamed for what it never does.
    static let blockRows = 512

    /// - Parameter run: rows that stay beside each other, and rows that go.
    init(_ tables: TableSet, run: Int = 1) throws {
        guard case .integer(let keys)? = tables.main.keyColumn?.values else {
            throw HarnessError("\(tables.main.name) has no integer key")
        }
        oracle = ExactOracle(tables)
        table = tables.main.name
        // A small table has at least four runs.
        let run = max(1, min(run, keys.count / 4))
        self.keys = keys.enumerated().filter { ($0.offset / run) % 2 == 1 }.map(\.element)
        liveRows = keys.indices.filter { ($0 / run) % 2 == 0 }
        liveKeys = liveRows.map { keys[$0] }
    }

    /// The rows that are left when it has run.
    var live: ExactOracle {
        var oracle = oracle
        oracle.delete(table: table, keys: keys)
        return oracle
    }

    /// Nanoseconds to the acknowledgement, and until the session is closed and nothing is left to be written back.
    mutating func runAndClose(_ session: any DeletionSession) throws -> (acknowledged: UInt64, closed: UInt64) {
        let start = MonotonicClock.now()
        try session.delete(table: table, keys: keys)
        let acknowledged = MonotonicClock.now() - start
        try session.close()
        let closed = MonotonicClock.now() - start
        oracle.delete(table: table, keys: keys)
        return (acknowledged, closed)
    }

    /// Nanoseconds that it took.
    mutating func run(_ session: any DeletionSession) throws -> UInt64 {
        let start = MonotonicClock.now()
        try session.delete(table: table, keys: keys)
        let elapsed = MonotonicClock.now() - start
        oracle.delete(table: table, keys: keys)
        return elapsed
    }
}
