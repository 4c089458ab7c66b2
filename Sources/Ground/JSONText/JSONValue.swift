/// A JSON document in memory. Objects keep the order of their members.
///
/// The project does not use Foundation's encoder: the harness starts a worker process for every case, and each of these
/// processes would load Foundation.
///
/// Values without a JSON form become strings, here and in every file that is written from it: unsigned integers from
/// 2^53 on, because many readers lose digits of them, and the reals `nan`, `inf` and `-inf`, because null would mean
/// that there is no number. Signed 64-bit numbers of any size are numbers: rows contain them.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])
}

/// A member of an object.
package struct JSONMember: Sendable, Equatable {
    package var name: String
    package var value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension JSONValue {
    package static func integer(_ value: Int) -> JSONValue {
        .integer(Int64(value))
    }

    /// A number below 2^53, a string from there on.
    package static func unsigned(_ value: UInt64) -> JSONValue {
        value < 1 << 53 ? .integer(Int64(value)) : .string(String(value))
    }

    /// An object of these members, in this order.
    package static func members(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { JSONMember($0.0, $0.1) })
    }

    package static func strings(_ values: [String]) -> JSONValue {
        .array(values.map { .string($0) })
    }

    /// As the subscript does. Throws: if several members have the name.
    func only(_ name: String) throws(JSONShapeError) -> JSONValue? {
        guard case .object(let members) = self,
            let place = members.firstIndex(where: { $0.name == name })
        else {
            return nil
        }
        guard !members[(place + 1)...].contains(where: { $0.name == name }) else {
            throw JSONShapeError.duplicate
        }
        return members[place].value
    }

    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}
