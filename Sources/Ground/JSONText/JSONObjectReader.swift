/// A member that is missing or of the wrong type.
package struct JSONShapeError: Error, CustomStringConvertible {
    package var path: String
    package var expected: String

    package init(path: String = "", expected: String) {
        self.path = path
        self.expected = expected
    }

    /// The error with `place` before its path: the reader of a value calls it for an error in a part of the value.
    package func below(_ place: String) -> JSONShapeError { JSONShapeError(path: place + path, expected: expected) }

    /// Two members of one object have the same name.
    static let duplicate = JSONShapeError(expected: "one member of this name")

    package var description: String { "\(path): expected \(expected)" }
}

/// Reads members of an object by name and type; errors name the path of the member.
package struct JSONObjectReader {
    package let value: JSONValue
    package let path: String

    package init(_ value: JSONValue, path: String) throws(JSONShapeError) {
        guard case .object = value else { throw JSONShapeError(path: path, expected: "an object") }
        self.value = value
        self.path = path
    }

    package func has(_ name: String) -> Bool {
        guard let member = value[name] else { return false }
        return member != .null
    }

    package func member<Value: JSONForm>(_ name: String) throws(JSONShapeError) -> Value {
        do throws(JSONShapeError) { return try Value(json: try value.only(name) ?? .null) } catch {
            throw error.below("\(path).\(name)")
        }
    }

    package func string(_ name: String) throws(JSONShapeError) -> String { try member(name) }
    package func integer(_ name: String) throws(JSONShapeError) -> Int { try member(name) }
    package func unsigned(_ name: String) throws(JSONShapeError) -> UInt64 { try member(name) }
    package func real(_ name: String) throws(JSONShapeError) -> Double { try member(name) }
    package func bool(_ name: String) throws(JSONShapeError) -> Bool { try member(name) }
    package func strings(_ name: String) throws(JSONShapeError) -> [String] { try member(name) }
    package func array(_ name: String) throws(JSONShapeError) -> [JSONValue] { try member(name) }

    package func objects(_ name: String) throws(JSONShapeError) -> [JSONObjectReader] {
        var readers: [JSONObjectReader] = []
        for (index, element) in try array(name).enumerated() {
            readers.append(try JSONObjectReader(element, path: "\(path).\(name)[\(index)]"))
        }
        return readers
    }

    package func object(_ name: String) throws(JSONShapeError) -> JSONObjectReader {
        guard let member = value[name] else {
            throw JSONShapeError(path: "\(path).\(name)", expected: "an object")
        }
        return try JSONObjectReader(member, path: path + "." + name)
    }
}
