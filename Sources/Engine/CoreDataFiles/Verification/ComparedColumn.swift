import StrataStorage

/// A property in a comparison: its column on either side, and the rule by which it is read. It is derived from the
/// store's layout and the names in the new file, independently of the import's positions and conversions.
struct ComparedColumn {
    /// How a value enters the canonical hash. Each side has its own reader for every kind.
    enum Rule: Equatable {
        case integer
        /// 0 or 1.
        case flag
        /// A double by its bits; a date is seconds since 2001-01-01 on both sides.
        case number
        case text
        case uuid
        /// By value: digits without trailing zeros.
        case decimal
        case data(isExternal: Bool)
        /// A value of any type, as SQLite stores it.
        case any
        /// A value of any type, from a keyed archive.
        case archive(isExternal: Bool)
        /// The key of a row of another hierarchy, by its position.
        case link(Int)
        case entity
        case version
    }

    var name: String
    /// The store's column.
    var column: String
    var rule: Rule

    /// All properties of a hierarchy that have one value.
    /// - Parameter hasOwnKey: whether another property than Z_PK is the primary key, and Z_PK a plain property.
    static func all(_ hierarchy: StoredHierarchy, hasOwnKey: Bool) -> [ComparedColumn] {
        var all = [ComparedColumn(name: ClassLayout.versionName, column: "Z_OPT", rule: .version)]
        if hasOwnKey { all.append(ComparedColumn(name: ClassLayout.keyName, column: "Z_PK", rule: .integer)) }
        if hierarchy.entities.count > 1 {
            all.append(ComparedColumn(name: ClassLayout.entityName, column: "Z_ENT", rule: .entity))
        }
        for stored in hierarchy.attributes {
            all.append(ComparedColumn(name: stored.name, column: stored.column, rule: rule(stored)))
        }
        for link in hierarchy.links {
            all.append(ComparedColumn(name: link.name, column: link.column, rule: .link(link.target)))
        }
        return all
    }

    private static func rule(_ stored: StoredAttribute) -> Rule {
        switch stored.attribute.type {
        case .integer16, .integer32, .integer64: .integer
        case .boolean: .flag
        case .double, .float, .date: .number
        case .string, .uri, .objectID: .text
        case .uuid: .uuid
        case .decimal: .decimal
        case .any: .any
        case .transformable where stored.attribute.isDecoded: .archive(isExternal: stored.isExternal)
        case .data, .transformable: .data(isExternal: stored.isExternal)
        }
    }

    /// The column that the new file must have.
    var type: ColumnType {
        switch rule {
        case .integer, .flag, .version: .integer
        case .link: .link
        case .number: .double
        case .text, .uuid, .decimal, .data, .any, .archive, .entity: .bytes
        }
    }
}
