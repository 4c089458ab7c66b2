import Measuring
import RunRecords

/// What a program does with single rows. The adapter knows it in advance, as a program does from its source code.
package struct KeyedRows: Sendable {
    package var table: String
    /// The columns that are read of every row, in this order: integers, reals and texts.
    package var columns: [String]
    /// The integer column that changes set; one of `columns`.
    package var changed: String

    package init(table: String, columns: [String], changed: String) {
        self.table = table
        self.columns = columns
        self.changed = changed
    }
}

/// Rows by integer primary key, one operation per call, as a program does that serves requests one by one.
/// Capability `keyed-rows`.
///
/// Calls read no clock, because their caller must know when each began and ended. Adapters prepare statements and
/// column positions in advance: a call does only what a program would do per request. Every operation sees the newest
/// version, and every change is a transaction of its own.
package protocol KeyedRowSession: Session {
    /// Called once, before all other calls of this protocol.
    func prepareRows(_ rows: KeyedRows) throws(EngineError)

    /// Reads the columns of a row. For a missing key the digest is empty, or the engine refuses.
    func readRow(_ key: Int64) throws(EngineError) -> ReadDigest

    /// Reads the columns of all rows with keys in the range, from one version.
    func readRows(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest

    /// Sets the changed column of a row.
    func setRow(_ key: Int64, to value: Int64) throws(EngineError)

    /// Reads the columns, adds 1 to the changed one and writes it back, in one transaction. Returns what it read.
    func incrementRow(_ key: Int64) throws(EngineError) -> ReadDigest
}

extension KeyedRows {
    package static let notPrepared = EngineError(.refused, "no rows were prepared")
    package static let noNextKey = EngineError(.refused, "the table's largest key is the largest integer")
}
