/// Makes a failing input smaller, as long as it goes on to fail.
///
/// Whether it does is for the caller to say: `keeps` tries a candidate and answers whether the same thing came of it.
/// What is returned was tried, or is what was given. An error of `keeps` ends the search and is passed on; who wants to
/// stop early answers false from then on.
package enum Reduction {
    /// Takes elements out: ddmin, as Zeller and Hildebrandt describe it. Parts of the list are tried alone, then all
    /// but one part, and the parts are halved when neither helps.
    ///
    /// The result is minimal in this sense: without any single one of its elements it does not fail. The order stays.
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
            // Of two parts each is what the other leaves.
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

    /// Contiguous parts that differ in length by one at most.
    static func parts(of length: Int, _ count: Int) -> [Range<Int>] {
        (0..<count).map { (length * $0 / count)..<(length * ($0 + 1) / count) }
    }

    /// Makes a number smaller: the least that is allowed, else by bisection between what fails and what does not. The
    /// answer failed, or is `value`; below it others may fail too, where failing is no matter of size alone.
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
