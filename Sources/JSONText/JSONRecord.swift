/// A value that is a JSON object. Its members are listed once, for writing and for reading, in the order in which they
/// are written.
///
/// It is no `Codable`: the files have members of parts that stand apart from each other, members that are left out, and
/// members in another order than the properties. For each of these, `Codable` needs both functions written by hand.
package protocol JSONRecord: JSONForm {
    /// The record with which reading begins. A member that a file lacks keeps its value.
    static var blank: Self { get }
    static var fields: [JSONField<Self>] { get }
}

extension JSONRecord {
    package var json: JSONValue {
        .object(Self.fields.compactMap { field in field.write(self).map { JSONMember(field.name, $0) } })
    }

    package init(json: JSONValue) throws(JSONShapeError) { try self.init(json: json, onto: .blank) }

    /// Reads a document, see ``JSONForm``.
    package init(document: [UInt8], named name: String, onto record: Self) throws {
        let value = try JSONReader.read(document)
        do throws(JSONShapeError) { try self.init(json: value, onto: record) } catch { throw error.below(name) }
    }

    /// - Parameter record: the record with which reading begins.
    package init(json: JSONValue, onto record: Self) throws(JSONShapeError) {
        guard case .object = json else { throw JSONShapeError(expected: "an object") }
        self = record
        for field in Self.fields {
            let value = json[field.name]
            do throws(JSONShapeError) { try field.read(value == .null ? nil : value, &self) } catch {
                throw error.below("." + field.name)
            }
        }
    }
}

/// A member of a record: its name, and how it is written and read.
package struct JSONField<Record: JSONRecord>: Sendable {
    package typealias Member<Value> = WritableKeyPath<Record, Value> & Sendable
    package typealias Read = @Sendable (JSONValue?, inout Record) throws(JSONShapeError) -> Void

    let name: String
    /// nil leaves the member out.
    let write: @Sendable (Record) -> JSONValue?
    /// Gets nil for a member that is missing or null.
    let read: Read

    package init(_ name: String, write: @escaping @Sendable (Record) -> JSONValue?, read: @escaping Read) {
        (self.name, self.write, self.read) = (name, write, read)
    }

    /// A member that every file has.
    package static func member<Value: JSONForm>(_ name: String, _ member: Member<Value>) -> Self {
        Self(name, write: { $0[keyPath: member].json }) { (json, record) throws(JSONShapeError) in
            record[keyPath: member] = try Value(json: json ?? .null)
        }
    }

    /// A member that is left out for nil.
    package static func member<Value: JSONForm>(_ name: String, _ member: Member<Value?>) -> Self {
        Self(name, write: { $0[keyPath: member]?.json }) { (json, record) throws(JSONShapeError) in
            record[keyPath: member] = if let json { try Value(json: json) } else { nil }
        }
    }

    /// A member that is left out if it has the value of the blank record.
    package static func sparse<Value: JSONForm & Equatable & Sendable>(_ name: String, _ member: Member<Value>) -> Self
    {
        let blank = Record.blank[keyPath: member]
        return Self(
            name,
            write: { record in
                let value = record[keyPath: member]
                return value == blank ? nil : value.json
            }, read: lenient(name, member).read)
    }

    /// A member that is always written, but that older files may lack.
    package static func lenient<Value: JSONForm>(_ name: String, _ member: Member<Value>) -> Self {
        Self(name, write: { $0[keyPath: member].json }) { (json, record) throws(JSONShapeError) in
            if let json { record[keyPath: member] = try Value(json: json) }
        }
    }

    /// A member that has this value in every file, such as the version of a format.
    package static func constant<Value: JSONForm & Equatable & Sendable>(_ name: String, _ value: Value) -> Self {
        Self(name, write: { _ in value.json }) { (json, _) throws(JSONShapeError) in
            guard try Value(json: json ?? .null) == value else { throw JSONShapeError(expected: "\(value)") }
        }
    }

    /// A member for other readers, which follows from the others.
    package static func derived(_ name: String, _ value: @escaping @Sendable (Record) -> JSONValue?) -> Self {
        Self(name, write: value) { _, _ in }
    }

    /// A list of named texts as an object.
    package static func texts<Value: NamedText>(_ name: String, _ member: Member<[Value]>) -> Self {
        Self(
            name, write: { .object($0[keyPath: member].map { JSONMember($0.name, .string($0.value)) }) }
        ) { (json, record) throws(JSONShapeError) in
            guard case .object(let members) = json else { throw JSONShapeError(expected: "an object") }
            let texts = try [String: String](json: .object(members))
            record[keyPath: member] = members.map { Value(name: $0.name, value: texts[$0.name] ?? "") }
        }
    }
}

/// A text with its name, as an object of texts has it.
package protocol NamedText: SendableMetatype {
    var name: String { get }
    var value: String { get }
    init(name: String, value: String)
}
