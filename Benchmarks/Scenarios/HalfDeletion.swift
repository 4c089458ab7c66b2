import Harness
import Measuring
import RunRecords

/// Deletes every second row of the main table in one transaction, with the model that goes along with it.
struct HalfDeletion {
    private(set) var oracle: ExactOracle
    let table: String
    let keys: [Int64]

    init(_ tables: TableSet) throws {
        guard case .integer(let keys)? = tables.main.keyColumn?.values else {
            throw HarnessError("\(tables.main.name) has no integer key")
        }
        oracle = ExactOracle(tables)
        table = tables.main.name
        self.keys = keys.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
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
