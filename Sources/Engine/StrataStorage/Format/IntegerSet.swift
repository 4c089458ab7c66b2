/// A set of integers: a bitmap if they lie close together, else a hash table.
///
/// Compares equal by identity: filters that hold one are compared often, and sets are large.
package final class IntegerSet: Sendable, Equatable {
    /// Bit `i` stands for `base + i`.
    private let bits: [UInt64]
    private let base: Int64
    private let scattered: Set<Int64>
    /// Number of different integers.
    package let count: Int

    /// - Complexity: O(values).
    package init(_ values: [Int64]) {
        guard let low = values.min(), let high = values.max() else {
            bits = []
            base = 0
            scattered = []
            count = 0
            return
        }
        base = low
        let span = UInt64(bitPattern: high &- low)
        guard span / 128 <= UInt64(values.count) + 512 else {
            bits = []
            scattered = Set(values)
            count = scattered.count
            return
        }
        var bits = [UInt64](repeating: 0, count: Int(span / 64) + 1)
        var count = 0
        for value in values {
            let place = Int(value &- low)
            let bit: UInt64 = 1 << UInt64(place & 63)
            if bits[place >> 6] & bit == 0 { count += 1 }
            bits[place >> 6] |= bit
        }
        self.bits = bits
        self.count = count
        scattered = []
    }

    @inline(__always)
    package func contains(_ value: Int64) -> Bool {
        let place = UInt64(bitPattern: value &- base)
        if place >> 6 < UInt64(bits.count) { return bits[Int(place >> 6)] >> (place & 63) & 1 != 0 }
        return scattered.isEmpty ? false : scattered.contains(value)
    }

    /// Ascending.
    package var values: [Int64] {
        if bits.isEmpty { return scattered.sorted() }
        var values: [Int64] = []
        values.reserveCapacity(count)
        for (index, word) in bits.enumerated() {
            var left = word
            while left != 0 {
                values.append(base &+ Int64(index * 64 + left.trailingZeroBitCount))
                left &= left - 1
            }
        }
        return values
    }

    package static func == (a: IntegerSet, b: IntegerSet) -> Bool { a === b }
}

/// A predicate on text or data that storage does not implement. Compares equal by identity.
package final class BytesMatcher: Sendable, Equatable {
    let holds: @Sendable (UnsafeRawBufferPointer) -> Bool

    /// - Parameter holds: called with bytes that are valid during the call. It may get bytes of a damaged page before
    ///   the damage is detected; its result is dropped then.
    package init(_ holds: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool) { self.holds = holds }

    package static func == (a: BytesMatcher, b: BytesMatcher) -> Bool { a === b }
}
