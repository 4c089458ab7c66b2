import Harness
import Measuring
import RunRecords

/// Deletes half of the rows of the main table in one transaction, and keeps a model of the result.
struct HalfDeletion {
    private(set) var oracle: ExactOracle
    let table: String
    let keys: [Int64]
    /// Keys of the remaining rows.
    let liveKeys: [Int64]
    /// Their indexes in the loaded table.
    let liveRows: [Int]

    /// The length of runs of rows that stay, and of runs that are deleted, for measurements of the size after a
    /// compaction: so long that most pages lose all of their rows. An engine that moves pages instead of rows cannot
    /// shrink half-full pages: with every second row deleted, `mdb_copy -c` would be judged for what it never does.
    static let blockRows = 512

    /// - Parameter run: number of adjacent rows that stay, and of those that are deleted.
    init(_ tables: TableSet, run: Int = 1) throws {
        guard case .integer(let keys)? = tables.main.keyColumn?.values else {
            throw HarnessError("\(tables.main.name) has no integer key")
        }
        oracle = ExactOracle(tables)
        table = tables.main.name
        // Runs are shorter in a small table, so that it has at least four.
        let run = max(1, min(run, keys.count / 4))
        self.keys = keys.enumerated().filter { ($0.offset / run) % 2 == 1 }.map(\.element)
        liveRows = keys.indices.filter { ($0 / run) % 2 == 0 }
        liveKeys = liveRows.map { keys[$0] }
    }

    /// The content after the deletion.
    var live: ExactOracle {
        var oracle = oracle
        oracle.delete(table: table, keys: keys)
        return oracle
    }

    /// Nanoseconds to the acknowledgement, and to the end of the close with all write-back.
    mutating func runAndClose(_ session: any DeletionSession) throws -> (acknowledged: UInt64, closed: UInt64) {
        let start = MonotonicClock.now()
        try session.delete(table: table, keys: keys)
        let acknowledged = MonotonicClock.now() - start
        try session.close()
        let closed = MonotonicClock.now() - start
        oracle.delete(table: table, keys: keys)
        return (acknowledged, closed)
    }

    /// Returns: nanoseconds to the acknowledgement.
    mutating func run(_ session: any DeletionSession) throws -> UInt64 {
        let start = MonotonicClock.now()
        try session.delete(table: table, keys: keys)
        let elapsed = MonotonicClock.now() - start
        oracle.delete(table: table, keys: keys)
        return elapsed
    }
}
