/// The places that an access to a collection needs, as the program gave them: they may be negative, beyond the end, or
/// in inverted order.
enum NeededPlaces {
    /// The elements from one place to another, both included.
    case elements(from: Int, to: Int)
    /// The places from one to another, excluding the second. Equal ones need no element, and may both be the end.
    case range(from: Int, to: Int)

    static func element(_ place: Int) -> Self { .elements(from: place, to: place) }
    static func gap(_ place: Int) -> Self { .range(from: place, to: place) }
    static func range(_ range: Range<Int>) -> Self { .range(from: range.lowerBound, to: range.upperBound) }

    /// A place that is outside `bounds`; nil if all are inside.
    func missing(in bounds: Range<Int>) -> Int? {
        switch self {
        case .elements(let first, let last):
            if first < bounds.lowerBound { return first }
            return last < bounds.upperBound ? nil : last
        case .range(let lower, let upper):
            if lower < bounds.lowerBound || lower > bounds.upperBound { return lower }
            if upper > bounds.upperBound { return upper - 1 }
            return upper < lower ? upper : nil
        }
    }

    /// A place plus a distance; clamped if it overflows.
    static func sum(_ place: Int, _ distance: Int) -> Int {
        let (sum, overflows) = place.addingReportingOverflow(distance)
        return overflows ? (distance < 0 ? .min : .max) : sum
    }

    /// The distance from one place to another; clamped if it overflows.
    static func distance(from start: Int, to end: Int) -> Int {
        let (distance, overflows) = end.subtractingReportingOverflow(start)
        return overflows ? (start < 0 ? .max : .min) : distance
    }
}
