/// A decimal floating-point number of 34 digits: IEEE 754-2008 decimal128.
///
///     let price: Decimal128 = "19.90"
///     let total = price * 3            // 59.70, exactly
///
/// The number of trailing zeros is kept, as the standard requires: "1.0" and "1.00" are equal, and print as written.
/// Results are rounded to 34 digits, half to even.
/// Layout: sign (1 bit), exponent + 6176 (14 bits), coefficient as a binary integer (113 bits).
public struct Decimal128: Sendable {
    public let high: UInt64
    public let low: UInt64

    /// Zero.
    public init() { self.init(Parts(isNegative: false, coefficient: 0, exponent: 0)) }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The components of a finite number.
    struct Parts {
        var isNegative: Bool
        /// Below 10^34.
        var coefficient: UInt128
        /// -6176 to 6111.
        var exponent: Int
    }

    static let leastExponent = -6176
    static let greatestExponent = 6111
    static let precision = 34
    private static let negative: UInt64 = 1 << 63
    private static let infinityBits: UInt64 = 0x7800_0000_0000_0000
    private static let nanBits: UInt64 = 0x7C00_0000_0000_0000

    public static let infinity = Decimal128(high: infinityBits, low: 0)
    public static let nan = Decimal128(high: nanBits, low: 0)
    /// The largest number.
    public static let max = Decimal128(
        Parts(isNegative: false, coefficient: Decimal128.power(34) - 1, exponent: greatestExponent))
    /// The smallest number, below zero.
    public static let min = Decimal128(
        Parts(isNegative: true, coefficient: Decimal128.power(34) - 1, exponent: greatestExponent))

    public var isNaN: Bool { high & Self.nanBits == Self.nanBits }
    public var isInfinite: Bool { high & Self.nanBits == Self.infinityBits }
    public var isFinite: Bool { high & Self.infinityBits != Self.infinityBits }
    public var isNegative: Bool { high & Self.negative != 0 }
    public var isZero: Bool { parts?.coefficient == 0 }
    public var magnitude: Decimal128 { Decimal128(high: high & ~Self.negative, low: low) }

    /// Nil for infinities and NaN.
    var parts: Parts? {
        guard isFinite else { return nil }
        // The second form of the coefficient begins above 10^34: the standard defines it as zero.
        if high >> 61 & 3 == 3 {
            let exponent = Int(high >> 47 & 0x3FFF) + Self.leastExponent
            return Parts(isNegative: isNegative, coefficient: 0, exponent: exponent)
        }
        let coefficient = UInt128(high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(low)
        return Parts(
            isNegative: isNegative, coefficient: coefficient < Self.power(34) ? coefficient : 0,
            exponent: Int(high >> 49 & 0x3FFF) + Self.leastExponent)
    }

    init(_ parts: Parts) {
        let exponent = UInt64(truncatingIfNeeded: parts.exponent - Self.leastExponent) << 49
        high =
            (parts.isNegative ? Self.negative : 0) | exponent | UInt64(truncatingIfNeeded: parts.coefficient >> 64)
        low = UInt64(truncatingIfNeeded: parts.coefficient)
    }

    /// The nearest number to coefficient x 10^exponent; `isInexact` means that the coefficient was cut.
    init(rounding parts: Parts, isInexact: Bool = false) {
        var parts = parts
        var isInexact = isInexact
        let drop = Swift.max(Self.digits(parts.coefficient) - Self.precision, Self.leastExponent - parts.exponent, 0)
        if drop > 0 {
            parts.coefficient = Self.round(parts.coefficient, dropping: drop, &isInexact)
            parts.exponent += drop
            if parts.coefficient == Self.power(34) {
                parts.coefficient /= 10
                parts.exponent += 1
            }
        }
        if parts.coefficient == 0 {
            parts.exponent = Swift.min(Swift.max(parts.exponent, Self.leastExponent), Self.greatestExponent)
        }
        // A large exponent may fit with trailing zeros.
        while parts.exponent > Self.greatestExponent && parts.coefficient < Self.power(33) {
            parts.coefficient *= 10
            parts.exponent -= 1
        }
        guard parts.exponent <= Self.greatestExponent else {
            self = parts.isNegative ? -Decimal128.infinity : .infinity
            return
        }
        self.init(parts)
    }

    /// Half to even.
    private static func round(_ value: UInt128, dropping count: Int, _ isInexact: inout Bool) -> UInt128 {
        if count > 38 {
            isInexact = isInexact || value != 0
            return 0
        }
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: power(count))
        let half = power(count) / 2
        let goesUp = remainder > half || remainder == half && (isInexact || quotient & 1 == 1)
        isInexact = isInexact || remainder != 0
        return goesUp ? quotient + 1 : quotient
    }

    // MARK: Powers of ten

    private static let powers: [UInt128] = {
        var powers: [UInt128] = [1]
        while powers.count < 39 { powers.append(powers[powers.count - 1] * 10) }
        return powers
    }()

    /// 10^exponent, up to 10^38.
    static func power(_ exponent: Int) -> UInt128 { powers[exponent] }

    /// The number of decimal digits; 1 for zero.
    static func digits(_ value: UInt128) -> Int {
        var (low, high) = (1, powers.count)
        while low < high {
            let middle = (low + high) / 2
            if powers[middle] <= value { low = middle + 1 } else { high = middle }
            if low >= powers.count { break }
        }
        return low
    }
}

// MARK: Comparing

extension Decimal128: Hashable, Comparable {
    /// By value; NaN equals itself.
    public static func == (a: Decimal128, b: Decimal128) -> Bool { order(a, b) == 0 }

    /// By value; NaN comes before all numbers.
    public static func < (a: Decimal128, b: Decimal128) -> Bool { order(a, b) < 0 }

    public func hash(into hasher: inout Hasher) {
        guard var parts else {
            hasher.combine(isNaN)
            hasher.combine(isNegative && !isNaN)
            return
        }
        while parts.coefficient != 0 && parts.coefficient % 10 == 0 {
            parts.coefficient /= 10
            parts.exponent += 1
        }
        hasher.combine(parts.coefficient)
        if parts.coefficient != 0 {
            hasher.combine(parts.exponent)
            hasher.combine(parts.isNegative)
        }
    }

    /// -1, 0 or 1.
    private static func order(_ a: Decimal128, _ b: Decimal128) -> Int {
        if a.isNaN || b.isNaN { return (a.isNaN ? 0 : 1) - (b.isNaN ? 0 : 1) }
        func rank(_ value: Decimal128) -> Int {
            value.isInfinite ? (value.isNegative ? -2 : 2) : value.isZero ? 0 : value.isNegative ? -1 : 1
        }
        let (first, second) = (rank(a), rank(b))
        if first != second { return first < second ? -1 : 1 }
        guard first == 1 || first == -1, let left = a.parts, let right = b.parts else { return 0 }
        let size = orderOfSizes(left, right)
        return first == 1 ? size : -size
    }

    private static func orderOfSizes(_ a: Parts, _ b: Parts) -> Int {
        let first = a.exponent + digits(a.coefficient)
        let second = b.exponent + digits(b.coefficient)
        if first != second { return first < second ? -1 : 1 }
        // Both have as many digits before the point: scaling both to the lower exponent takes at most 34 digits.
        let exponent = Swift.min(a.exponent, b.exponent)
        let left = a.coefficient * power(a.exponent - exponent)
        let right = b.coefficient * power(b.exponent - exponent)
        return left == right ? 0 : left < right ? -1 : 1
    }
}
