import RunRecords

/// A row of the table whose columns a new version of a program changes.
package struct ResidentRow: Hashable, Sendable {
    /// The key.
    package var number: Int64
    package var first: String
    package var last: String
    package var born: Int64

    package init(number: Int64, first: String, last: String, born: Int64) {
        self.number = number
        self.first = first
        self.last = last
        self.born = born
    }
}

/// What the new version of the program does to the table.
package enum ColumnChange: String, Sendable, CaseIterable {
    /// Adds an integer column `visits`, 0 in every row.
    case add
    /// Removes `born`.
    case remove
    /// Renames `last` to `surname`.
    case rename
    /// Adds a text column `name`: in each row `first`, a space and `last`.
    case rewrite

    /// The names of the columns after the change, in the order in which a row is read.
    package var columns: [String] {
        switch self {
        case .add: ["number", "first", "last", "born", "visits"]
        case .remove: ["number", "first", "last"]
        case .rename: ["number", "first", "surname", "born"]
        case .rewrite: ["number", "first", "last", "born", "name"]
        }
    }

    /// The values that a row must have after the change.
    package func values(of row: ResidentRow) -> [Value] {
        let start: [Value] = [.integer(row.number), .text(row.first), .text(row.last)]
        return switch self {
        case .add: start + [.integer(row.born), .integer(0)]
        case .remove: start
        case .rename: start + [.integer(row.born)]
        case .rewrite: start + [.integer(row.born), .text("\(row.first) \(row.last)")]
        }
    }
}

/// An engine that can change the columns of a table. Capability `columnChanges`.
package protocol ColumnChangingEngine: Engine {
    /// Adds the rows in one transaction, and closes the database. Creates it if there is none.
    func addResidents(
        _ rows: [ResidentRow], _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError)

    /// Opens the database as the new version of the program, which changes the columns, and closes it. The engine calls
    /// `changed` when the change is durable in the settings' class, and before the close.
    func change(
        _ change: ColumnChange, _ location: DatabaseLocation, settings: EngineSettings, changed: () -> Void
    ) throws(EngineError)

    /// Reads every row as the new version sees it, in the order of the numbers, until the body returns false.
    /// Throws: an error of kind `refused` if the columns are not those that the change must leave.
    func readResidents(
        after change: ColumnChange, _ location: DatabaseLocation, settings: EngineSettings,
        _ body: ([Value]) -> Bool
    ) throws(EngineError)
}
