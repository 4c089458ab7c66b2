/// Walks over a JSON text that ``JSONCheck`` has accepted, without building a tree of it.
///
/// A step that does not find what it expects moves to the end of the text at worst; no step reads outside the text.
struct JSONCursor {
    private let bytes: UnsafeRawBufferPointer
    private(set) var place: Int

    init(_ bytes: UnsafeRawBufferPointer, at place: Int) {
        self.bytes = bytes
        self.place = place
    }

    enum Kind { case object, list, text, number, bool, null }

    enum Number {
        case integer(Int64)
        case real(Double)

        /// A real number without a fraction is given as an integer, except for the negative zero.
        var any: Any {
            switch self {
            case .integer(let value): return Int(exactly: value) ?? value
            case .real(let value):
                guard let whole = Int64(exactly: value), whole != 0 || value.sign == .plus else { return value }
                return Int(exactly: whole) ?? whole
            }
        }
    }

    /// The byte at the cursor; at the end of the text 0, which occurs nowhere in JSON.
    @inline(__always)
    private var current: UInt8 { place < bytes.count ? bytes[place] : 0 }

    @inline(__always)
    private mutating func skipSpace() {
        while place < bytes.count, bytes[place] <= 0x20 { place += 1 }
    }

    /// Moves over space to the next value, and returns its kind.
    mutating func kind() -> Kind {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .list
        case UInt8(ascii: "\""): return .text
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        default: return .number
        }
    }

    // MARK: Objects and lists

    /// Moves from the beginning of an object or a list into it.
    mutating func enter() { place += 1 }

    /// Moves to the next element of a list; returns false, and moves past the end of the list, if there is none.
    mutating func hasElement() -> Bool { hasMore(UInt8(ascii: "]")) }

    /// Moves to the next name of an object; returns false, and moves past the end of the object, if there is none.
    mutating func hasMember() -> Bool { hasMore(UInt8(ascii: "}")) }

    private mutating func hasMore(_ end: UInt8) -> Bool {
        skipSpace()
        if current == UInt8(ascii: ",") {
            place += 1
            skipSpace()
        }
        guard place < bytes.count else { return false }
        if bytes[place] != end { return true }
        place += 1
        return false
    }

    /// Moves past a name and its colon. `body` gets the name in UTF-8.
    mutating func name<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let (raw, isPlain) = rawText()
        skipSpace()
        place = min(place + 1, bytes.count)
        if isPlain { return body(raw) }
        return Self.unescaped(raw).withUnsafeBytes { body($0) }
    }

    // MARK: Plain values

    mutating func text() -> String {
        let (raw, isPlain) = rawText()
        return isPlain ? SmallString.make(raw) : String(decoding: Self.unescaped(raw), as: UTF8.self)
    }

    mutating func bool() -> Bool {
        let isTrue = current == UInt8(ascii: "t")
        skipWord()
        return isTrue
    }

    mutating func null() { skipWord() }

    /// A number, rounded as by Swift's own parser. Up to 2^53 the digits, and up to 10^22 the power of ten, are exact
    /// as doubles, so that one division or multiplication rounds once; other numbers are parsed from text.
    mutating func number() -> Number {
        let start = place
        let isNegative = current == UInt8(ascii: "-")
        if isNegative { place += 1 }
        var (digits, count, scale) = (Int64(0), 0, 0)
        while let digit = nextDigit() {
            digits = digits &* 10 &+ digit
            if digits != 0 { count += 1 }
        }
        var isWhole = true
        if current == UInt8(ascii: ".") {
            isWhole = false
            place += 1
            while let digit = nextDigit() {
                digits = digits &* 10 &+ digit
                if digits != 0 { count += 1 }
                scale -= 1
            }
        }
        if current | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            scale += exponent()
        }
        if place == start { place = bytes.count }
        guard count <= 18 else { return slowNumber(start, isWhole) }
        if isWhole { return .integer(isNegative ? -digits : digits) }
        guard digits < 1 << 53, abs(scale) < Self.powers.count else { return slowNumber(start, false) }
        let power = Self.powers[abs(scale)]
        let value = scale < 0 ? Double(digits) / power : Double(digits) * power
        return .real(isNegative ? -value : value)
    }

    private static let powers: [Double] = (0...22).map { power in (0..<power).reduce(1) { value, _ in value * 10 } }

    @inline(__always)
    private mutating func nextDigit() -> Int64? {
        let digit = Int64(current) - 0x30
        guard digit >= 0, digit <= 9 else { return nil }
        place += 1
        return digit
    }

    /// An exponent. One with more digits is cut to a number of the same sign that is still too large for the table of
    /// powers, so that the number is parsed from text.
    private mutating func exponent() -> Int {
        place += 1
        let isNegative = current == UInt8(ascii: "-")
        if isNegative || current == UInt8(ascii: "+") { place += 1 }
        var exponent: Int64 = 0
        while let digit = nextDigit() { exponent = min(exponent * 10 + digit, 1_000_000) }
        return Int(isNegative ? -exponent : exponent)
    }

    @inline(never)
    private func slowNumber(_ start: Int, _ isWhole: Bool) -> Number {
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if isWhole, let whole = Int64(text) { return .integer(whole) }
        return .real(Double(text) ?? 0)
    }

    private mutating func skipWord() {
        while current >= UInt8(ascii: "a"), current <= UInt8(ascii: "z") { place += 1 }
    }

    // MARK: Values of any kind

    /// An object or a list whose end was not reached yet.
    private struct Open {
        let isObject: Bool
        var name = ""
        var members: [String: Any] = [:]
        var elements: [Any] = []

        /// Of two members with one name, the first counts.
        mutating func add(_ value: Any) {
            if !isObject {
                elements.append(value)
            } else if members.index(forKey: name) == nil {
                members[name] = value
            }
        }
    }

    /// The next value: a dictionary, an array, a text, a number, a boolean, or a nil.
    ///
    /// Without recursion: a deep value takes no stack.
    mutating func value() -> Any {
        var open: [Open] = []
        while place < bytes.count {
            var value: Any = ()
            var isWhole = true
            switch kind() {
            case .object, .list:
                isWhole = false
                open.append(Open(isObject: current == UInt8(ascii: "{")))
                enter()
            case .text: value = text()
            case .number: value = number().any
            case .bool: value = bool()
            case .null:
                null()
                value = Any?.none as Any
            }
            while true {
                guard let last = open.indices.last else { return value }
                if isWhole { open[last].add(value) }
                if open[last].isObject ? hasMember() : hasElement() { break }
                let done = open.removeLast()
                value = done.isObject ? done.members as Any : done.elements as Any
                isWhole = true
            }
            if let last = open.indices.last, open[last].isObject {
                open[last].name = name { String(decoding: $0, as: UTF8.self) }
            }
        }
        return Any?.none as Any
    }

    /// Moves past a value of any kind.
    mutating func skip() {
        var depth = 0
        repeat {
            skipSpace()
            switch current {
            case UInt8(ascii: "\""): _ = rawText()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                place += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"): place += 1
            default: skipPlain()
            }
        } while depth > 0 && place < bytes.count
    }

    private mutating func skipPlain() {
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...0x20: return
            default: place += 1
            }
        }
    }

    // MARK: Text

    /// Moves past a text.
    /// - Returns: the bytes between the quotes, and whether they contain no escape.
    private mutating func rawText() -> (UnsafeRawBufferPointer, isPlain: Bool) {
        place = min(place + 1, bytes.count)
        let start = place
        var isPlain = true
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                isPlain = false
                place += 1
            }
            place += 1
        }
        let end = min(place, bytes.count)
        place = min(place + 1, bytes.count)
        return (UnsafeRawBufferPointer(rebasing: bytes[start..<end]), isPlain)
    }

    private static func unescaped(_ raw: UnsafeRawBufferPointer) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(raw.count)
        var place = 0
        func unit(at place: Int) -> UInt32 {
            raw.dropFirst(place).prefix(4).reduce(0) { $0 << 4 | (hexadecimal($1) ?? 0) }
        }
        while place < raw.count {
            let byte = raw[place]
            place += 1
            guard byte == UInt8(ascii: "\\"), place < raw.count else {
                text.append(byte)
                continue
            }
            let code = raw[place]
            place += 1
            switch code {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                var value = unit(at: place)
                place += 4
                if value & 0xFC00 == 0xD800 {
                    value = 0x1_0000 + (value & 0x3FF) << 10 + unit(at: place + 2) & 0x3FF
                    place += 6
                }
                text += String(Character(Unicode.Scalar(value) ?? "\u{FFFD}")).utf8
            default: text.append(code)
            }
        }
        return text
    }

    static func hexadecimal(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte | 0x20) - 0x57
        default: nil
        }
    }
}
