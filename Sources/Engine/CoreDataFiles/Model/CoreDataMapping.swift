import JSONText

/// The user's statements about entities and properties, which override every other source.
///
///     {
///       entities: {
///         Note: {
///           class: "Memo", key: "identifier",
///           attributes: { body: { type: "string", column: "ZBODY1", name: "text" } },
///           relationships: { folder: { target: "Folder", inverse: "notes", column: "ZFOLDER" } },
///         },
///       },
///       unknownEntities: "leaveOut",
///     }
package struct CoreDataMapping: Sendable {
    package struct Entity: Sendable {
        /// The class in the new file.
        package var className: String?
        /// The attribute that becomes the primary key.
        package var key: String?
        package var attributes: [String: Attribute] = [:]
        package var relationships: [String: Relationship] = [:]
    }

    package struct Attribute: Sendable {
        package var type: CoreDataType?
        package var column: String?
        package var name: String?
        package var isOptional: Bool?
        package var isExternal: Bool?
        package var isDecoded: Bool?
    }

    package struct Relationship: Sendable {
        package var target: String?
        package var inverse: String?
        package var column: String?
        package var name: String?
        package var isToMany: Bool?
        package var isOrdered: Bool?
        package var deleteRule: CoreDataDeleteRule?
    }

    package var entities: [String: Entity] = [:]
    /// Rows whose Z_ENT is not an entity of their table are left out and counted, instead of refused.
    package var leavesUnknownOut = false
    /// Blobs whose files are missing are null, and counted, instead of refused.
    package var leavesBlobsOut = false

    package init() {}

    /// - Parameter path: for messages.
    package init(_ text: String, path: String) throws(CoreDataError) {
        let node: JSONNode
        do { node = try JSONReader.node(text, .json5) } catch {
            throw CoreDataError(.wrongInput, "\(path), \(error)")
        }
        let reader = MappingReader(path: path)
        for member in try reader.members(node, of: ["entities", "unknownEntities", "missingBlobs"]) {
            if member.name != "entities" {
                let leavesOut = try reader.choice(member.value, ["refuse", "leaveOut"]) == "leaveOut"
                if member.name == "missingBlobs" { leavesBlobsOut = leavesOut } else { leavesUnknownOut = leavesOut }
                continue
            }
            for entity in try reader.members(member.value) { entities[entity.name] = try reader.entity(entity.value) }
        }
    }
}

/// Reads the parts of a mapping, and names the place of an error.
private struct MappingReader {
    let path: String

    func failure(_ node: JSONNode, _ words: String) -> CoreDataError {
        CoreDataError(.wrongInput, "\(path), \(node.position): \(words)")
    }

    /// - Parameter known: nil for names of the user's own.
    func members(_ node: JSONNode, of known: [String]? = nil) throws(CoreDataError) -> [JSONNode.Member] {
        guard case .object(let members) = node.content else { throw failure(node, "an object was expected") }
        if let known, let other = members.first(where: { !known.contains($0.name) }) {
            throw CoreDataError(
                .wrongInput,
                "\(path), \(other.namePosition): \(other.name) is not known here; these are: "
                    + known.joined(separator: ", "))
        }
        return members
    }

    func string(_ node: JSONNode) throws(CoreDataError) -> String {
        guard case .string(let text) = node.content else { throw failure(node, "a string was expected") }
        return text
    }

    func bool(_ node: JSONNode) throws(CoreDataError) -> Bool {
        guard case .bool(let flag) = node.content else { throw failure(node, "true or false was expected") }
        return flag
    }

    func choice(_ node: JSONNode, _ words: [String]) throws(CoreDataError) -> String {
        let word = try string(node)
        guard words.contains(word) else {
            throw failure(node, "\(word) was given; one of these was expected: \(words.joined(separator: ", "))")
        }
        return word
    }

    func entity(_ node: JSONNode) throws(CoreDataError) -> CoreDataMapping.Entity {
        var entity = CoreDataMapping.Entity()
        for member in try members(node, of: ["class", "key", "attributes", "relationships"]) {
            switch member.name {
            case "class": entity.className = try string(member.value)
            case "key": entity.key = try string(member.value)
            case "attributes":
                for one in try members(member.value) { entity.attributes[one.name] = try attribute(one.value) }
            default:
                for one in try members(member.value) { entity.relationships[one.name] = try relationship(one.value) }
            }
        }
        return entity
    }

