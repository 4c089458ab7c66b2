/// A version of the whole store; 0 is the empty store before the first commit.
package struct TransactionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var rawValue: UInt64

    @inline(__always)
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    package var next: Self { Self(rawValue + 1) }
    package var description: String { "v\(rawValue)" }
}

/// A 4 KiB page of the data file, counted from 0.
package struct PageNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var rawValue: UInt32

    @inline(__always)
    package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    package var description: String { "page \(rawValue)" }
}

/// Identity of a table. It survives renaming. A new table gets the id of a removed one only after the store has used
/// up all ids.
package struct TableID: Hashable, Comparable, Sendable {
    package var rawValue: UInt32

    package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Identity of a column within its table. It survives renaming. A new column gets the id of a removed one only after
/// the store has used up all ids, and no row group of the table has values under that id any more.
package struct ColumnID: Hashable, Comparable, Sendable {
    package var rawValue: UInt16

    package init(_ rawValue: UInt16) { self.rawValue = rawValue }

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Key by which rows of a table are ordered and found. An integer primary key is used as it is.
package struct RowKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var rawValue: Int64

    @inline(__always)
    package init(_ rawValue: Int64) { self.rawValue = rawValue }

    @inline(__always)
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    package var description: String { "\(rawValue)" }
}
