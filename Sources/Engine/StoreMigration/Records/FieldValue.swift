#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A value in the form in which both stores are compared.
public enum FieldValue: Hashable, Sendable, Codable {
    case null
    /// Integers and booleans.
    case integer(Int64)
    case real(Double)
    case text(String)
    /// Data, and the bytes of a UUID.
    case data(Data)
    /// Seconds since 2001-01-01 00:00 UTC, which is what both Core Data and Strata keep.
    case date(Double)
    case link(RecordKey)
    case links([RecordKey])

    public static func == (a: FieldValue, b: FieldValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        // Compared by bits: 0.0 and -0.0 differ, and NaN equals itself.
        case (.real(let a), .real(let b)), (.date(let a), .date(let b)): a.bitPattern == b.bitPattern
        // Compared by bytes: `==` of strings treats é and e with a combining accent as equal.
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.data(let a), .data(let b)): a == b
        case (.link(let a), .link(let b)): a == b
        case (.links(let a), .links(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value), .date(let value): hasher.combine(value.bitPattern)
        case .text(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .data(let value): hasher.combine(value)
        case .link(let key): hasher.combine(key)
        case .links(let keys): hasher.combine(keys)
        }
    }

    /// The number as SQLite returns it: a column does not keep the sign of a zero.
    var withoutSignOfZero: FieldValue {
        switch self {
        case .real(let value) where value == 0: .real(0)
        case .date(let value) where value == 0: .date(0)
        default: self
        }
    }

    /// Whether a field of this kind can hold the value.
    func fits(_ kind: FieldKind) -> Bool {
        switch (self, kind) {
        case (.integer(let value), .boolean): value == 0 || value == 1
        case (.integer, .integer), (.text, .text), (.data, .data), (.link, .link), (.links, .links): true
        // SQLite stores NaN as null.
        case (.real(let value), .real), (.date(let value), .date): !value.isNaN
        case (.data(let value), .uuid): value.count == 16
        default: false
        }
    }
}