    private func attribute(_ node: JSONNode) throws(CoreDataError) -> CoreDataMapping.Attribute {
        var attribute = CoreDataMapping.Attribute()
        for member in try members(node, of: ["type", "column", "name", "optional", "external", "decode"]) {
            let value = member.value
            switch member.name {
            case "type":
                let word = try choice(value, CoreDataType.allCases.map(\.rawValue))
                attribute.type = CoreDataType(rawValue: word)
            case "column": attribute.column = try string(value)
            case "name": attribute.name = try string(value)
            case "optional": attribute.isOptional = try bool(value)
            case "external": attribute.isExternal = try bool(value)
            default: attribute.isDecoded = try bool(value)
            }
        }
        return attribute
    }

    private func relationship(_ node: JSONNode) throws(CoreDataError) -> CoreDataMapping.Relationship {
        var relationship = CoreDataMapping.Relationship()
        let known = ["target", "inverse", "column", "name", "many", "ordered", "deleteRule"]
        for member in try members(node, of: known) {
            let value = member.value
            switch member.name {
            case "target": relationship.target = try string(value)
            case "inverse": relationship.inverse = try string(value)
            case "column": relationship.column = try string(value)
            case "name": relationship.name = try string(value)
            case "many": relationship.isToMany = try bool(value)
            case "ordered": relationship.isOrdered = try bool(value)
            default:
                let words: [String: CoreDataDeleteRule] = [
                    "noAction": .noAction, "nullify": .nullify, "cascade": .cascade, "deny": .deny,
                ]
                relationship.deleteRule = words[try choice(value, words.keys.sorted())]
            }
        }
        return relationship
    }
}

extension CoreDataMapping {
    /// The model with this mapping's corrections.
    /// - Throws: `wrongInput` for entities that the model lacks, and for properties without a type or a target.
    func applied(to model: CoreDataModel) throws(CoreDataError) -> CoreDataModel {
        var model = model
        for (name, changes) in entities.sorted(by: { $0.key < $1.key }) {
            guard let index = model.entities.firstIndex(where: { $0.name == name }) else {
                throw CoreDataError(
                    .wrongInput,
                    "the mapping names the entity \(name); the store has "
                        + model.entities.map(\.name).joined(separator: ", "))
            }
            for (name, change) in changes.attributes.sorted(by: { $0.key < $1.key }) {
                try change.apply(name, to: &model.entities[index])
            }
            for (name, change) in changes.relationships.sorted(by: { $0.key < $1.key }) {
                try change.apply(name, to: &model.entities[index])
            }
        }
        return model
    }
}

extension CoreDataMapping.Attribute {
    fileprivate func apply(_ name: String, to entity: inout CoreDataEntity) throws(CoreDataError) {
        // Removes the guess about the same column.
        if let column {
            entity.attributes.removeAll { $0.column == column && $0.name != name }
            entity.relationships.removeAll { $0.column == column }
        }
        let known = entity.attributes.firstIndex { $0.name == name }
        guard let type = type ?? known.map({ entity.attributes[$0].type }) else {
            throw CoreDataError(.wrongInput, "the mapping gives no type for \(entity.name).\(name)")
        }
        var attribute =
            known.map { entity.attributes[$0] } ?? CoreDataAttribute(name, type, origin: .mapping)
        attribute.type = type
        attribute.origin = .mapping
        attribute.isTransient = false
        if let column { attribute.column = column }
        if let isOptional { attribute.isOptional = isOptional }
        if let isExternal { attribute.allowsExternal = isExternal }
        if let isDecoded { attribute.isDecoded = isDecoded }
        if let known { entity.attributes[known] = attribute } else { entity.attributes.append(attribute) }
    }
}

extension CoreDataMapping.Relationship {
    fileprivate func apply(_ name: String, to entity: inout CoreDataEntity) throws(CoreDataError) {
        if let column {
            entity.attributes.removeAll { $0.column == column }
            entity.relationships.removeAll { $0.column == column && $0.name != name }
        }
        let known = entity.relationships.firstIndex { $0.name == name }
        guard let target = target ?? known.map({ entity.relationships[$0].target }) else {
            throw CoreDataError(.wrongInput, "the mapping gives no target for \(entity.name).\(name)")
        }
        var relationship =
            known.map { entity.relationships[$0] }
            ?? CoreDataRelationship(name, to: target, inverse: inverse, isToMany: false, origin: .mapping)
        relationship.target = target
        relationship.origin = .mapping
        if let column { relationship.column = column }
        if let inverse { relationship.inverse = inverse }
        if let isToMany { relationship.isToMany = isToMany }
        if let isOrdered { relationship.isOrdered = isOrdered }
        if let deleteRule { relationship.deleteRule = deleteRule }
        if let known { entity.relationships[known] = relationship } else { entity.relationships.append(relationship) }
    }
}
