// What the numbers among values of any type come to. Other values are passed over.

extension RealmCollection where Element == AnyRealmValue {
    /// The smallest number that is not NaN; nil when there is none.
    public func min() -> AnyRealmValue? { numbers.min { $0.number < $1.number }?.value }
    /// The largest number that is not NaN; nil when there is none.
    public func max() -> AnyRealmValue? { numbers.max { $0.number < $1.number }?.value }
    /// The sum of the numbers, as a decimal; 0 when there is none.
    public func sum() -> AnyRealmValue { .decimal128(numbers.reduce(0) { $0 + $1.number }) }

    /// The mean of the numbers, as a decimal; nil when there is none.
    public func average() -> AnyRealmValue? {
        let numbers = numbers
        return numbers.isEmpty ? nil : .decimal128(numbers.reduce(0) { $0 + $1.number } / Decimal128(numbers.count))
    }

    private var numbers: [(value: AnyRealmValue, number: Decimal128)] {
        compactMap { value in value.decimal.flatMap { $0.isNaN ? nil : (value, $0) } }
    }
}

extension Map where Value == AnyRealmValue {
    /// The smallest number that is not NaN; nil when there is none.
    public func min() -> AnyRealmValue? { List(values).min() }
    /// The largest number that is not NaN; nil when there is none.
    public func max() -> AnyRealmValue? { List(values).max() }
    /// The sum of the numbers, as a decimal; 0 when there is none.
    public func sum() -> AnyRealmValue { List(values).sum() }
    /// The mean of the numbers, as a decimal; nil when there is none.
    public func average() -> AnyRealmValue? { List(values).average() }
}

extension AnyRealmValue {
    /// A number of whichever type; nil for what is none.
    fileprivate var decimal: Decimal128? {
        switch self {
        case .int(let value): Decimal128(value)
        case .float(let value): Decimal128.converted(value)
        case .double(let value): Decimal128(value)
        case .decimal128(let value): value
        default: nil
        }
    }
}
