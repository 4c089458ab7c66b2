/// A type whose values have a JSON form: a scalar, a list, a dictionary, or a record.
package protocol JSONForm: SendableMetatype {
    var json: JSONValue { get }
    /// Reads a value. The path of an error begins at this value, and the caller prepends its own.
    init(json: JSONValue) throws(JSONShapeError)
}

extension JSONForm {
    /// Reads the value of `reader`, and prepends the reader's path to that of an error.
    package init(json reader: JSONObjectReader) throws(JSONShapeError) {
        do throws(JSONShapeError) { try self.init(json: reader.value) } catch { throw error.below(reader.path) }
    }

    /// Reads a document. Throws: `JSONError` if it is not JSON; `JSONShapeError` if it has another form, with a path
    /// that begins with `name`.
    package init(document: [UInt8], named name: String) throws {
        let value = try JSONReader.read(document)
        do throws(JSONShapeError) { try self.init(json: value) } catch { throw error.below(name) }
    }
}

extension JSONValue: JSONForm {
    package var json: JSONValue { self }
    package init(json: JSONValue) { self = json }
}

extension Bool: JSONForm {
    package var json: JSONValue { .bool(self) }

    package init(json: JSONValue) throws(JSONShapeError) {
        guard case .bool(let flag) = json else { throw JSONShapeError(expected: "true or false") }
        self = flag
    }
}

extension String: JSONForm {
    package var json: JSONValue { .string(self) }

    package init(json: JSONValue) throws(JSONShapeError) {
        guard case .string(let text) = json else { throw JSONShapeError(expected: "a string") }
        self = text
    }
}

extension Int: JSONForm {
    package var json: JSONValue { .integer(self) }

    package init(json: JSONValue) throws(JSONShapeError) {
        guard case .integer(let number) = json else { throw JSONShapeError(expected: "an integer") }
        self = Int(number)
    }
}

extension Int32: JSONForm {
    package var json: JSONValue { .integer(Int(self)) }

    package init(json: JSONValue) throws(JSONShapeError) {
        guard case .integer(let number) = json, let narrow = Int32(exactly: number) else {
            throw JSONShapeError(expected: "an integer from -2^31 to 2^31 - 1")
        }
        self = narrow
    }
}

extension UInt64: JSONForm {
    package var json: JSONValue { .unsigned(self) }

    package init(json: JSONValue) throws(JSONShapeError) {
        switch json {
        case .integer(let number) where number >= 0: self.init(number)
        case .string(let text):
            if let number = UInt64(text) { self = number } else { fallthrough }
        default: throw JSONShapeError(expected: "a number from 0 to 2^64 - 1")
        }
    }
}

extension Double: JSONForm {
    package var json: JSONValue { .real(self) }

    package init(json: JSONValue) throws(JSONShapeError) {
        switch json {
        case .integer(let number): self.init(number)
        case .real(let number): self = number
        case .string(let text) where ["nan", "inf", "-inf"].contains(text): self = Double(text) ?? .nan
        default: throw JSONShapeError(expected: "a number")
        }
    }
}

/// An enumeration writes its raw string, and refuses to read an unknown one.
extension JSONForm where Self: RawRepresentable<String> {
    package var json: JSONValue { .string(rawValue) }

    package init(json: JSONValue) throws(JSONShapeError) {
        guard let choice = Self(rawValue: try String(json: json)) else {
            throw JSONShapeError(expected: "a known \(Self.self)")
        }
        self = choice
    }
}

extension Array: JSONForm where Element: JSONForm {
    package var json: JSONValue { .array(map(\.json)) }

    package init(json: JSONValue) throws(JSONShapeError) {
        guard case .array(let elements) = json else { throw JSONShapeError(expected: "an array") }
        self = []
        reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do throws(JSONShapeError) { append(try Element(json: element)) } catch { throw error.below("[\(index)]") }
        }
    }
}

/// A dictionary writes its members in the ascending order of their names.
extension Dictionary: JSONForm where Key == String, Value: JSONForm {
    package var json: JSONValue { .object(sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value.json) }) }

    package init(json: JSONValue) throws(JSONShapeError) {
        guard case .object(let members) = json else { throw JSONShapeError(expected: "an object") }
        self = [:]
        for member in members {
            do throws(JSONShapeError) {
                guard updateValue(try Value(json: member.value), forKey: member.name) == nil else {
                    throw JSONShapeError.duplicate
                }
            } catch { throw error.below("." + member.name) }
        }
    }
}

// Numbers within bounds: reading throws for one outside of them, and for NaN, so that arithmetic with it cannot trap.

extension JSONForm where Self: Comparable {
    package init(json: JSONValue, in range: ClosedRange<Self>) throws(JSONShapeError) {
        let value = try Self(json: json)
        guard range.contains(value) else {
            throw JSONShapeError(expected: "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        self = value
    }
}

extension Dictionary where Key == String, Value: JSONForm & Comparable {
    package init(json: JSONValue, in range: ClosedRange<Value>) throws(JSONShapeError) {
        try self.init(json: json)
        for (name, value) in sorted(by: { $0.key < $1.key }) where !range.contains(value) {
            let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
            throw JSONShapeError(path: "." + name, expected: expected)
        }
    }
}

extension ClosedRange<Int> {
    /// Numbers of things. Their sum over 2^22 members does not overflow.
    package static var counts: ClosedRange<Int> { 0...1 << 40 }
    /// Sizes in bytes, and places in files: up to 8 PiB.
    package static var bytes: ClosedRange<Int> { 0...1 << 53 }
}

extension ClosedRange<Double> {
    /// Durations in seconds, up to some 31 years: the sum of two fits into 64 bits of nanoseconds.
    package static var seconds: ClosedRange<Double> { 0...1e9 }
}
