/// Counts of values from 0 to 2^64 - 1, with a relative error of at most 1/128 (0.8 %), in at most 30 KiB of buckets.
///
/// Layout: values below 128 have a bucket each. Above, every power of two is split into 64 buckets of equal width, so
/// that a bucket is never wider than 1/64 of its lower bound, and its middle is never further than 1/128 from any value
/// in it. Minimum, maximum and sum are exact. Buckets are allocated up to that of the largest value so far.
///
/// Merging adds counts exactly, and is associative and commutative: histograms of threads, processes and shards can be
/// merged in any order with the same result.
package struct Histogram: Sendable, Equatable {
    @usableFromInline
    package private(set) var buckets: [UInt64] = []
    package private(set) var count: UInt64 = 0
    package private(set) var minimum: UInt64 = .max
    package private(set) var maximum: UInt64 = 0
    /// Wraps above 2^64: 584 years of nanoseconds.
    package private(set) var sum: UInt64 = 0

    package init() {}

    /// The bound on `abs(quantile - exact) / exact`.
    package static let relativeError = 1.0 / 128

    package static func bucketIndex(_ value: UInt64) -> Int {
        guard value >= 128 else { return Int(value) }
        let power = 63 - value.leadingZeroBitCount
        return 128 + (power - 7) * 64 + Int((value >> UInt64(power - 6)) & 63)
    }

    /// The values that a bucket counts.
    package static func bucketBounds(_ index: Int) -> ClosedRange<UInt64> {
        guard index >= 128 else { return UInt64(index)...UInt64(index) }
        let power = UInt64((index - 128) / 64 + 7)
        let step = UInt64((index - 128) % 64)
        let width = UInt64(1) << (power - 6)
        let lower = (64 + step) * width
        return lower...(lower + (width - 1))
    }

    package mutating func record(_ value: UInt64, count added: UInt64 = 1) {
        guard added > 0 else { return }
        let index = Self.bucketIndex(value)
        if index >= buckets.count {
            buckets.append(contentsOf: repeatElement(0, count: index + 1 - buckets.count))
        }
        buckets[index] += added
        count += added
        sum &+= value &* added
        minimum = min(minimum, value)
        maximum = max(maximum, value)
    }

    package mutating func merge(_ other: Histogram) {
        if other.buckets.count > buckets.count {
            buckets.append(contentsOf: repeatElement(0, count: other.buckets.count - buckets.count))
        }
        for (index, added) in other.buckets.enumerated() {
            buckets[index] += added
        }
        count += other.count
        sum &+= other.sum
        minimum = min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
    }

    package var isEmpty: Bool { count == 0 }

    package var mean: Double { count == 0 ? 0 : Double(sum) / Double(count) }

    /// The fewest values that must lie beyond a quantile: with fewer the quantile is hardly more than the maximum.
    package static let fewestBeyond = 10

    /// Whether enough values lie beyond the quantile for a report to show it: p99 takes 1 000 values, p99.9 10 000.
    package func carries(_ fraction: Double) -> Bool {
        // The small tolerance is for rounding: 1 - 0.999 is a little less than 0.001.
        Double(count) * (1 - fraction) >= Double(Self.fewestBeyond) - 1e-6
    }

    /// The value at rank `ceil(fraction * count)`, at least 1: the middle of its bucket, clamped to minimum and
    /// maximum. 0 for an empty histogram. Complexity: O(buckets).
    package func quantile(_ fraction: Double) -> UInt64 {
        guard count > 0 else { return 0 }
        let rank = UInt64(min(max((fraction * Double(count)).rounded(.up), 1), Double(count)))
        if rank >= count { return maximum }
        var seen: UInt64 = 0
        for (index, bucket) in buckets.enumerated() {
            seen += bucket
            if seen >= rank {
                let bounds = Self.bucketBounds(index)
                let middle = bounds.lowerBound + (bounds.upperBound - bounds.lowerBound) / 2
                return min(max(middle, minimum), maximum)
            }
        }
        return maximum
    }

    /// The non-empty buckets, ascending: the form in which a histogram is stored.
    package var sparse: [(index: Int, count: UInt64)] {
        var list: [(index: Int, count: UInt64)] = []
        for (index, bucket) in buckets.enumerated() where bucket > 0 {
            list.append((index, bucket))
        }
        return list
    }

    /// A histogram from its stored form; nil if its parts contradict each other.
    package init?(sparse: [(index: Int, count: UInt64)], minimum: UInt64, maximum: UInt64, sum: UInt64) {
        let limit = Self.bucketIndex(.max)
        for (index, added) in sparse {
            guard index >= 0, index <= limit, added > 0 else { return nil }
            let (total, overflow) = count.addingReportingOverflow(added)
            guard !overflow else { return nil }
            count = total
            if index >= buckets.count {
                buckets.append(contentsOf: repeatElement(0, count: index + 1 - buckets.count))
            }
            guard buckets[index] == 0 else { return nil }
            buckets[index] = added
        }
        guard let first = sparse.map(\.index).min(), let last = sparse.map(\.index).max() else {
            return
        }
        guard Self.bucketIndex(minimum) == first, Self.bucketIndex(maximum) == last else { return nil }
        self.minimum = minimum
        self.maximum = maximum
        self.sum = sum
    }
}
