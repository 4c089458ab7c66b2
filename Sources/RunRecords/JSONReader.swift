/// Text that is no JSON. Line and column count from 1; the column counts bytes.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    package var message: String
    package var line: Int
    package var column: Int

    package var description: String { "line \(line), column \(column): \(message)" }
}

/// Reads RFC 8259 JSON. Nesting is bounded, since the text may be damaged.
package struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private static let maximumDepth = 64

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        var reader = JSONReader(bytes)
        let value = try reader.value()
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.error("more text after the end of the document") }
        return value
    }

    package static func read(_ text: String) throws(JSONError) -> JSONValue {
        try read(Array(text.utf8))
    }

    private func error(_ message: String) -> JSONError {
        var line = 1
        var column = 1
        for byte in bytes[..<min(position, bytes.count)] {
            column += 1
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            }
        }
        return JSONError(message: message, line: line, column: column)
    }

    private var current: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    private mutating func expect(_ text: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        guard bytes[position...].starts(with: text.utf8) else { throw error("expected a value") }
        position += text.utf8.count
        return value
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        skipSpace()
        guard let byte = current else { throw error("expected a value, found the end") }
        switch byte {
        case UInt8(ascii: "{"): return try nested { (reader) throws(JSONError) in try reader.object() }
        case UInt8(ascii: "["): return try nested { (reader) throws(JSONError) in try reader.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try expect("true", .bool(true))
        case UInt8(ascii: "f"): return try expect("false", .bool(false))
        case UInt8(ascii: "n"): return try expect("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw error("expected a value")
        }
    }

    private mutating func nested(
        _ body: (inout JSONReader) throws(JSONError) -> JSONValue
    ) throws(JSONError) -> JSONValue {
        guard depth < Self.maximumDepth else { throw error("nested deeper than \(Self.maximumDepth)") }
        depth += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func object() throws(JSONError) -> JSONValue {
        position += 1
        var members: [JSONMember] = []
        skipSpace()
        if current == UInt8(ascii: "}") {
            position += 1
            return .object(members)
        }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw error("expected a member's name") }
            let name = try string()
            skipSpace()
            guard current == UInt8(ascii: ":") else { throw error("expected a colon") }
            position += 1
            members.append(JSONMember(name, try value()))
            if try endsList(UInt8(ascii: "}")) { return .object(members) }
        }
    }

    private mutating func array() throws(JSONError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if current == UInt8(ascii: "]") {
            position += 1
            return .array(elements)
        }
        while true {
            elements.append(try value())
            if try endsList(UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    private mutating func endsList(_ end: UInt8) throws(JSONError) -> Bool {
        skipSpace()
        guard let byte = current, byte == end || byte == UInt8(ascii: ",") else {
            throw error("expected a comma or the end of the list")
        }
        position += 1
        return byte == end
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        var isInteger = true
        while let byte = current {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"): isInteger = false
            default:
                return try number(start..<position, isInteger: isInteger)
            }
            position += 1
        }
        return try number(start..<position, isInteger: isInteger)
    }

    private mutating func number(_ range: Range<Int>, isInteger: Bool) throws(JSONError) -> JSONValue {
        let text = String(decoding: bytes[range], as: UTF8.self)
        if isInteger, let number = Int64(text) { return .integer(number) }
        guard let number = Double(text) else {
            position = range.lowerBound
            throw error("no number: \(text)")
        }
        return .real(number)
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                try escape(into: &text)
            case 0..<0x20:
                position -= 1
                throw error("a control character inside a string")
            default:
                text.append(byte)
            }
        }
        throw error("a string without an end")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard let byte = current else { throw error("a string without an end") }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try unicodeEscape()).utf8)
        default: throw error("an unknown escape")
        }
    }

    private mutating func unicodeEscape() throws(JSONError) -> Character {
        let high = try hexadecimal()
        guard (0xD800..<0xDC00).contains(high) else {
            guard let scalar = Unicode.Scalar(high) else { throw error("half of a surrogate pair") }
            return Character(scalar)
        }
        guard bytes[position...].starts(with: "\\u".utf8) else { throw error("half of a surrogate pair") }
        position += 2
        let low = try hexadecimal()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw error("half of a surrogate pair") }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        guard position + 4 <= bytes.count,
            let value = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
        else { throw error("expected four hexadecimal digits") }
        position += 4
        return value
    }
}
