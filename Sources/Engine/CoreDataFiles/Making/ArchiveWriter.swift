/// Writes a model as the keyed archive that ``ModelArchive`` reads, for stores that are made for tests.
package enum ArchiveWriter {
    private indirect enum Node {
        case bool(Bool)
        case integer(Int64)
        case string(String)
        case place(Int)
        case array([Node])
        case dictionary([(String, Node)])
    }

    /// A model in a keyed archive.
    package static func bytes(_ model: CoreDataModel) -> [UInt8] {
        var objects = Objects(model)
        let entities = model.entities.map { ($0.name, objects.entity($0)) }
        let table = objects.table(entities.map { (objects.name(of: $0.0), $0.1) })
        let kind = objects.kind("NSManagedObjectModel")
        let root = objects.add(.dictionary([("NSEntities", table), ("$class", kind)]))
        return list(
            .dictionary([
                ("$version", .integer(100_000)), ("$archiver", .string("NSKeyedArchiver")),
                ("$top", .dictionary([("root", root)])), ("$objects", .array(objects.all)),
            ]))
    }

    /// The objects of an archive, in the order in which they are added.
    private struct Objects {
        private(set) var all: [Node] = [.string("$null")]
        private var kinds: [String: Node] = [:]
        private var names: [String: Node] = [:]
        /// An object per entity with its name alone: other objects refer to this one.
        private var stubs: [String: Node] = [:]

        init(_ model: CoreDataModel) {
            for entity in model.entities {
                let name = add(.string(entity.name))
                names[entity.name] = name
                stubs[entity.name] = add(
                    .dictionary([("NSEntityName", name), ("$class", kind("NSEntityDescription"))]))
            }
        }

        func name(of entity: String) -> Node { names[entity] ?? .place(0) }

        mutating func add(_ node: Node) -> Node {
            all.append(node)
            return .place(all.count - 1)
        }

        mutating func kind(_ name: String) -> Node {
            if let known = kinds[name] { return known }
            let classes: [Node] = [.string(name), .string("NSObject")]
            let made = add(.dictionary([("$classname", .string(name)), ("$classes", .array(classes))]))
            kinds[name] = made
            return made
        }

        mutating func table(_ pairs: [(Node, Node)]) -> Node {
            let kind = self.kind("NSMutableDictionary")
            return add(
                .dictionary([
                    ("NS.keys", .array(pairs.map(\.0))), ("NS.objects", .array(pairs.map(\.1))), ("$class", kind),
                ]))
        }

        mutating func entity(_ entity: CoreDataEntity) -> Node {
            var properties: [(Node, Node)] = []
            for attribute in entity.attributes {
                let name = add(.string(attribute.name))
                properties.append((name, self.attribute(attribute, name, of: entity.name)))
            }
            for relationship in entity.relationships {
                let name = add(.string(relationship.name))
                properties.append((name, self.relationship(relationship, name, of: entity.name)))
            }
            var members: [(String, Node)] = [
                ("NSEntityName", name(of: entity.name)), ("NSProperties", table(properties)),
                ("$class", kind("NSEntityDescription")),
            ]
            if let above = entity.superName { members.append(("NSSuperentity", stubs[above] ?? .place(0))) }
            if entity.isAbstract { members.append(("NSIsAbstract", .bool(true))) }
            return add(.dictionary(members))
        }

        private mutating func attribute(_ attribute: CoreDataAttribute, _ name: Node, of entity: String) -> Node {
            var members: [(String, Node)] = [
                ("NSPropertyName", name), ("NSAttributeType", .integer(attribute.type.attributeType)),
                ("NSIsOptional", .bool(attribute.isOptional)), ("NSEntity", stubs[entity] ?? .place(0)),
                ("$class", kind("NSAttributeDescription")),
            ]
            if attribute.isTransient { members.append(("NSIsTransient", .bool(true))) }
            if let allows = attribute.allowsExternal {
                members.append(("NSAllowsExternalBinaryDataStorage", .bool(allows)))
            }
            return add(.dictionary(members))
        }

        private mutating func relationship(
            _ relationship: CoreDataRelationship, _ name: Node, of entity: String
        ) -> Node {
            var members: [(String, Node)] = [
                ("NSPropertyName", name), ("_NSDestinationEntityName", self.name(of: relationship.target)),
                ("NSMaxCount", .integer(relationship.isToMany ? 0 : 1)),
                ("NSIsOptional", .bool(relationship.isOptional)),
                ("NSDeleteRule", .integer(relationship.deleteRule.rawValue)),
                ("NSEntity", stubs[entity] ?? .place(0)), ("$class", kind("NSRelationshipDescription")),
            ]
            if relationship.isOrdered { members.append(("NSIsOrdered", .bool(true))) }
            if let inverse = relationship.inverse {
                members.append(("_NSInverseRelationshipName", add(.string(inverse))))
            }
            return add(.dictionary(members))
        }
    }

    /// Raw deflate with stored blocks: uncompressed, but valid for every reader.
    package static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var place = 0
        repeat {
            let count = min(65_535, bytes.count - place)
            let isLast = place + count == bytes.count
            output.append(isLast ? 1 : 0)
            for number in [count, ~count] { output += [UInt8(number & 255), UInt8(number >> 8 & 255)] }
            output += bytes[place..<place + count]
            place += count
        } while place < bytes.count
        return output
    }

    /// A binary property list.
    private static func list(_ node: Node) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var flat: [(node: Node, parts: [Int])] = []
        func visit(_ node: Node) -> Int {
            let place = flat.count
            flat.append((node, []))
            switch node {
            case .array(let elements): flat[place].parts = elements.map(visit)
            case .dictionary(let members):
                let keys = members.map { visit(.string($0.0)) }
                flat[place].parts = keys + members.map { visit($0.1) }
            default: break
            }
            return place
        }
        _ = visit(node)
        func put(_ value: Int, _ size: Int) {
            for shift in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * shift))) }
        }
        func head(_ kind: UInt8, _ count: Int) {
            if count < 15 { return bytes.append(kind << 4 | UInt8(count)) }
            bytes += [kind << 4 | 15, 0x12]
            put(count, 4)
        }
        var offsets: [Int] = []
        for (node, parts) in flat {
            offsets.append(bytes.count)
            switch node {
            case .bool(let flag): bytes.append(flag ? 9 : 8)
            case .integer(let number):
                bytes.append(0x13)
                put(Int(number), 8)
            case .string(let text):
                if text.utf8.allSatisfy({ $0 < 0x80 }) {
                    head(5, text.utf8.count)
                    bytes += Array(text.utf8)
                } else {
                    head(6, text.utf16.count)
                    for unit in text.utf16 { put(Int(unit), 2) }
                }
            case .place(let place):
                bytes.append(0x83)
                put(place, 4)
            case .array: head(10, parts.count)
            case .dictionary: head(13, parts.count / 2)
            }
            for part in parts { put(part, 4) }
        }
        let table = bytes.count
        for offset in offsets { put(offset, 4) }
        bytes += [0, 0, 0, 0, 0, 0, 4, 4]
        for number in [flat.count, 0, table] { put(number, 8) }
        return bytes
    }
}
