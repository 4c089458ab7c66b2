/// The tables of a store of Core Data: one per hierarchy of entities, and one per many-to-many relationship.
package struct StoreLayout: Sendable {
    /// Z_UUID of Z_METADATA.
    package var uuid: String
    /// By number; system entities, from 16001 on, are not among them.
    package var entities: [StoredEntity]
    package var hierarchies: [StoredHierarchy]
    package var joins: [StoredJoin]
    /// Ordered one-to-many relationships: the rows of the many side have the order.
    package var orders: [StoredOrder]
    /// System entities that are left out, by name.
    package var leftOut: [String]
    package var hasHistory: Bool
    /// Notes about guessed, ignored or inconsistent parts.
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
    /// The largest key of the hierarchy, in the row of its first entity.
    package var maxKey: Int64
    package var isAbstract = false
}

/// A table of rows: an entity and its descendants.
package struct StoredHierarchy: Sendable {
    /// The root entity of the table. Its name is the class's.
    package var root: StoredEntity
    /// The root and its descendants, by number.
    package var entities: [StoredEntity]
    package var table: String
    package var attributes: [StoredAttribute]
    package var links: [StoredLink]
    /// More than one entity can have rows here.
    package var isMixed: Bool { entities.count > 1 }
}

/// An attribute and its column.
package struct StoredAttribute: Sendable {
    /// The name in the class, unique within the hierarchy.
    package var name: String
    package var entity: String
    package var attribute: CoreDataAttribute
    package var column: String
    /// Whether the value may be null: the model allows it, or an entity below the root has the attribute, so that rows
    /// of other entities have none.
    package var isOptional: Bool
    /// Values begin with a byte that tells inline from external.
    package var isExternal: Bool
}

/// A to-one relationship and its columns.
package struct StoredLink: Sendable {
    package var name: String
    package var entity: String
    package var relationship: CoreDataRelationship
    package var column: String
    /// The column with the target's entity number, for targets of several entities.
    package var entityColumn: String?
    /// Position in ``StoreLayout/hierarchies``.
    package var target: Int
}

/// A many-to-many relationship. Its owner, which has the list, is the side whose number the table's name begins with;
/// the other side if only that one is ordered.
package struct StoredJoin: Sendable {
    package var name: String
    package var table: String
    /// Positions in ``StoreLayout/hierarchies``.
    package var owner: Int
    package var target: Int
    package var ownerColumn: String
    package var targetColumn: String
    /// The order columns of the owner's targets and of the target's owners, if any.
    package var ownerOrderColumn: String?
    package var targetOrderColumn: String?
    /// The name on the other side; nil if unknown.
    package var inverseName: String?
    package var relationship: CoreDataRelationship?
}

/// An ordered one-to-many relationship. A row of the many side has its link in `linkColumn`, and its place among the
/// rows with the same link in `orderColumn`.
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
