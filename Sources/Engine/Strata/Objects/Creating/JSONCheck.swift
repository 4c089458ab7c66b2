/// What is wrong with a JSON text.
struct JSONFault: Error {
    let message: String
    /// From the beginning of the bytes.
    let offset: Int
}

/// Checks a JSON text as a whole before any object is created from it, so that a mistake in the last line does not
/// leave half of the objects: RFC 8259 in UTF-8, with a bound on the nesting.
///
/// - Complexity: one pass, without recursion.
struct JSONCheck {
    private let bytes: UnsafeRawBufferPointer
    private var place: Int
    /// For each object or list whose end was not reached yet: whether it is an object. The innermost is last.
    private var open: [Bool] = []
    private let deepest: Int

    /// - Parameters:
    ///   - start: where the text begins.
    ///   - deepest: how many objects and lists may be nested inside one another.
    init(_ bytes: UnsafeRawBufferPointer, from start: Int, deepest: Int) {
        self.bytes = bytes
        place = start
        self.deepest = deepest
    }

    mutating func run() throws(JSONFault) {
        repeat { try value() } while try goesOn()
    }

    private func fault(_ message: String) -> JSONFault { JSONFault(message: message, offset: place) }

    /// The byte at `place`; at the end of the text 0, which occurs nowhere in JSON.
    @inline(__always)
    private var current: UInt8 { place < bytes.count ? bytes[place] : 0 }

