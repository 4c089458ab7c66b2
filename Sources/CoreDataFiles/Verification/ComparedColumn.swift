import StrataStorage

/// A property as a comparison sees it: where its value stands on either side, and by which rule it is read. It is made
/// from the store's layout, and from the names in the new file: positions and conversions of the import are not asked.
struct ComparedColumn {
    /// How a value becomes part of the canonical hash. Both sides have a reader of their own for each.
    enum Rule: Equatable {
        case integer
        /// 0 or 1.
        case flag
        /// A double by its bits; a date is seconds since 2001-01-01 on both sides.
        case number
        case text
        case uuid
        /// By its value: digits without zeros at the end.
        case decimal
        case data(isExternal: Bool)
        /// A value of any type, as SQLite has it.
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
    /// - Parameter hasOwnKey: another property than Z_PK is the primary key, so that Z_PK is one beside it.
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

    /// What the new file must have.
    var type: ColumnType {
        switch rule {
        case .integer, .flag, .version: .integer
        case .link: .link
        case .number: .double
        case .text, .uuid, .decimal, .data, .any, .archive, .entity: .bytes
        }
    }
}
