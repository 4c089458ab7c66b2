import StrataStorage

/// A value in the form of a column: typed properties, dynamic access, lists and queries exchange it.
public enum _StoredValue: Hashable, Sendable {
    case null
    /// Integers and booleans.
    case integer(Int64)
    /// Doubles, floats, and dates as seconds since the reference date.
    case double(Double)
    case text(String)
    /// Data, UUID, ObjectId.
    case bytes([UInt8])
    case decimal(Decimal128)
    /// The key of the linked row.
    case link(Int64)

    var isNaN: Bool {
        if case .double(let number) = self { return number.isNaN }
        return false
    }

    package var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// Calls `body` with the value as a cell, which is valid only during the call.
    package func withCell<Value, Failure: Error>(
        _ body: (Cell) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch self {
        case .null: return try body(.null)
        case .integer(let value): return try body(.integer(value))
        case .link(let value): return try body(.integer(value))
        case .double(let value): return try body(.double(value))
        case .bytes(let value): return try Cell.withCopy(of: value, body)
        case .text(let value): return try Cell.withText(value, body)
        case .decimal(let value): return try Cell.withCopy(of: value.storedBytes, body)
        }
    }

    /// The order of queries and sorts: null first, then by value; text by its UTF-8 bytes, which is the order of its
    /// Unicode scalars.
    package static func precedes(_ a: Self, _ b: Self) -> Bool {
        switch (a, b) {
        case (.null, .null): return false
        case (.null, _): return true
        case (_, .null): return false
        case (.text(let a), .text(let b)): return a.utf8.lexicographicallyPrecedes(b.utf8)
        case (.bytes(let a), .bytes(let b)): return a.lexicographicallyPrecedes(b)
        case (.integer(let a), .integer(let b)), (.link(let a), .link(let b)): return a < b
        case (.decimal, _), (_, .decimal):
            guard let first = Decimal128._from(a), let second = Decimal128._from(b) else { return a.rank < b.rank }
            return first < second
        default:
            guard let first = a.number, let second = b.number else { return a.rank < b.rank }
            return first < second
        }
    }

    /// The order of the types, for columns of any type.
    private var rank: Int {
        switch self {
        case .null: return 0
        case .integer, .double, .decimal: return 1
        case .text: return 2
        case .bytes: return 3
        case .link: return 4
        }
    }

    /// An integer, a double or a decimal as a double; nil for other values.
    package var number: Double? {
        switch self {
        case .integer(let value): return Double(value)
        case .double(let value): return value
        case .decimal(let value): return value.doubleValue
        default: return nil
        }
    }

    /// Equality in queries: an integer equals the double of the same value.
    package func matches(_ other: Self) -> Bool {
        switch (self, other) {
        case (.integer(let a), .double(let b)), (.double(let b), .integer(let a)): return Double(a) == b
        case (.double(let a), .double(let b)): return a == b
        case (.integer(let a), .link(let b)), (.link(let a), .integer(let b)): return a == b
        case (.text(let a), .text(let b)): return a.utf8.elementsEqual(b.utf8)
        case (.decimal(let a), .integer), (.decimal(let a), .double): return Decimal128._from(other) == a
        case (.integer, .decimal(let b)), (.double, .decimal(let b)): return Decimal128._from(self) == b
        default: return self == other
        }
    }
}
