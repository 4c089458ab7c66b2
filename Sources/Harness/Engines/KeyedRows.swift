import Measuring
import RunRecords

/// What a program does to single rows: known before it begins, as its source code is.
package struct KeyedRows: Sendable {
    package var table: String
    /// Read of every row, in this order: integers, reals and texts.
    package var columns: [String]
    /// The integer column that is changed; one of those that are read.
    package var changed: String

    package init(table: String, columns: [String], changed: String) {
        self.table = table
        self.columns = columns
        self.changed = changed
    }
}

/// Rows by integer primary key, one operation per call: what a program does that answers one request after the other.
/// Capability `keyed-rows`.
///
/// No call holds a clock, since its caller has to know when each of them began and ended. What can be prepared once
/// (statements, places of columns) is: a call holds what a program would do for each request, and no more. Every
/// operation sees the newest version, and every change is a transaction of its own.
package protocol KeyedRowSession: Session {
    /// Called once, before the others.
    func prepareRows(_ rows: KeyedRows) throws(EngineError)

    /// The columns of a row. A key that is not there adds nothing, or is refused.
    func readRow(_ key: Int64) throws(EngineError) -> ReadDigest

    /// The columns of all rows whose keys stand in the range, from one version.
    func readRows(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest

    /// Sets the changed column.
    func setRow(_ key: Int64, to value: Int64) throws(EngineError)

    /// Reads the columns, adds 1 to the changed one and writes it back, in one transaction. What it read is the result.
    func incrementRow(_ key: Int64) throws(EngineError) -> ReadDigest
}

extension KeyedRows {
    package static let notPrepared = EngineError(.refused, "no rows were prepared")

    package func missing(_ key: Int64) -> EngineError { EngineError(.refused, "table \(table) has no row \(key)") }
}
