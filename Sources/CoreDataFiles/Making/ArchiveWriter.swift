/// Writes a model as the keyed archive that ``ModelArchive`` reads, and plain values as one.
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
        var objects: [Node] = [.string("$null")]
        func add(_ node: Node) -> Node {
            objects.append(node)
            return .place(objects.count - 1)
        }
        func kind(_ name: String) -> Node {
            add(.dictionary([("$classname", .string(name)), ("$classes", .array([.string(name), .string("NSObject")]))]))
        }
        let dictionary = kind("NSMutableDictionary")
        func table(_ pairs: [(Node, Node)]) -> Node {
            add(
                .dictionary([
                    ("NS.keys", .array(pairs.map(\.0))), ("NS.objects", .array(pairs.map(\.1))), ("$class", dictionary),
                ]))
        }
        let attributeKind = kind("NSAttributeDescription")
        let relationshipKind = kind("NSRelationshipDescription")
        let entityKind = kind("NSEntityDescription")
        let names = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, add(.string($0.name))) })
        // An entity above is told by its name alone: what leads to it need not be whole.
        let stubs = names.mapValues { add(.dictionary([("NSEntityName", $0), ("$class", entityKind)])) }
        let entities = model.entities.map { entity -> (Node, Node) in
            let name = names[entity.name] ?? .place(0)
            let stub = stubs[entity.name] ?? .place(0)
            var properties: [(Node, Node)] = []
            for attribute in entity.attributes {
                let property = add(.string(attribute.name))
                var members: [(String, Node)] = [
                    ("NSPropertyName", property), ("NSAttributeType", .integer(attribute.type.attributeType)),
                    ("NSIsOptional", .bool(attribute.isOptional)), ("NSEntity", stub), ("$class", attributeKind),
                ]
                if attribute.isTransient { members.append(("NSIsTransient", .bool(true))) }
                if let allows = attribute.allowsExternal {
                    members.append(("NSAllowsExternalBinaryDataStorage", .bool(allows)))
                }
                properties.append((property, add(.dictionary(members))))
            }
            for relationship in entity.relationships {
                let property = add(.string(relationship.name))
                var members: [(String, Node)] = [
                    ("NSPropertyName", property), ("_NSDestinationEntityName", names[relationship.target] ?? .place(0)),
                    ("NSMaxCount", .integer(relationship.isToMany ? 0 : 1)),
                    ("NSIsOptional", .bool(relationship.isOptional)),
                    ("NSDeleteRule", .integer(relationship.deleteRule.rawValue)), ("NSEntity", stub),
                    ("$class", relationshipKind),
                ]
                if relationship.isOrdered { members.append(("NSIsOrdered", .bool(true))) }
                if let inverse = relationship.inverse {
                    members.append(("_NSInverseRelationshipName", add(.string(inverse))))
                }
                properties.append((property, add(.dictionary(members))))
            }
            var members: [(String, Node)] = [
                ("NSEntityName", name), ("NSProperties", table(properties)), ("$class", entityKind),
            ]
            if let above = entity.superName { members.append(("NSSuperentity", stubs[above] ?? .place(0))) }
            if entity.isAbstract { members.append(("NSIsAbstract", .bool(true))) }
            return (name, add(.dictionary(members)))
        }
        let root = add(
            .dictionary([("NSEntities", table(entities)), ("$class", kind("NSManagedObjectModel"))]))
        return list(
            .dictionary([
                ("$version", .integer(100_000)), ("$archiver", .string("NSKeyedArchiver")),
                ("$top", .dictionary([("root", root)])), ("$objects", .array(objects)),
            ]))
    }

    /// Raw deflate of stored blocks: nothing is smaller, and every reader reads it.
    package static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var place = 0
        repeat {
            let count = min(65_535, bytes.count - place)
            let isLast = place + count == bytes.count
            output += [isLast ? 1 : 0, UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8 & 255)]
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
