/// Order of entries: value or target first, row or origin second.
typealias EntryKey = (high: Int64, low: Int64)

/// A change of one entry's count: a count of 0 removes the entry.
///
/// Inside the tree the same type carries whole entries from leaf to leaf; `delta` is then the bit pattern of the count.
struct EntryOperation: Equatable, Sendable {
    var high: Int64
    var low: Int64
    var delta: Int32

    @inline(__always)
    init(high: Int64, low: Int64, delta: Int32) {
        self.high = high
        self.low = low
        self.delta = delta
    }

    @inline(__always) var key: EntryKey { (high, low) }
    /// The count of an entry.
    @inline(__always) var count: UInt32 { UInt32(bitPattern: delta) }

    @inline(__always)
    static func precedes(_ a: EntryKey, _ b: EntryKey) -> Bool {
        a.high < b.high || (a.high == b.high && a.low < b.low)
    }
}

extension EntryOperation {
    /// Sorts, sums the deltas of equal keys, and drops sums of 0.
    ///
    /// Complexity: one pass when sorted already, else a radix sort over the bytes that differ.
    /// - Throws: `limit(.valueSize)` if a sum exceeds the range of `delta`.
    static func prepare(_ operations: inout [EntryOperation]) throws(StorageError) {
        var isSorted = true
        var isReady = true
        operations.withUnsafeBufferPointer { buffer in
            guard let first = buffer.first else { return }
            isReady = first.delta != 0
            for i in buffer.indices.dropFirst() {
                if precedes(buffer[i].key, buffer[i - 1].key) {
                    isSorted = false
                    return
                }
                if buffer[i].delta == 0 || buffer[i].key == buffer[i - 1].key { isReady = false }
            }
        }
        if isSorted && isReady { return }
        if !isSorted { sort(&operations) }
        try sumEqualKeys(&operations)
    }

    private static func sumEqualKeys(_ operations: inout [EntryOperation]) throws(StorageError) {
        var kept = 0
        var fits = true
        operations.withUnsafeMutableBufferPointer { buffer in
            var i = 0
            while i < buffer.count {
                let key = buffer[i].key
                var sum = 0
                while i < buffer.count && buffer[i].key == key {
                    sum += Int(buffer[i].delta)
                    i += 1
                }
                guard sum != 0 else { continue }
                guard let delta = Int32(exactly: sum) else {
                    fits = false
                    return
                }
                buffer[kept] = EntryOperation(high: key.high, low: key.low, delta: delta)
                kept += 1
            }
        }
        guard fits else { throw .limit(.valueSize) }
        operations.removeLast(operations.count - kept)
    }

    private static func sort(_ operations: inout [EntryOperation]) {
        let count = operations.count
        if count < 1000 {
            operations.sort { precedes($0.key, $1.key) }
            return
        }
        let other = UnsafeMutablePointer<EntryOperation>.allocate(capacity: count)
        defer { other.deallocate() }
        operations.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            sort(base, other, count: count)
        }
    }

    /// Sorts by single bytes, the least significant first. Bytes that all keys share need no pass; nor do the low
    /// halves if they ascend already, like those of rows inserted in order.
    private static func sort(
        _ base: UnsafeMutablePointer<EntryOperation>, _ other: UnsafeMutablePointer<EntryOperation>, count: Int
    ) {
        var highDifference: Int64 = 0
        var lowDifference: Int64 = 0
        var lowsAscend = true
        for i in 1..<count {
            highDifference |= base[i].high ^ base[0].high
            lowDifference |= base[i].low ^ base[0].low
            if base[i].low < base[i - 1].low { lowsAscend = false }
        }
        if lowsAscend { lowDifference = 0 }
        var source = base
        var target = other
        for byte in 0..<8 where lowDifference >> (8 * byte) & 255 != 0 {
            scatter(from: source, to: target, count: count, byte: byte) { $0.low }
            swap(&source, &target)
        }
        for byte in 0..<8 where highDifference >> (8 * byte) & 255 != 0 {
            scatter(from: source, to: target, count: count, byte: byte) { $0.high }
            swap(&source, &target)
        }
        if source != base { base.update(from: source, count: count) }
    }

    @inline(__always)
    private static func scatter(
        from source: UnsafeMutablePointer<EntryOperation>, to target: UnsafeMutablePointer<EntryOperation>,
        count: Int, byte: Int, _ part: (EntryOperation) -> Int64
    ) {
        let flip: Int64 = byte == 7 ? .min : 0
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
            places.initialize(repeating: 0)
            for i in 0..<count {
                places[Int(truncatingIfNeeded: (part(source[i]) ^ flip) >> (8 * byte)) & 255] += 1
            }
            var sum = 0
            for bucket in 0..<256 {
                let size = places[bucket]
                places[bucket] = sum
                sum += size
            }
            for i in 0..<count {
                let bucket = Int(truncatingIfNeeded: (part(source[i]) ^ flip) >> (8 * byte)) & 255
                (target + places[bucket]).initialize(to: source[i])
                places[bucket] += 1
            }
        }
    }
}
