// Numbers and strings.
extension JSONReader {
    mutating func number() throws(JSONError) -> JSONNode.Content {
        let start = error("no number")
        let isNegative = current == UInt8(ascii: "-")
        if isNegative || current == UInt8(ascii: "+") { index += 1 }
        if dialect == .json5, let content = special(isNegative) { return content }
        let whole = digits()
        var isWhole = true
        var text = whole
        if current == UInt8(ascii: ".") {
            index += 1
            isWhole = false
            let fraction = digits()
            guard dialect == .json5 ? !(whole + fraction).isEmpty : !fraction.isEmpty else { throw start }
            text = (whole.isEmpty ? "0" : whole) + "." + (fraction.isEmpty ? "0" : fraction)
        }
        // RFC 8259 has no number that begins with a point, or with a redundant zero.
        let isStrict = !whole.isEmpty && (whole.utf8.count == 1 || !whole.hasPrefix("0"))
        guard dialect == .json5 || isStrict, !text.isEmpty else { throw start }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            index += 1
            isWhole = false
            text += "e"
            if let sign = current, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                text += String(Unicode.Scalar(sign))
                index += 1
            }
            let exponent = digits()
            guard !exponent.isEmpty else { throw start }
            text += exponent
        }
        // A character that follows here was meant to be part of the number.
        guard current != UInt8(ascii: "."), identifier().isEmpty else { throw start }
        if isNegative { text = "-" + text }
        if isWhole, let number = Int64(text) { return .integer(number) }
        guard let number = Double(text) else { throw start }
        return .real(number)
    }

    /// Hexadecimal numbers and infinities of JSON5.
    private mutating func special(_ isNegative: Bool) -> JSONNode.Content? {
        for (name, value) in [("Infinity", Double.infinity), ("NaN", Double.nan)]
        where bytes[index...].starts(with: name.utf8) {
            index += name.utf8.count
            return .real(isNegative ? -value : value)
        }
        guard current == UInt8(ascii: "0"), (next() ?? 0) | 0x20 == UInt8(ascii: "x") else { return nil }
        var end = index + 2
        while end < bytes.count, Character(Unicode.Scalar(bytes[end])).isHexDigit { end += 1 }
        let digits = String(decoding: bytes[(index + 2)..<end], as: UTF8.self)
        guard let value = Int64(digits, radix: 16) else { return nil }
        index = end
        return .integer(isNegative ? -value : value)
    }

    private mutating func digits() -> String {
        let start = index
        while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    mutating func string() throws(JSONError) -> String {
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
            if byte < 0x20, dialect == .strict { throw error("a control character inside a string") }
            index += 1
            if byte == UInt8(ascii: "\\") { try escape(into: &text, start) } else { text.append(byte) }
        }
        throw start
    }

    private mutating func escape(into text: inout [UInt8], _ start: JSONError) throws(JSONError) {
        guard let byte = current else { throw start }
        let unknown = error("an unknown escape")
        step()
        switch byte {
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try unicodeEscape()).utf8)
        case _ where dialect == .strict: throw unknown
        // A line continuation: in JSON5 the line end is not part of the string.
        case UInt8(ascii: "\n"): break
        case UInt8(ascii: "0"): text.append(0)
        case UInt8(ascii: "v"): text.append(0x0B)
        case UInt8(ascii: "x"):
            guard let scalar = Unicode.Scalar(try hexadecimal(2)) else { throw unknown }
            text.append(contentsOf: String(Character(scalar)).utf8)
        default: text.append(byte)
        }
    }

    private mutating func unicodeEscape() throws(JSONError) -> Character {
        let high = try hexadecimal(4)
        guard (0xD800..<0xDC00).contains(high) else {
            guard let scalar = Unicode.Scalar(high) else { throw error("half of a surrogate pair") }
            return Character(scalar)
        }
        guard bytes[index...].starts(with: "\\u".utf8) else { throw error("half of a surrogate pair") }
        index += 2
        let low = try hexadecimal(4)
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw error("half of a surrogate pair") }
        return Character(scalar)
    }

    private mutating func hexadecimal(_ count: Int) throws(JSONError) -> UInt32 {
        guard index + count <= bytes.count,
            bytes[index..<index + count].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let value = UInt32(String(decoding: bytes[index..<index + count], as: UTF8.self), radix: 16)
        else { throw error("expected \(count) hexadecimal digits of a character") }
        index += count
        return value
    }
}
