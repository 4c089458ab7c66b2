import Seeds

/// Strings of a column, concatenated in one buffer: a million rows take two allocations.
package struct TextColumn: Sendable, Equatable {
    package private(set) var bytes: [UInt8] = []
    /// The end of each string in `bytes`. A string begins at the end of the one before.
    package private(set) var ends: [Int] = []

    package init() {}

    package init(_ strings: some Sequence<String>) {
        for string in strings {
            append(string)
        }
    }

    package mutating func append(_ string: String) {
        bytes.append(contentsOf: string.utf8)
        ends.append(bytes.count)
    }

    package mutating func append(utf8 text: some Sequence<UInt8>) {
        bytes.append(contentsOf: text)
        ends.append(bytes.count)
    }

    package mutating func reserve(rows: Int, bytesPerRow: Int) {
        ends.reserveCapacity(rows)
        bytes.reserveCapacity(rows * bytesPerRow)
    }

    package var count: Int { ends.count }

    package func range(_ row: Int) -> Range<Int> {
        (row == 0 ? 0 : ends[row - 1])..<ends[row]
    }

    package subscript(row: Int) -> String {
        String(decoding: bytes[range(row)], as: UTF8.self)
    }

    /// The UTF-8 of a row, valid during the call.
    package func withUTF8<Result>(_ row: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result
    {
        let range = range(row)
        return try bytes.withUnsafeBufferPointer { buffer in
            try body(UnsafeBufferPointer(rebasing: buffer[range]))
        }
    }
}

/// Lists of links: those of row r are `targets[ends[r - 1] ..< ends[r]]`.
package struct LinkListColumn: Sendable, Equatable {
    /// Row indexes in the target table.
    package private(set) var targets: [Int32] = []
    package private(set) var ends: [Int] = []

    package init() {}

    package mutating func append(_ row: some Sequence<Int32>) {
        targets.append(contentsOf: row)
        ends.append(targets.count)
    }

    package var count: Int { ends.count }

    package subscript(row: Int) -> ArraySlice<Int32> {
        targets[(row == 0 ? 0 : ends[row - 1])..<ends[row]]
    }
}

/// The values of one column.
package enum ColumnValues: Sendable, Equatable {
    case integer([Int64])
    case real([Double])
    case text(TextColumn)
    /// At most one link per row: a row index in the target table, or -1 for none.
    case link(target: String, [Int32])
    case links(target: String, LinkListColumn)

    package var count: Int {
        switch self {
        case .integer(let values): values.count
        case .real(let values): values.count
        case .text(let values): values.count
        case .link(_, let values): values.count
        case .links(_, let values): values.count
        }
    }
}

package struct Column: Sendable, Equatable {
    package var name: String
    package var values: ColumnValues
    /// Whether the engine should keep an index on it, if it can.
    package var isIndexed: Bool

    package init(_ name: String, _ values: ColumnValues, isIndexed: Bool = false) {
        self.name = name
        self.values = values
        self.isIndexed = isIndexed
    }
}

/// One value of a row. A link is a row index of the data set, whatever the engine stores for it.
@usableFromInline
package enum Value: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case link(Int)
    case links([Int])
}

/// A table of a data set, stored by columns. Row indexes are 0 ..< rowCount; links refer to them.
@usableFromInline
package struct Table: Sendable, Equatable {
    @usableFromInline
    package var name: String
    /// The name of the primary key's column; nil for a table whose rows are reached only by links.
    package var key: String?
    package var columns: [Column]

    package init(name: String, key: String?, columns: [Column]) {
        precondition(!columns.isEmpty, "a table without columns")
        precondition(columns.allSatisfy { $0.values.count == columns[0].values.count }, "columns differ in length")
        self.name = name
        self.key = key
        self.columns = columns
    }

    @usableFromInline
    package var rowCount: Int { columns[0].values.count }

    package func column(_ name: String) -> Column? {
        columns.first { $0.name == name }
    }

    package func columnIndex(_ name: String) -> Int? {
        columns.firstIndex { $0.name == name }
    }

    package var keyColumn: Column? {
        key.flatMap { column($0) }
    }

    package func value(row: Int, column: Int) -> Value {
        switch columns[column].values {
        case .integer(let values): .integer(values[row])
        case .real(let values): .real(values[row])
        case .text(let values): .text(values[row])
        case .link(_, let values): values[row] < 0 ? .null : .link(Int(values[row]))
        case .links(_, let values): .links(values[row].map { Int($0) })
        }
    }

    package func values(row: Int) -> [Value] {
        columns.indices.map { value(row: row, column: $0) }
    }
}

/// All tables of a data set.
@usableFromInline
package struct TableSet: Sendable, Equatable {
    package var dataset: String
    /// In any order: a table may link to tables before it and after it.
    @usableFromInline
    package var tables: [Table]
    /// A digest of the content, which the report shows for data from a file of the machine.
    package var digest: UInt64
    /// Whether results on this data may be compared between machines. Generated data is equal everywhere; data from a
    /// file is not.
    package var isComparable: Bool
    /// The rows of a file that its reader left out, each with its line and the reason: `bulk-insert` reports them.
    package var rejected: [String]

    package init(
        dataset: String, tables: [Table], digest: UInt64, isComparable: Bool = true, rejected: [String] = []
    ) {
        self.dataset = dataset
        self.tables = tables
        self.digest = digest
        self.isComparable = isComparable
        self.rejected = rejected
    }

    package func table(_ name: String) -> Table? {
        tables.first { $0.name == name }
    }

    /// The first table. The size of the data set is its number of rows.
    package var main: Table { tables[0] }
}

/// A source of a data set. One value per data set, registered by name.
package protocol DatasetSource: Sendable {
    var name: String { get }
    /// One line for `assay list`.
    var summary: String { get }
    /// Rows of the main table unless the plan says otherwise; nil if the data itself decides.
    var defaultSize: Int? { get }
    /// Throws: `DatasetError` if the data of this machine is missing or unreadable.
    func tables(size: Int?, seed: Seed) throws -> TableSet
    /// Whether its tables are known at compile time, so that a typed engine has classes for them; false for a user's
    /// file.
    var isTyped: Bool { get }
    /// Why this machine lacks the data set, with the remedy; nil if it has it. Cases with a missing data set are
    /// `not-applicable`.
    var unavailableReason: String? { get }
}

extension DatasetSource {
    package var isTyped: Bool { true }
    package var unavailableReason: String? { nil }
}

package struct DatasetError: Error, CustomStringConvertible {
    package var message: String

    package init(_ message: String) {
        self.message = message
    }

    package var description: String { message }
}

/// The data sets that this build has.
package struct DatasetRegistry: Sendable {
    package private(set) var sources: [any DatasetSource] = []

    package init() {}

    package mutating func register(_ source: any DatasetSource) {
        precondition(!sources.contains { $0.name == source.name }, "data set \(source.name) is registered twice")
        sources.append(source)
    }

    package func source(named name: String) -> (any DatasetSource)? {
        sources.first { $0.name == name }
    }
}
