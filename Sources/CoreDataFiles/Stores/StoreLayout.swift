/// Where the rows of a store of Core Data stand: a table per hierarchy of entities, and a table per many-to-many.
package struct StoreLayout: Sendable {
    /// Z_UUID of Z_METADATA.
    package var uuid: String
    /// By number; system entities, from 16001 on, are not among them.
    package var entities: [StoredEntity]
    package var hierarchies: [StoredHierarchy]
    package var joins: [StoredJoin]
    /// Ordered one-to-many relationships: the order stands on the many side.
    package var orders: [StoredOrder]
    /// System entities that are left out, by name.
    package var leftOut: [String]
    package var hasHistory: Bool
    /// What is worth saying: what was guessed, ignored, or does not fit.
    package var notes: [String]

    package func entity(_ number: Int64) -> StoredEntity? { entities.first { $0.number == number } }
    package func entity(named name: String) -> StoredEntity? { entities.first { $0.name == name } }
    package func hierarchy(of entity: String) -> Int? {
        hierarchies.firstIndex { $0.entities.contains { $0.name == entity } }
    }
}

/// A row of Z_PRIMARYKEY.
package struct StoredEntity: Sendable, Equatable {
    package var number: Int64
    package var name: String
    /// 0 for the first of a hierarchy.
    package var superNumber: Int64
    /// Of the hierarchy, in the row of its first entity.
    package var maxKey: Int64
    package var isAbstract = false
}

/// A table of rows: an entity and all that are below it.
package struct StoredHierarchy: Sendable {
    /// The entity above all others of the table. Its name is the class's.
    package var root: StoredEntity
    /// The root, and all below it, by number.
    package var entities: [StoredEntity]
    package var table: String
    package var attributes: [StoredAttribute]
    package var links: [StoredLink]
    /// More than one entity can have rows here.
    package var isMixed: Bool { entities.count > 1 }
}

/// An attribute and its column.
package struct StoredAttribute: Sendable {
    /// As the class has it: unique within the hierarchy.
    package var name: String
    package var entity: String
    package var attribute: CoreDataAttribute
    package var column: String
    /// Whether a row may be without one: the model says so, an entity beside it has rows here, or a null was found.
    package var isOptional: Bool
    /// Values begin with a byte that says whether they stand here or in a file.
    package var isExternal: Bool
}

/// A to-one relationship and its columns.
package struct StoredLink: Sendable {
    package var name: String
    package var entity: String
    package var relationship: CoreDataRelationship
    package var column: String
    /// The column with the number of the target's entity, where targets may be of several.
    package var entityColumn: String?
    /// Position in ``StoreLayout/hierarchies``.
    package var target: Int
}

/// A many-to-many relationship. It belongs to the side whose number its table's name begins with.
package struct StoredJoin: Sendable {
    package var name: String
    package var table: String
    /// Positions in ``StoreLayout/hierarchies``.
    package var owner: Int
    package var target: Int
    package var ownerColumn: String
    package var targetColumn: String
    /// Where the owner's targets, and the target's owners, have an order.
    package var ownerOrderColumn: String?
    package var targetOrderColumn: String?
    /// As the other side calls it; nil where that is not known.
    package var inverseName: String?
    package var relationship: CoreDataRelationship?
}

/// The order of a one-to-many relationship: `column` of the many side's link, and the place among those that lead to
/// the same row.
package struct StoredOrder: Sendable {
    package var name: String
    /// The one side, which has the list. Position in ``StoreLayout/hierarchies``.
    package var owner: Int
    /// The many side.
    package var target: Int
    package var linkColumn: String
    package var orderColumn: String
    package var relationship: CoreDataRelationship
}
