// Aggregates of the numbers among values of any type. Other values are skipped.

/// The numbers of a collection of values of any type, and its dates for extremes.
struct AnyNumbers {
    private let values: [AnyRealmValue]

    init(_ values: some Sequence<AnyRealmValue>) { self.values = Array(values) }

    private var numbers: [Decimal128] { values.compactMap(\.decimal).filter { !$0.isNaN } }
    /// Zero if there is no number.
    var sum: Decimal128 { numbers.reduce(0, +) }

    var mean: Decimal128? {
        let numbers = numbers
        return numbers.isEmpty ? nil : numbers.reduce(0, +) / Decimal128(numbers.count)
    }

    func total(_ aggregate: Predicate.Aggregate) -> AnyRealmValue? {
        switch aggregate {
        case .min: ordered.min { Self.precedes($0, $1) }
        case .max: ordered.max { Self.precedes($0, $1) }
        case .sum: .decimal128(sum)
        case .avg: mean.map { .decimal128($0) }
        case .count: .int(values.count)
        }
    }

    private var ordered: [AnyRealmValue] { values.filter { $0.dateValue != nil || $0.decimal?.isNaN == false } }

    /// Dates are greater than all numbers.
    private static func precedes(_ one: AnyRealmValue, _ other: AnyRealmValue) -> Bool {
        if let one = one.decimal, let other = other.decimal { return one < other }
        guard let later = other.dateValue else { return false }
        return one.dateValue.map { $0 < later } ?? true
    }
}

extension RealmCollection where Element == AnyRealmValue {
    /// The mean of the numbers, as a decimal; nil if there is none.
    public func average() -> AnyRealmValue? { AnyNumbers(self).total(.avg) }
}

extension AnyRealmValue: MinMaxType, AddableType, SortableType {
    /// A number in the form of a column.
    init?(number: _StoredValue) {
        switch number {
        case .integer(let value): self = .int(Int(value))
        case .double(let value): self = .double(value)
        case .decimal(let value): self = .decimal128(value)
        default: return nil
        }
    }

    /// A number of any type; nil for other values.
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
