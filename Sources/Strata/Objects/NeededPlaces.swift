/// Places that have to be there for an access to a collection, as they come from the caller: they may be negative,
/// behind any end, or turned over.
enum NeededPlaces {
    /// The elements from one place to another one, both included.
    case elements(from: Int, to: Int)
    /// The places between two, the second left out; none where they are equal, which may be at the end.
    case range(from: Int, to: Int)

    static func element(_ place: Int) -> Self { .elements(from: place, to: place) }
    static func gap(_ place: Int) -> Self { .range(from: place, to: place) }
    static func range(_ range: Range<Int>) -> Self { .range(from: range.lowerBound, to: range.upperBound) }

    /// A place that is missing from those that there are; nil when all are there.
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

    /// What the library adds to a place that it was given; the nearest number where the sum is none.
    static func sum(_ place: Int, _ distance: Int) -> Int {
        let (sum, overflows) = place.addingReportingOverflow(distance)
        return overflows ? (distance < 0 ? .min : .max) : sum
    }

    /// The way from one place to another one; the nearest number where it is none.
    static func distance(from start: Int, to end: Int) -> Int {
        let (distance, overflows) = end.subtractingReportingOverflow(start)
        return overflows ? (start < 0 ? .max : .min) : distance
    }
}
