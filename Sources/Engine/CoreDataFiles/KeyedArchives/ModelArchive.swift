/// Reads a compiled model: the contents of a `.mom` file, or of Z_MODELCACHE after inflating.
package enum ModelArchive {
    /// - Returns: nil for bytes that are not an archive of a model.
    package static func model(_ bytes: [UInt8], origin: CoreDataModel.Origin) -> CoreDataModel? {
        guard let archive = KeyedArchive(bytes), let root = archive.root,
            let table = archive.object(root, "NSEntities")
        else { return nil }
        var entities: [CoreDataEntity] = []
        var properties = 0
        for object in values(archive, table) ?? [] where archive.className(object) == "NSEntityDescription" {
            guard let entity = entity(archive, object, origin) else { return nil }
            entities.append(entity)
            properties += entity.attributes.count + entity.relationships.count
            guard entities.count <= mostEntities, properties <= mostProperties else { return nil }
        }
        guard !entities.isEmpty, Set(entities.map(\.name)).count == entities.count else { return nil }
        entities.sort { $0.name < $1.name }
        return CoreDataModel(entities: entities, origin: origin).withoutRepeated
    }

    /// Bounded, since entities with shared properties could otherwise expand beyond memory.
    private static let mostEntities = 5_000
    private static let mostProperties = 200_000

    /// The values of a dictionary, of either class used in models.
    private static func values(_ archive: KeyedArchive, _ table: KeyedArchive.Object) -> [KeyedArchive.Object]? {
        if let pairs = archive.pairs(table) { return pairs.map(\.value) }
        return archive.object(table, "values").flatMap { archive.elements($0) } ?? archive.elements(table, "values")
    }

    private static func entity(
        _ archive: KeyedArchive, _ object: KeyedArchive.Object, _ origin: CoreDataModel.Origin
    ) -> CoreDataEntity? {
        guard let name = archive.string(object, "NSEntityName") else { return nil }
        var entity = CoreDataEntity(
            name: name,
            superName: archive.object(object, "NSSuperentity").flatMap { archive.string($0, "NSEntityName") })
        entity.isAbstract = archive.integer(object, "NSIsAbstract") == 1
        let properties = archive.object(object, "NSProperties").flatMap { values(archive, $0) } ?? []
        for property in properties {
            // Properties of a parent entity may be repeated here.
            if let owner = archive.object(property, "NSEntity"), archive.string(owner, "NSEntityName") != name {
                continue
            }
            // Other classes are placeholders for a parent's properties, and fetched properties, which have no column.
            let kind = archive.className(property)
            let isAttribute = kind == "NSAttributeDescription" || kind == "NSDerivedAttributeDescription"
            guard isAttribute || kind == "NSRelationshipDescription" else { continue }
            guard let propertyName = archive.string(property, "NSPropertyName") else { return nil }
            if isAttribute {
                entity.attributes.append(attribute(archive, property, name: propertyName, origin: origin))
            } else if archive.integer(property, "NSIsTransient") != 1,
                let relationship = relationship(archive, property, name: propertyName, origin: origin)
            {
                entity.relationships.append(relationship)
            }
        }
        entity.attributes.sort { $0.name < $1.name }
        entity.relationships.sort { $0.name < $1.name }
        return entity
    }

    private static func attribute(
        _ archive: KeyedArchive, _ object: KeyedArchive.Object, name: String, origin: CoreDataModel.Origin
    ) -> CoreDataAttribute {
        let number = archive.integer(object, "NSAttributeType") ?? 0
        var attribute = CoreDataAttribute(
            name, CoreDataType(attributeType: number) ?? .any,
            isOptional: archive.integer(object, "NSIsOptional") == 1, origin: origin)
        attribute.isTransient = archive.integer(object, "NSIsTransient") == 1 || number == 0
        if let allows = archive.integer(object, "NSAllowsExternalBinaryDataStorage") {
            attribute.allowsExternal = allows == 1
        }
        return attribute
    }

    private static func relationship(
        _ archive: KeyedArchive, _ object: KeyedArchive.Object, name: String, origin: CoreDataModel.Origin
    ) -> CoreDataRelationship? {
        guard
            let target = archive.string(object, "_NSDestinationEntityName")
                ?? archive.object(object, "NSDestinationEntity").flatMap({ archive.string($0, "NSEntityName") })
        else { return nil }
        let inverse =
            archive.string(object, "_NSInverseRelationshipName")
            ?? archive.object(object, "NSInverseRelationship").flatMap { archive.string($0, "NSPropertyName") }
        // 0 means any number.
        var relationship = CoreDataRelationship(
            name, to: target, inverse: inverse, isToMany: archive.integer(object, "NSMaxCount") ?? 0 != 1,
            origin: origin)
        relationship.isOptional = archive.integer(object, "NSIsOptional") == 1
        relationship.isOrdered = archive.integer(object, "NSIsOrdered") == 1
        relationship.deleteRule = archive.integer(object, "NSDeleteRule").flatMap(CoreDataDeleteRule.init) ?? .nullify
        return relationship
    }
}
