/// A set of non-overlapping ranges of keys.
struct KeyIntervals {
    private var ranges: [ClosedRange<Int64>] = []

    /// False if the range overlaps an existing one.
    mutating func insert(_ range: ClosedRange<Int64>) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        if low < ranges.count, ranges[low].overlaps(range) { return false }
        ranges.insert(range, at: low)
        return true
    }
}
