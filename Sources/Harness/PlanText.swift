/// A place in a plan file; line and column count from 1, the column in bytes.
package struct TextPosition: Hashable, Sendable, CustomStringConvertible {
    package var line: Int
    package var column: Int

    package var description: String { "line \(line), column \(column)" }
}

/// A plan that cannot be used, and where.
package struct PlanError: Error, Equatable, CustomStringConvertible {
    package var file: String
    package var message: String
    package var position: TextPosition?

    package init(file: String, _ message: String, at position: TextPosition? = nil) {
        self.file = file
        self.message = message
        self.position = position
    }

    package var description: String {
        guard let position else { return "\(file): \(message)" }
        return "\(file):\(position.line):\(position.column): \(message)"
    }
}

/// A value of a JSON5 document with the place where it begins.
package struct PlanNode: Sendable {
    package enum Content: Sendable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([PlanNode])
        case object([PlanMember])
    }

    package var content: Content
    package var position: TextPosition
}

package struct PlanMember: Sendable {
    package var name: String
    package var namePosition: TextPosition
    package var value: PlanNode
}

/// Reads JSON5: JSON with comments, names without quotes, single quotes, commas at the end, hexadecimal numbers.
///
/// By hand because Foundation's reader keeps no positions: a plan is written by people, and an error has to say where.
package struct PlanTextReader {
    private let bytes: [UInt8]
    private let file: String
    private var index = 0
    private var line = 1
    private var lineStart = 0
    private var depth = 0
    private static let maximumDepth = 32

    private init(_ text: String, file: String) {
        bytes = Array(text.utf8)
        self.file = file
    }

    package static func read(_ text: String, file: String) throws(PlanError) -> PlanNode {
        var reader = PlanTextReader(text, file: file)
        let node = try reader.value()
        try reader.skipSpace()
        guard reader.current == nil else { throw reader.error("more text after the end of the document") }
        return node
    }

    private var position: TextPosition {
        TextPosition(line: line, column: index - lineStart + 1)
    }

    private func error(_ message: String) -> PlanError {
        PlanError(file: file, message, at: position)
    }

    private var current: UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    private func next(_ offset: Int = 1) -> UInt8? {
        index + offset < bytes.count ? bytes[index + offset] : nil
    }

    private mutating func step() {
        if bytes[index] == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        index += 1
    }

    private mutating func skipSpace() throws(PlanError) {
        while let byte = current {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D, 0x0B, 0x0C: step()
            case 0xEF where next() == 0xBB && next(2) == 0xBF: index += 3
            case 0xC2 where next() == 0xA0: index += 2
            case UInt8(ascii: "/") where next() == UInt8(ascii: "/"):
                while let byte = current, byte != UInt8(ascii: "\n") { index += 1 }
            case UInt8(ascii: "/") where next() == UInt8(ascii: "*"):
                try skipBlockComment()
            default: return
            }
        }
    }

    private mutating func skipBlockComment() throws(PlanError) {
        let start = error("a comment without an end")
        index += 2
        while current != nil {
            if current == UInt8(ascii: "*") && next() == UInt8(ascii: "/") {
                index += 2
                return
            }
            step()
        }
        throw start
    }

    private mutating func value() throws(PlanError) -> PlanNode {
        try skipSpace()
        let start = position
        guard let byte = current else { throw error("expected a value, found the end") }
        switch byte {
        case UInt8(ascii: "{"): return PlanNode(content: .object(try object()), position: start)
        case UInt8(ascii: "["): return PlanNode(content: .array(try array()), position: start)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return PlanNode(content: .string(try string()), position: start)
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
            return PlanNode(content: .number(try number()), position: start)
        default:
            return PlanNode(content: try word(), position: start)
        }
    }

    private mutating func word() throws(PlanError) -> PlanNode.Content {
        let start = error("expected a value")
        switch identifier() {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        case "Infinity": return .number(.infinity)
        case "NaN": return .number(.nan)
        case "": throw start
        case let name: throw PlanError(file: file, "a text needs quotes: \"\(name)\"", at: start.position)
        }
    }

    private mutating func identifier() -> String {
        let start = index
        while let byte = current {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: "$"), 0x80...:
                index += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9") where index > start: index += 1
            default: return String(decoding: bytes[start..<index], as: UTF8.self)
            }
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func enter() throws(PlanError) {
        guard depth < Self.maximumDepth else { throw error("nested deeper than \(Self.maximumDepth)") }
        depth += 1
        index += 1
    }

    private mutating func object() throws(PlanError) -> [PlanMember] {
        try enter()
        defer { depth -= 1 }
        var members: [PlanMember] = []
        while true {
            try skipSpace()
            if current == UInt8(ascii: "}") {
                index += 1
                return members
            }
            let start = position
            let isQuoted = current == UInt8(ascii: "\"") || current == UInt8(ascii: "'")
            let name = isQuoted ? try string() : identifier()
            guard isQuoted || !name.isEmpty else { throw error("expected a name or }") }
            if let first = members.first(where: { $0.name == name }) {
                throw PlanError(file: file, "\(name) stands here and at \(first.namePosition)", at: start)
            }
            try skipSpace()
            guard current == UInt8(ascii: ":") else { throw error("expected a colon after \(name)") }
            index += 1
            members.append(PlanMember(name: name, namePosition: start, value: try value()))
            try separator(UInt8(ascii: "}"))
        }
    }

    private mutating func array() throws(PlanError) -> [PlanNode] {
        try enter()
        defer { depth -= 1 }
        var elements: [PlanNode] = []
        while true {
            try skipSpace()
            if current == UInt8(ascii: "]") {
                index += 1
                return elements
            }
            elements.append(try value())
            try separator(UInt8(ascii: "]"))
        }
    }

    /// A comma, or the end of the list, which is left to be read.
    private mutating func separator(_ end: UInt8) throws(PlanError) {
        try skipSpace()
        if current == UInt8(ascii: ",") {
            index += 1
        } else if current != end {
            throw error("expected a comma or \(Character(Unicode.Scalar(end)))")
        }
    }

    private mutating func number() throws(PlanError) -> Double {
        let start = error("no number")
        var sign = 1.0
        if current == UInt8(ascii: "-") || current == UInt8(ascii: "+") {
            sign = current == UInt8(ascii: "-") ? -1 : 1
            index += 1
        }
        if identifierAhead("Infinity") { return sign * .infinity }
        if current == UInt8(ascii: "0"), next() == UInt8(ascii: "x") || next() == UInt8(ascii: "X") {
            index += 2
            let digits = take { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x66 || $0 >= 0x30 && $0 <= 0x39 }
            guard let value = UInt64(digits, radix: 16) else { throw start }
            return sign * Double(value)
        }
        var text = take { byte in
            byte >= 0x30 && byte <= 0x39 || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            text += "e"
            index += 1
            text += take { $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        }
        if text.hasPrefix(".") { text = "0" + text }
        if text.hasSuffix(".") { text += "0" }
        guard let value = Double(text) else { throw start }
        return sign * value
    }

    private mutating func identifierAhead(_ name: String) -> Bool {
        guard bytes[index...].starts(with: name.utf8) else { return false }
        index += name.utf8.count
        return true
    }

    private mutating func take(_ isPart: (UInt8) -> Bool) -> String {
        let start = index
        while let byte = current, isPart(byte) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func string() throws(PlanError) -> String {
        let start = error("a string without an end")
        let quote = bytes[index]
        index += 1
        var text: [UInt8] = []
        while let byte = current {
            if byte == quote {
                index += 1
                return String(decoding: text, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\n") { throw start }
            if byte == UInt8(ascii: "\\") {
                index += 1
                try escape(into: &text)
            } else {
                text.append(byte)
                index += 1
            }
        }
        throw start
    }

    private mutating func escape(into text: inout [UInt8]) throws(PlanError) {
        guard let byte = current else { throw error("a string without an end") }
        step()
        switch byte {
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "0"): text.append(0)
        case UInt8(ascii: "\n"): break
        case UInt8(ascii: "x"): try appendScalar(digits: 2, to: &text)
        case UInt8(ascii: "u"): try appendScalar(digits: 4, to: &text)
        default: text.append(byte)
        }
    }

    private mutating func appendScalar(digits: Int, to text: inout [UInt8]) throws(PlanError) {
        guard index + digits <= bytes.count,
            let value = UInt32(String(decoding: bytes[index..<index + digits], as: UTF8.self), radix: 16),
            let scalar = Unicode.Scalar(value)
        else { throw error("expected \(digits) hexadecimal digits of a character") }
        index += digits
        text.append(contentsOf: String(Character(scalar)).utf8)
    }
}
