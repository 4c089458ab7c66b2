extension Decimal128 {
    public init(_ value: some BinaryInteger) {
        guard let magnitude = UInt128(exactly: value.magnitude) else {
            self = value < 0 ? -Decimal128.infinity : .infinity
            return
        }
        self.init(rounding: Parts(isNegative: value < 0, coefficient: magnitude, exponent: 0))
    }

    /// The shortest decimal number that converts to the same double.
    public init(_ value: Double) { self = Self.parsed("\(value)") ?? .nan }

    /// The nearest double.
    public var doubleValue: Double { Double(stringValue.lowercased()) ?? .nan }

    public static prefix func - (value: Decimal128) -> Decimal128 {
        Decimal128(high: value.high ^ 1 << 63, low: value.low)
    }

    public static func + (a: Decimal128, b: Decimal128) -> Decimal128 {
        guard let left = a.parts, let right = b.parts else {
            if a.isNaN || b.isNaN { return .nan }
            if a.isInfinite && b.isInfinite { return a.isNegative == b.isNegative ? a : .nan }
            return a.isInfinite ? a : b
        }
        return left.exponent >= right.exponent ? sum(left, right) : sum(right, left)
    }

    public static func - (a: Decimal128, b: Decimal128) -> Decimal128 { a + -b }

    /// - Parameter a: the one with the higher exponent.
    private static func sum(_ a: Parts, _ b: Parts) -> Decimal128 {
        if a.coefficient == 0 { return Decimal128(b.coefficient == 0 ? zero(a, b) : b) }
        if b.coefficient == 0, a.exponent - b.exponent > precision { return Decimal128(a) }
        // Three digits beyond the precision decide the rounding; `isInexact` records whether digits are cut beyond
        // those.
        var high = a
        let shift = Swift.min(a.exponent - b.exponent, 37 - digits(a.coefficient))
        high.coefficient *= power(shift)
        high.exponent -= shift
        let distance = high.exponent - b.exponent
        var low = b.coefficient
        var isInexact = false
        if distance > 0 {
            let divisor = distance > 38 ? 0 : power(distance)
            isInexact = divisor == 0 ? low != 0 : low % divisor != 0
            low = divisor == 0 ? 0 : low / divisor
        }
        var result = Parts(isNegative: a.isNegative, coefficient: 0, exponent: high.exponent)
        if a.isNegative == b.isNegative {
            result.coefficient = high.coefficient + low
        } else if high.coefficient >= low {
            // The digits cut off make the difference smaller: it lies between this number and the next.
            result.coefficient = high.coefficient - low - (isInexact ? 1 : 0)
        } else {
            result.coefficient = low - high.coefficient
            result.isNegative = b.isNegative
        }
        if result.coefficient == 0 { result.isNegative = false }
        return Decimal128(rounding: result, isInexact: isInexact)
    }

    private static func zero(_ a: Parts, _ b: Parts) -> Parts {
        Parts(isNegative: a.isNegative && b.isNegative, coefficient: 0, exponent: b.exponent)
    }

    public static func * (a: Decimal128, b: Decimal128) -> Decimal128 {
        let isNegative = a.isNegative != b.isNegative
        guard let left = a.parts, let right = b.parts else {
            if a.isNaN || b.isNaN || a.isZero || b.isZero { return .nan }
            return isNegative ? -Decimal128.infinity : .infinity
        }
        var result = Parts(isNegative: isNegative, coefficient: 0, exponent: left.exponent + right.exponent)
        let product = left.coefficient.multipliedFullWidth(by: right.coefficient)
        if product.high == 0 && product.low < power(38) {
            result.coefficient = UInt128(product.low)
            return Decimal128(rounding: result)
        }
        // Below 10^68: the part above 10^34 gives the number of digits to drop; three more are kept for the rounding.
        let above = power(34).dividingFullWidth(product).quotient
        let drop = Swift.max(digits(above) - 3, 1)
        let (quotient, remainder) = power(drop).dividingFullWidth(product)
        result.coefficient = quotient
        result.exponent += drop
        return Decimal128(rounding: result, isInexact: remainder != 0)
    }

    public static func / (a: Decimal128, b: Decimal128) -> Decimal128 {
        let isNegative = a.isNegative != b.isNegative
        guard var left = a.parts, var right = b.parts else {
            if a.isNaN || b.isNaN || a.isInfinite && b.isInfinite { return .nan }
            if a.isInfinite { return isNegative ? -Decimal128.infinity : .infinity }
            return Decimal128(Parts(isNegative: isNegative, coefficient: 0, exponent: 0))
        }
        let wanted = left.exponent - right.exponent
        if right.coefficient == 0 {
            return left.coefficient == 0 ? .nan : isNegative ? -Decimal128.infinity : .infinity
        }
        if left.coefficient == 0 {
            return Decimal128(rounding: Parts(isNegative: isNegative, coefficient: 0, exponent: wanted))
        }
        left.fill()
        right.fill()
        // Both have 34 digits, so the quotient has 35 or 36.
        let (quotient, remainder) = right.coefficient.dividingFullWidth(
            left.coefficient.multipliedFullWidth(by: power(35)))
        var result = Parts(
            isNegative: isNegative, coefficient: quotient, exponent: left.exponent - right.exponent - 35)
        while remainder == 0 && result.exponent < wanted && result.coefficient % 10 == 0 {
            result.coefficient /= 10
            result.exponent += 1
        }
        return Decimal128(rounding: result, isInexact: remainder != 0)
    }

    public static func += (a: inout Decimal128, b: Decimal128) { a = a + b }
    public static func -= (a: inout Decimal128, b: Decimal128) { a = a - b }
    public static func *= (a: inout Decimal128, b: Decimal128) { a = a * b }
    public static func /= (a: inout Decimal128, b: Decimal128) { a = a / b }
}

extension Decimal128.Parts {
    /// Appends zeros until there are 34 digits.
    fileprivate mutating func fill() {
        let missing = Decimal128.precision - Decimal128.digits(coefficient)
        guard missing > 0 else { return }
        coefficient *= Decimal128.power(missing)
        exponent -= missing
    }
}

// MARK: As a column has it

extension Decimal128 {
    /// From the 16 bytes of a column, little-endian; zero if there are none.
    init?(bytes: UnsafeRawBufferPointer) {
        if bytes.isEmpty {
            self.init()
            return
        }
        guard bytes.count == 16 else { return nil }
        self.init(
            high: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            low: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)))
    }

    /// In the form of a column.
    var storedBytes: [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? low : high) >> UInt64(8 * ($0 % 8))) }
    }
}
