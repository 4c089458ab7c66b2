import StrataStorage

/// The object layer's description of a property, in its column's `tag`. Permanent: docs/file-format-objects.md.
struct ColumnTag: Equatable {
    var type: PropertyType
    var collection: _PropertyCollection
    var isOptional: Bool
    var isPrimary: Bool

    init(type: PropertyType, collection: _PropertyCollection, isOptional: Bool, isPrimary: Bool) {
        self.type = type
        self.collection = collection
        self.isOptional = isOptional
        self.isPrimary = isPrimary
    }

    /// Nil for a tag written by a newer version.
    init?(rawValue: UInt32) {
        guard let type = PropertyType(rawValue: UInt8(rawValue & 0xFF)),
            let collection = _PropertyCollection(rawValue: UInt8(rawValue >> 8 & 0xF)), rawValue >> 14 == 0
        else { return nil }
        self.type = type
        self.collection = collection
        isOptional = rawValue >> 12 & 1 == 1
        isPrimary = rawValue >> 13 & 1 == 1
    }

    var rawValue: UInt32 {
        UInt32(type.rawValue) | UInt32(collection.rawValue) << 8 | (isOptional ? 1 << 12 : 0)
            | (isPrimary ? 1 << 13 : 0)
    }

    /// The storage type of the property.
    var columnType: ColumnType {
        if collection != .none { return type == .object ? .links : .bytes }
        switch type {
        case .int, .bool: return .integer
        case .float, .double, .date: return .double
        case .object: return .link
        case .string, .data, .objectId, .UUID, .decimal128, .any, .linkingObjects: return .bytes
        }
    }

    /// Storage's description of the collections in the column; nil for a column of single values.
    var elements: CollectionColumn? {
        if collection == .none { return nil }
        let element: CollectionColumn.Element =
            switch type {
            case .int, .bool, .object: .integer
            case .float, .double, .date: .double
            case .string: .text
            case .data, .objectId, .UUID, .linkingObjects: .data
            // Equal decimals may have different bytes, so storage must not tell them apart by their bytes.
            case .decimal128: .opaque
            case .any: .any
            }
        return CollectionColumn(
            element, isKeyed: collection == .map, isSorted: collection == .set,
            allowsNulls: type == .object ? collection == .map : isOptional)
    }

    /// Whether the property's values may hold nested lists and maps.
    var takesNested: Bool { type == .any && collection != .set }

    /// A list or a map inside a value of any type.
    static func nested(isKeyed: Bool) -> ColumnTag {
        ColumnTag(type: .any, collection: isKeyed ? .map : .list, isOptional: true, isPrimary: false)
    }

    /// The bits that storage gives for rows that are older than the column: 1970-01-01 for a required date. Nil for
    /// other types, whose default is zero, no bytes or null.
    var defaultBits: UInt64? {
        type == .date && !isOptional && collection == .none ? (-978_307_200.0 as Double).bitPattern : nil
    }

    func index(isIndexed: Bool) -> IndexKind {
        // Equal decimals may have different bytes, and values of any type have no order in storage: queries test both
        // row by row.
        guard isIndexed || isPrimary, collection == .none, ![.object, .decimal128, .any].contains(type) else {
            return .none
        }
        return columnType == .bytes ? .hash : .ordered
    }
}

/// The object layer's description of a class, in its table's `tag`.
enum TableTag {
    static let noPrimaryKey: UInt32 = 0
    /// The row's key is the primary key; the property's name is in the table's `information`, as UTF-8.
    static let primaryKeyIsRowKey: UInt32 = 1
    /// The primary key is the column whose tag has the primary flag.
    static let primaryKeyIsColumn: UInt32 = 2
    /// Each row belongs to the one row that links to it.
    static let embedded: UInt32 = 3
}

extension TableDefinition {
    /// The name of the property that is the row's key.
    var rowKeyProperty: String? {
        tag == TableTag.primaryKeyIsRowKey ? String(decoding: information, as: UTF8.self) : nil
    }

    /// The primary key's name, in either form.
    var primaryKeyName: String? {
        rowKeyProperty ?? columns.first { ColumnTag(rawValue: $0.tag)?.isPrimary == true }?.name
    }
}
