/// The accepted syntax.
package enum JSONDialect: Sendable {
    /// RFC 8259, as programs write it.
    case strict
    /// JSON5, as people write it: with comments, unquoted names, single quotes, trailing commas, hexadecimal numbers,
    /// infinities. A duplicate name in an object is an error.
    case json5
}

/// Parses JSON into values, or into nodes with positions. Nesting is bounded, since the text may be damaged.
package struct JSONReader {
    let bytes: [UInt8]
    let dialect: JSONDialect
    var index = 0
    private var line = 1
    private var lineStart = 0
    private var depth = 0
    private static let maximumDepth = 64

    private init(_ bytes: [UInt8], _ dialect: JSONDialect) {
        self.bytes = bytes
        self.dialect = dialect
    }

    package static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        try node(bytes, .strict).value
    }

    package static func read(_ text: String) throws(JSONError) -> JSONValue {
        try read(Array(text.utf8))
    }

    package static func node(_ text: String, _ dialect: JSONDialect) throws(JSONError) -> JSONNode {
        try node(Array(text.utf8), dialect)
    }

    private static func node(_ bytes: [UInt8], _ dialect: JSONDialect) throws(JSONError) -> JSONNode {
        var reader = JSONReader(bytes, dialect)
        let node = try reader.value()
        try reader.skipSpace()
        guard reader.current == nil else { throw reader.error("more text after the end of the document") }
        return node
    }

    // MARK: Places

    var position: TextPosition { TextPosition(line: line, column: index - lineStart + 1) }

    func error(_ message: String) -> JSONError { JSONError(message: message, position: position) }

    var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    func next(_ offset: Int = 1) -> UInt8? { index + offset < bytes.count ? bytes[index + offset] : nil }

    /// Advances by a byte that may end a line.
    mutating func step() {
        if bytes[index] == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        index += 1
    }

    // MARK: Between values

    private mutating func skipSpace() throws(JSONError) {
        while let byte = current {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: step()
            case _ where dialect == .strict: return
            case 0x0B, 0x0C: step()
            // The byte order mark of UTF-8, and the no-break space.
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

    private mutating func skipBlockComment() throws(JSONError) {
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

    // MARK: Values

    private mutating func value() throws(JSONError) -> JSONNode {
        try skipSpace()
        let start = position
        guard let byte = current else { throw error("expected a value, found the end") }
        let content: JSONNode.Content
        switch byte {
        case UInt8(ascii: "{"): content = .object(try object())
        case UInt8(ascii: "["): content = .array(try array())
        case _ where isQuote(byte): content = .string(try string())
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): content = try number()
        case UInt8(ascii: "+"), UInt8(ascii: "."):
            guard dialect == .json5 else { throw error("expected a value") }
            content = try number()
        default: content = try word()
        }
        return JSONNode(content: content, position: start)
    }

    func isQuote(_ byte: UInt8?) -> Bool {
        byte == UInt8(ascii: "\"") || dialect == .json5 && byte == UInt8(ascii: "'")
    }

    private mutating func word() throws(JSONError) -> JSONNode.Content {
        let start = error("expected a value")
        let name = identifier()
        switch name {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        case "Infinity" where dialect == .json5: return .real(.infinity)
        case "NaN" where dialect == .json5: return .real(.nan)
        case "": throw start
        default: throw JSONError(message: "a text needs quotes: \"\(name)\"", position: start.position)
        }
    }

    /// Letters, digits and other characters of names; empty where no name begins.
    mutating func identifier() -> String {
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

    private mutating func enter() throws(JSONError) {
        guard depth < Self.maximumDepth else { throw error("nested deeper than \(Self.maximumDepth)") }
        depth += 1
        index += 1
    }

    private mutating func object() throws(JSONError) -> [JSONNode.Member] {
        try enter()
        defer { depth -= 1 }
        var members: [JSONNode.Member] = []
        while try !endsList(UInt8(ascii: "}"), isFirst: members.isEmpty) {
            let start = position
            let name = try memberName()
            if dialect == .json5, let first = members.first(where: { $0.name == name }) {
                throw JSONError(message: "\(name) is here and at \(first.namePosition): keep one", position: start)
            }
            try skipSpace()
            guard current == UInt8(ascii: ":") else { throw error("expected a colon after \(name)") }
            index += 1
            members.append(JSONNode.Member(name: name, namePosition: start, value: try value()))
        }
        return members
    }

    private mutating func memberName() throws(JSONError) -> String {
        if isQuote(current) { return try string() }
        let name = dialect == .json5 ? identifier() : ""
        guard !name.isEmpty else { throw error("expected a name or }") }
        return name
    }

    private mutating func array() throws(JSONError) -> [JSONNode] {
        try enter()
        defer { depth -= 1 }
        var elements: [JSONNode] = []
        while try !endsList(UInt8(ascii: "]"), isFirst: elements.isEmpty) { elements.append(try value()) }
        return elements
    }

    /// Reads the end of a list, or the comma before its next element.
    /// - Returns: whether the list has ended.
    private mutating func endsList(_ end: UInt8, isFirst: Bool) throws(JSONError) -> Bool {
        try skipSpace()
        if current == end {
            index += 1
            return true
        }
        if isFirst { return false }
        guard current == UInt8(ascii: ",") else {
            throw error("expected a comma or \(Character(Unicode.Scalar(end)))")
        }
        index += 1
        try skipSpace()
        guard dialect == .json5, current == end else { return false }
        index += 1
        return true
    }
}