    @inline(__always)
    private mutating func skipSpace() {
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x09, 0x0A, 0x0D: place += 1
            default: return
            }
        }
    }

    // MARK: Values

    /// Checks a plain value, or the beginning of an object or a list up to its first value or its end.
    private mutating func value() throws(JSONFault) {
        while true {
            skipSpace()
            switch current {
            case UInt8(ascii: "\""): return try text()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
            case UInt8(ascii: "t"): return try word("true")
            case UInt8(ascii: "f"): return try word("false")
            case UInt8(ascii: "n"): return try word("null")
            case UInt8(ascii: "{"):
                try enter(isObject: true)
                if current == UInt8(ascii: "}") { return leave() }
                try name()
            case UInt8(ascii: "["):
                try enter(isObject: false)
                if current == UInt8(ascii: "]") { return leave() }
            default: throw fault(place < bytes.count ? "expected a value" : "expected a value, found the end")
            }
        }
    }

    /// Moves from the end of a value to the next value of its object or list, and past all ends before that.
    /// - Returns: false at the end of the text.
    private mutating func goesOn() throws(JSONFault) -> Bool {
        while true {
            skipSpace()
            guard let isObject = open.last else {
                if place < bytes.count { throw fault("more text after the end of the document") }
                return false
            }
            let end = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
            if current == end {
                leave()
            } else if current == UInt8(ascii: ",") {
                place += 1
                if isObject { try name() }
                return true
            } else {
                throw fault("expected a comma or \(Character(Unicode.Scalar(end)))")
            }
        }
    }

    private mutating func enter(isObject: Bool) throws(JSONFault) {
        if open.count == deepest {
            throw fault(
                "more than \(deepest) objects and lists inside one another, and at most \(deepest) are read; take the "
                    + "text apart, or make it flat")
        }
        open.append(isObject)
        place += 1
        skipSpace()
    }

    private mutating func leave() {
        open.removeLast()
        place += 1
    }

    private mutating func name() throws(JSONFault) {
        skipSpace()
        guard current == UInt8(ascii: "\"") else { throw fault("expected a name in quotes") }
        try text()
        skipSpace()
        guard current == UInt8(ascii: ":") else { throw fault("expected a colon after the name") }
        place += 1
    }

    private mutating func word(_ word: StaticString) throws(JSONFault) {
        let start = place
        for offset in 0..<word.utf8CodeUnitCount {
            guard current == word.utf8Start[offset] else {
                throw JSONFault(message: "expected a value; a text needs quotes", offset: start)
            }
            place += 1
        }
    }

    // MARK: Numbers

    private mutating func number() throws(JSONFault) {
        let start = place
        if current == UInt8(ascii: "-") { place += 1 }
        if current == UInt8(ascii: "0") {
            place += 1
            if isDigit(current) { throw JSONFault(message: "a number that begins with 0", offset: start) }
        } else {
            try digits(start)
        }
        if current == UInt8(ascii: ".") {
            place += 1
            try digits(start)
        }
        var mayBeTooLarge = place - start > 300
        if current | 0x20 == UInt8(ascii: "e") {
            mayBeTooLarge = true
            place += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { place += 1 }
            try digits(start)
        }
        if mayBeTooLarge {
            let text = String(decoding: bytes[start..<place], as: UTF8.self)
            guard let number = Double(text), number.isFinite else {
                throw JSONFault(message: "a number that is too large", offset: start)
            }
        }
    }

    private mutating func digits(_ start: Int) throws(JSONFault) {
        guard isDigit(current) else { throw JSONFault(message: "not a number", offset: start) }
        while isDigit(current) { place += 1 }
    }

    @inline(__always)
    private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    // MARK: Text

    private mutating func text() throws(JSONFault) {
        let start = place
        place += 1
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "\"") {
                place += 1
                return
            }
            if byte == UInt8(ascii: "\\") {
                try escape()
            } else if byte < 0x20 {
                throw fault("a control character inside a text; write it as an escape")
            } else if byte < 0x80 {
                place += 1
            } else {
                try character()
            }
        }
        throw JSONFault(message: "a text without an end", offset: start)
    }

    private mutating func escape() throws(JSONFault) {
        let start = place
        place += 1
        let code = current
        place += 1
        switch code {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"): break
        default: throw JSONFault(message: "an unknown escape", offset: start)
        }
        let first = try hexadecimal(start)
        if first & 0xF800 != 0xD800 { return }
        guard first & 0xFC00 == 0xD800, current == UInt8(ascii: "\\") else { throw Self.half(start) }
        place += 1
        guard current == UInt8(ascii: "u") else { throw Self.half(start) }
        place += 1
        guard try hexadecimal(start) & 0xFC00 == 0xDC00 else { throw Self.half(start) }
    }

    private static func half(_ start: Int) -> JSONFault {
        JSONFault(message: "half of a surrogate pair", offset: start)
    }

    private mutating func hexadecimal(_ start: Int) throws(JSONFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = JSONCursor.hexadecimal(current) else {
                throw JSONFault(message: "expected four hexadecimal digits of a character", offset: start)
            }
            value = value << 4 | digit
            place += 1
        }
        return value
    }

    /// Checks a character of more than one byte: it has the shortest form, and is no surrogate.
    private mutating func character() throws(JSONFault) {
        let first = bytes[place]
        let (count, least, most): (Int, UInt8, UInt8)
        switch first {
        case 0xC2...0xDF: (count, least, most) = (2, 0x80, 0xBF)
        case 0xE0: (count, least, most) = (3, 0xA0, 0xBF)
        case 0xED: (count, least, most) = (3, 0x80, 0x9F)
        case 0xE1...0xEF: (count, least, most) = (3, 0x80, 0xBF)
        case 0xF0: (count, least, most) = (4, 0x90, 0xBF)
        case 0xF1...0xF3: (count, least, most) = (4, 0x80, 0xBF)
        case 0xF4: (count, least, most) = (4, 0x80, 0x8F)
        default: throw fault("bytes that are no UTF-8")
        }
        guard place + count <= bytes.count, bytes[place + 1] >= least, bytes[place + 1] <= most,
            (2..<count).allSatisfy({ bytes[place + $0] & 0xC0 == 0x80 })
        else { throw fault("bytes that are no UTF-8") }
        place += count
    }
}
