/// The keys of a table, against which links are checked. Dense keys take a bit each.
struct KeySet: Sendable {
    private var first: Int64 = 0
    private var bits: [UInt64] = []
    private var sorted: [Int64] = []
    private(set) var count = 0

    /// - Parameter keys: ascending, each once.
    init(_ keys: [Int64]) {
        count = keys.count
        guard let low = keys.first, let high = keys.last else { return }
        let (span, isTooWide) = high.subtractingReportingOverflow(low)
        guard !isTooWide, span / 64 <= Int64(keys.count) * 2 + 64 else {
            sorted = keys
            return
        }
        first = low
        bits = [UInt64](repeating: 0, count: Int(span / 64) + 1)
        for key in keys { bits[Int((key - low) / 64)] |= 1 << UInt64((key - low) % 64) }
    }

    @inline(__always)
    func contains(_ key: Int64) -> Bool {
        if bits.isEmpty { return search(key) }
        let (place, overflow) = key.subtractingReportingOverflow(first)
        guard !overflow, place >= 0, place / 64 < Int64(bits.count) else { return false }
        return bits[Int(place / 64)] >> UInt64(place % 64) & 1 == 1
    }

    private func search(_ key: Int64) -> Bool {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < sorted.count && sorted[low] == key
    }
}
