/// Minimizes a failing input, as long as it still fails.
///
/// The caller decides: `keeps` tries a candidate and returns whether it fails in the same way. The result was tried, or
/// is the input. An error of `keeps` ends the search and is rethrown; to stop early, return false from then on.
package enum Reduction {
    /// Removes elements: ddmin, as Zeller and Hildebrandt describe it. Parts of the list are tried alone, then all but
    /// one part, and the parts are halved when neither fails.
    ///
    /// The result is minimal: without any single one of its elements it does not fail. The order stays.
    /// Complexity: at best O(log n) candidates, at worst O(n * n).
    package static func subset<Element, Failure: Error>(
        of list: [Element], keeps: ([Element]) throws(Failure) -> Bool
    ) throws(Failure) -> [Element] {
        var list = list
        if list.isEmpty { return list }
        if try keeps([]) { return [] }
        var count = min(2, list.count)
        while list.count > 1 {
            let parts = Self.parts(of: list.count, count)
            var found: (list: [Element], count: Int)?
            for part in parts where found == nil {
                let alone = Array(list[part])
                if try keeps(alone) { found = (alone, 2) }
            }
            // Of two parts each is the complement of the other.
            for part in parts where found == nil && count > 2 {
                let rest = Array(list[..<part.lowerBound] + list[part.upperBound...])
                if try keeps(rest) { found = (rest, max(2, count - 1)) }
            }
            if let found {
                list = found.list
                count = min(found.count, list.count)
            } else if count < list.count {
                count = min(count * 2, list.count)
            } else {
                break
            }
        }
        return list
    }

    /// Contiguous parts whose lengths differ by at most one.
    static func parts(of length: Int, _ count: Int) -> [Range<Int>] {
        (0..<count).map { (length * $0 / count)..<(length * ($0 + 1) / count) }
    }

    /// Reduces a number: to `least` if that fails, else by bisection between a number that fails and one that does not.
    /// The result failed, or is `value`; smaller ones may fail, too, where failing does not depend on size alone.
    ///
    /// Complexity: O(log value) candidates.
    package static func number<Failure: Error>(
        _ value: Int, least: Int = 0, keeps: (Int) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        guard value > least else { return value }
        if try keeps(least) { return least }
        var (bad, good) = (value, least)
        while bad - good > 1 {
            let middle = good + (bad - good) / 2
            if try keeps(middle) { bad = middle } else { good = middle }
        }
        return bad
    }
}
