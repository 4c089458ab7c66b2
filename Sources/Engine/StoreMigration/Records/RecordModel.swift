#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The key of a record within its model, the same in both stores.
public enum RecordKey: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    case integer(Int64)
    case text(String)

    public var description: String {
        switch self {
        case .integer(let value): String(value)
        case .text(let value): value
        }
    }

    /// Integers first, then text by its UTF-8 bytes.
    public static func < (a: RecordKey, b: RecordKey) -> Bool {
        switch (a, b) {
        case (.integer(let a), .integer(let b)): a < b
        case (.integer, .text): true
        case (.text, .integer): false
        case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
        }
    }
}

/// A record of either store.
public struct RecordID: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    public var model: String
    public var key: RecordKey

    public init(_ model: String, _ key: RecordKey) {
        self.model = model
        self.key = key
    }

    public init(_ model: String, _ key: Int) { self.init(model, .integer(Int64(key))) }
    public init(_ model: String, _ key: String) { self.init(model, .text(key)) }

    public var description: String { "\(model) \(key)" }

    public static func < (a: RecordID, b: RecordID) -> Bool {
        a.model == b.model ? a.key < b.key : a.model.utf8.lexicographicallyPrecedes(b.model.utf8)
    }
}

/// The type of a field.
public enum FieldKind: Hashable, Sendable {
    case boolean, integer, real, text, data, date
    /// 16 bytes.
    case uuid
    /// The key of one record of a model.
    case link(to: String)
    /// The keys of many; without an order, they are compared as a multiset.
    case links(to: String, isOrdered: Bool)

    /// The default of a required value.
    var zero: FieldValue {
        switch self {
        case .boolean, .integer: .integer(0)
        case .real: .real(0)
        case .date: .date(0)
        case .text: .text("")
        case .data: .data(Data())
        case .uuid: .data(Data(count: 16))
        case .link: .null
        case .links: .links([])
        }
    }

    var isLink: Bool {
        switch self {
        case .link, .links: true
        default: false
        }
    }
}

/// A property that exists in both stores.
public struct RecordField: Hashable, Sendable {
    /// Its name in the class of the new store.
    public var name: String
    public var kind: FieldKind
    /// Whether the value may be null. Links always may.
    public var isOptional: Bool

    public init(_ name: String, _ kind: FieldKind, isOptional: Bool = false) {
        self.name = name
        self.kind = kind
        self.isOptional = isOptional || kind.isLink
    }
}

/// A class as both stores have it.
///
///     let users = RecordModel("User", key: "id", [RecordField("name", .text), RecordField("age", .integer)])
public struct RecordModel: Hashable, Sendable {
    /// The name of the class in the new store.
    public var name: String
    /// The primary key of that class.
    public var key: String
    public var hasIntegerKey: Bool
    /// Without the key. Hashes take values in this order.
    public var fields: [RecordField]

    public init(_ name: String, key: String, hasIntegerKey: Bool = false, _ fields: [RecordField]) {
        self.name = name
        self.key = key
        self.hasIntegerKey = hasIntegerKey
        self.fields = fields
    }

    public subscript(_ field: String) -> RecordField? { fields.first { $0.name == field } }

    /// A record with all fields: zeros for required values, null for others.
    func filled(_ record: Record) -> Record {
        var filled = record
        for field in fields where record.values[field.name] == nil {
            var isMany = false
            if case .links = field.kind { isMany = true }
            filled.values[field.name] = field.isOptional && !isMany ? .null : field.kind.zero
        }
        return filled
    }

    /// The record without its links, which can be written before their targets exist.
    func withoutLinks(_ record: Record) -> Record {
        Record(record.id, record.values.filter { self[$0.key]?.kind.isLink == false })
    }

    /// Sorts the keys of unordered lists, so that equal lists compare equal.
    func sorted(_ record: Record) -> Record {
        var sorted = record
        for (name, value) in record.values {
            guard case .links(let keys) = value, case .links(_, isOrdered: false)? = self[name]?.kind else { continue }
            sorted.values[name] = .links(keys.sorted())
        }
        return sorted
    }

    func accepts(_ key: RecordKey) -> Bool {
        switch key {
        case .integer: hasIntegerKey
        case .text(let text): !hasIntegerKey && !text.utf8.contains(0)
        }
    }
}
