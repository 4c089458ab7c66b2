/// A member that is missing or of the wrong type.
package struct JSONShapeError: Error, CustomStringConvertible {
    package var path: String
    package var expected: String

    package init(path: String, expected: String) {
        self.path = path
        self.expected = expected
    }

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

    private func error(_ name: String, _ expected: String) -> JSONShapeError {
        JSONShapeError(path: path + "." + name, expected: expected)
    }

    package func has(_ name: String) -> Bool {
        guard let member = value[name] else { return false }
        return member != .null
    }

    package func string(_ name: String) throws(JSONShapeError) -> String {
        guard case .string(let text)? = value[name] else { throw error(name, "a string") }
        return text
    }

    package func integer(_ name: String) throws(JSONShapeError) -> Int {
        guard case .integer(let number)? = value[name] else { throw error(name, "an integer") }
        return Int(number)
    }

    package func unsigned(_ name: String) throws(JSONShapeError) -> UInt64 {
        switch value[name] {
        case .integer(let number)? where number >= 0: return UInt64(number)
        case .string(let text)?:
            if let number = UInt64(text) { return number }
        default: break
        }
        throw error(name, "a number from 0 to 2^64 - 1")
    }

    package func real(_ name: String) throws(JSONShapeError) -> Double {
        switch value[name] {
        case .integer(let number)?: return Double(number)
        case .real(let number)?: return number
        case .string(let text)? where ["nan", "inf", "-inf"].contains(text): return Double(text) ?? .nan
        default: throw error(name, "a number")
        }
    }

    package func bool(_ name: String) throws(JSONShapeError) -> Bool {
        guard case .bool(let flag)? = value[name] else { throw error(name, "true or false") }
        return flag
    }

    package func array(_ name: String) throws(JSONShapeError) -> [JSONValue] {
        guard case .array(let elements)? = value[name] else { throw error(name, "an array") }
        return elements
    }

    package func objects(_ name: String) throws(JSONShapeError) -> [JSONObjectReader] {
        var readers: [JSONObjectReader] = []
        for (index, element) in try array(name).enumerated() {
            readers.append(try JSONObjectReader(element, path: "\(path).\(name)[\(index)]"))
        }
        return readers
    }

    package func object(_ name: String) throws(JSONShapeError) -> JSONObjectReader {
        guard let member = value[name] else { throw error(name, "an object") }
        return try JSONObjectReader(member, path: path + "." + name)
    }

    /// A value of an enumeration by its raw string.
    package func choice<Choice: RawRepresentable<String>>(
        _ name: String, of type: Choice.Type
    ) throws(JSONShapeError) -> Choice {
        guard let choice = Choice(rawValue: try string(name)) else { throw error(name, "a known \(type)") }
        return choice
    }
}
