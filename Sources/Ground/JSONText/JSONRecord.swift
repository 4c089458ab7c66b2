/// A value whose JSON form is an object. `fields` lists each member once: `json` writes the members in that order, and
/// `init(json:onto:)` reads them in that order.
///
/// Records do not use `Codable`, whose synthesized functions write the stored properties as they nest. These files keep
/// members of one part apart from each other, leave out members with their blank value, and write numbers from 2^53 on
/// as text: such a record would need both functions by hand.
package protocol JSONRecord: JSONForm {
    /// The record onto which `init(json:)` reads the fields. The sparse and the lenient members that a file lacks keep
    /// their values.
    static var blank: Self { get }
    static var fields: [JSONField<Self>] { get }
}

extension JSONRecord {
    package var json: JSONValue {
        .object(Self.fields.compactMap { field in field.write(self).map { JSONMember(field.name, $0) } })
    }

    package init(json: JSONValue) throws(JSONShapeError) { try self.init(json: json, onto: .blank) }

    /// Reads a document onto `record`. Throws: as `init(document:named:)` of ``JSONForm`` does.
    package init(document: [UInt8], named name: String, onto record: Self) throws {
        let value = try JSONReader.read(document)
        do throws(JSONShapeError) { try self.init(json: value, onto: record) } catch { throw error.below(name) }
    }

    /// - Parameter record: the record onto which the fields are read, one after the other.
    package init(json: JSONValue, onto record: Self) throws(JSONShapeError) {
        guard case .object = json else { throw JSONShapeError(expected: "an object") }
        self = record
        for field in Self.fields {
            do throws(JSONShapeError) {
                let value = try json.only(field.name)
                try field.read(value == .null ? nil : value, &self)
            } catch { throw error.below("." + field.name) }
        }
    }
}

/// A member of a record: its name, and the functions that write and read it.
package struct JSONField<Record: JSONRecord>: Sendable {
    package typealias Member<Value> = WritableKeyPath<Record, Value> & Sendable
    package typealias Read = @Sendable (JSONValue?, inout Record) throws(JSONShapeError) -> Void

    let name: String
    /// Returns nil for a member that the record does not write.
    let write: @Sendable (Record) -> JSONValue?
    /// The record passes nil for a member that is missing or null.
    let read: Read

    package init(_ name: String, write: @escaping @Sendable (Record) -> JSONValue?, read: @escaping Read) {
        (self.name, self.write, self.read) = (name, write, read)
    }

    /// A member that every file has: reading throws if it is missing or null.
    package static func member<Value: JSONForm>(_ name: String, _ member: Member<Value>) -> Self {
        Self(name, write: { $0[keyPath: member].json }) { (json, record) throws(JSONShapeError) in
            record[keyPath: member] = try Value(json: json ?? .null)
        }
    }

    /// A member that the record writes unless it is nil. Reading a file without it sets nil.
    package static func member<Value: JSONForm>(_ name: String, _ member: Member<Value?>) -> Self {
        Self(name, write: { $0[keyPath: member]?.json }) { (json, record) throws(JSONShapeError) in
            record[keyPath: member] = if let json { try Value(json: json) } else { nil }
        }
    }

    /// A number that every file has. Reading throws for one outside of the range.
    package static func member<Value: JSONForm & Comparable & Sendable>(
        _ name: String, _ member: Member<Value>, in range: ClosedRange<Value>
    ) -> Self {
        Self(name, write: { $0[keyPath: member].json }) { (json, record) throws(JSONShapeError) in
            record[keyPath: member] = try Value(json: json ?? .null, in: range)
        }
    }

    /// A number that the record writes unless it is nil. Reading throws for one outside of the range.
    package static func member<Value: JSONForm & Comparable & Sendable>(
        _ name: String, _ member: Member<Value?>, in range: ClosedRange<Value>
    ) -> Self {
        Self(name, write: { $0[keyPath: member]?.json }) { (json, record) throws(JSONShapeError) in
            record[keyPath: member] = if let json { try Value(json: json, in: range) } else { nil }
        }
    }

    /// A member that the record writes unless it equals that of the blank record. It is lenient in reading.
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

    /// A member that the record always writes, but that older files may lack: then reading keeps its value.
    package static func lenient<Value: JSONForm>(_ name: String, _ member: Member<Value>) -> Self {
        Self(name, write: { $0[keyPath: member].json }) { (json, record) throws(JSONShapeError) in
            if let json { record[keyPath: member] = try Value(json: json) }
        }
    }

    /// A member of every file that has the member of `leader`, such as the digest of a file that may be absent: reading
    /// throws if it is missing or null. `fields` lists it after that of `leader`, without which it is neither written
    /// nor read.
    package static func companion<Value: JSONForm, Leader>(
        _ name: String, _ member: Member<Value>, of leader: KeyPath<Record, Leader?> & Sendable
    ) -> Self {
        Self(name, write: { $0[keyPath: leader] == nil ? nil : $0[keyPath: member].json }) {
            (json, record) throws(JSONShapeError) in
            guard record[keyPath: leader] != nil else { return }
            record[keyPath: member] = try Value(json: json ?? .null)
        }
    }

    /// A member that has this value in every file, such as the version of a format. Reading throws for another value.
    package static func constant<Value: JSONForm & Equatable & Sendable>(_ name: String, _ value: Value) -> Self {
        Self(name, write: { _ in value.json }) { (json, _) throws(JSONShapeError) in
            guard try Value(json: json ?? .null) == value else { throw JSONShapeError(expected: "\(value)") }
        }
    }

    /// A member that the record computes from others, and writes for other programs. Reading ignores it.
    package static func derived(_ name: String, _ value: @escaping @Sendable (Record) -> JSONValue?) -> Self {
        Self(name, write: value) { _, _ in }
    }

    /// A list of named texts, which the record writes as an object in the order of the list.
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

/// A text with its name: a member of an object whose values are texts.
package protocol NamedText: SendableMetatype {
    var name: String { get }
    var value: String { get }
    init(name: String, value: String)
}
