extension Decimal128 {
    /// A number such as `-12.50`, `1E6`, `Infinity` or `NaN`. Digits beyond the 34th are rounded.
    /// - Throws: ``Realm/Error`` with `invalidInput` for anything else.
    public init(string: String) throws {
        guard let value = Self.parsed(string) else {
            throw RealmError(.invalidInput, "'\(string)' is not a decimal number")
        }
        self = value
    }

    static func parsed(_ string: String) -> Decimal128? {
        var text = Array(string.utf8)[...]
        var isNegative = false
        if let first = text.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            isNegative = first == UInt8(ascii: "-")
            text.removeFirst()
        }
        switch String(decoding: text, as: UTF8.self).lowercased() {
        case "nan": return .nan
        case "inf", "infinity": return isNegative ? -Decimal128.infinity : .infinity
        default: break
        }
        guard var parts = coefficient(&text) else { return nil }
        parts.number.isNegative = isNegative
        if let mark = text.first {
            guard mark | 0x20 == UInt8(ascii: "e") else { return nil }
            text.removeFirst()
            guard let exponent = exponent(text) else { return nil }
            parts.number.exponent += exponent
        }
        return Decimal128(rounding: parts.number, isInexact: parts.isInexact)
    }

    /// Consumes leading digits and a point.
    private static func coefficient(_ text: inout ArraySlice<UInt8>) -> (number: Parts, isInexact: Bool)? {
        var number = Parts(isNegative: false, coefficient: 0, exponent: 0)
        var (isInexact, hasDigits, isFraction) = (false, false, false)
        while let character = text.first {
            if character == UInt8(ascii: "."), !isFraction {
                isFraction = true
            } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) {
                let digit = UInt128(character - UInt8(ascii: "0"))
                hasDigits = true
                if number.coefficient < power(36) {
                    number.coefficient = number.coefficient * 10 + digit
                    if isFraction { number.exponent -= 1 }
                } else {
                    isInexact = isInexact || digit != 0
                    if !isFraction { number.exponent += 1 }
                }
            } else {
                break
            }
            text.removeFirst()
        }
        return hasDigits ? (number, isInexact) : nil
    }

    /// An exponent, clamped to values that are out of range anyway.
    private static func exponent(_ text: ArraySlice<UInt8>) -> Int? {
        var text = text
        var isNegative = false
        if let first = text.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            isNegative = first == UInt8(ascii: "-")
            text.removeFirst()
        }
        guard !text.isEmpty else { return nil }
        var value = 0
        for character in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
            value = Swift.min(value * 10 + Int(character - UInt8(ascii: "0")), 1_000_000)
        }
        return isNegative ? -value : value
    }

    /// The shortest text of this number that keeps its zeros; with an exponent if the plain form would need further
    /// zeros, or more than six behind the point.
    public var stringValue: String {
        guard let parts else { return isNaN ? "NaN" : isNegative ? "-Infinity" : "Infinity" }
        let sign = parts.isNegative ? "-" : ""
        let digits = String(parts.coefficient)
        let scale = parts.exponent + digits.count - 1
        if parts.exponent <= 0 && scale >= -6 {
            if parts.exponent == 0 { return sign + digits }
            let before = digits.count + parts.exponent
            if before > 0 { return sign + digits.prefix(before) + "." + digits.dropFirst(before) }
            return sign + "0." + String(repeating: "0", count: -before) + digits
        }
        let fraction = digits.count > 1 ? "." + digits.dropFirst() : ""
        return sign + digits.prefix(1) + fraction + "E" + String(scale)
    }
}

extension Decimal128: CustomStringConvertible, LosslessStringConvertible {
    public var description: String { stringValue }

    public init?(_ description: String) {
        guard let value = Self.parsed(description) else { return nil }
        self = value
    }
}

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
    public init(integerLiteral value: Int64) { self.init(value) }
    /// The shortest decimal number that converts to the literal's double.
    public init(floatLiteral value: Double) { self.init(value) }

    /// Stops the program if the literal is not a number: it is an error of the program.
    public init(stringLiteral value: String) {
        guard let parsed = Self.parsed(value) else { fatalError("'\(value)' is not a decimal number") }
        self = parsed
    }
}

extension Decimal128: Codable {
    /// From text, or from a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let integer = try? container.decode(Int64.self) {
            self.init(integer)
        } else if let double = try? container.decode(Double.self) {
            self.init(double)
        } else {
            try self.init(string: container.decode(String.self))
        }
    }

    /// As text, which keeps every digit.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}
