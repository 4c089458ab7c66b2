#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Decimal128: SignedNumeric, Strideable {
    /// Nil for an integer with more digits than the precision.
    public init?<Source: BinaryInteger>(exactly source: Source) {
        guard var digits = UInt128(exactly: source.magnitude) else { return nil }
        while digits >= Self.power(Self.precision) && digits % 10 == 0 { digits /= 10 }
        guard digits < Self.power(Self.precision) else { return nil }
        self.init(source)
    }

    public mutating func negate() { self = -self }
    public func distance(to other: Decimal128) -> Decimal128 { other - self }
    public func advanced(by distance: Decimal128) -> Decimal128 { self + distance }

    /// Whether it is NaN: there is only one kind.
    public var isSignaling: Bool { isNaN }
    /// See ``isSignaling``.
    public var isSignalingNaN: Bool { isNaN }
}

extension Decimal128 {
    public init(number: some BinaryInteger) { self.init(number) }
    /// The shortest decimal number that converts to the same double.
    public init(number: Double) { self.init(number) }

    /// From an integer, a floating-point number, a `Decimal`, text, or a decimal; null becomes NaN.
    ///
    /// Stops the program for anything else.
    public init(value: Any) {
        guard _flatten(value) != nil else {
            self = .nan
            return
        }
        guard let made = Self.converted(value) else {
            fatalError("a Decimal128 is made from a number or from text, got \(value)")
        }
        self = made
    }

    /// A decimal of any number or numeric text; nil for others.
    static func converted(_ value: Any) -> Decimal128? {
        switch _flatten(value) {
        case let decimal as Decimal128: decimal
        case let integer as any BinaryInteger: Decimal128(integer)
        case let double as Double: Decimal128(double)
        case let float as Float: parsed("\(float)")
        case let decimal as Decimal: parsed("\(decimal)")
        case let text as String: parsed(text)
        default: nil
        }
    }

    /// The number as Foundation's type, rounded to its 38 digits and exponents up to 127; NaN beyond those.
    public var decimalValue: Decimal { Decimal(string: stringValue) ?? .nan }
}
