/// A set of texts or data, as a hash table over their bytes.
///
/// Compares equal by identity: filters that hold one are compared often, and sets are large.
package final class BytesSet: Sendable, Equatable {
    /// All values, concatenated.
    private let bytes: [UInt8]
    /// End of each value in `bytes`.
    private let ends: [Int]
    /// Index of a value, plus 1; 0 for an empty slot. At least half of the slots are empty.
    private let slots: [UInt32]
    private let lengths: ClosedRange<Int>

    /// Number of different values.
    package var count: Int { ends.count }

    /// - Complexity: O(values and their bytes).
    package init(_ values: [[UInt8]]) {
        var capacity = 2
        while capacity < 2 * values.count { capacity *= 2 }
        var slots = [UInt32](repeating: 0, count: capacity)
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for value in values {
            value.withUnsafeBytes { value in
                var slot = Self.hash(value) & (capacity - 1)
                while slots[slot] != 0 {
                    if Self.isEqual(value, to: Int(slots[slot]) - 1, in: bytes, ends: ends) { return }
                    slot = (slot + 1) & (capacity - 1)
                }
                bytes.append(contentsOf: value)
                ends.append(bytes.count)
                slots[slot] = UInt32(truncatingIfNeeded: ends.count)
            }
        }
        self.bytes = bytes
        self.ends = ends
        self.slots = slots
        let counts = values.map(\.count)
        lengths = (counts.min() ?? 0)...(counts.max() ?? 0)
    }

    /// - Complexity: O(value).
    package func contains(_ value: UnsafeRawBufferPointer) -> Bool {
        guard lengths.contains(value.count) else { return false }
        var slot = Self.hash(value) & (slots.count - 1)
        while slots[slot] != 0 {
            if Self.isEqual(value, to: Int(slots[slot]) - 1, in: bytes, ends: ends) { return true }
            slot = (slot + 1) & (slots.count - 1)
        }
        return false
    }

    /// In the order of insertion.
    package var values: [[UInt8]] { ends.indices.map { Array(bytes[Self.range($0, ends)]) } }

    private static func range(_ number: Int, _ ends: [Int]) -> Range<Int> {
        (number == 0 ? 0 : ends[number - 1])..<ends[number]
    }

    private static func isEqual(
        _ value: UnsafeRawBufferPointer, to number: Int, in bytes: [UInt8], ends: [Int]
    ) -> Bool {
        let range = range(number, ends)
        guard range.count == value.count else { return false }
        return bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[range]).elementsEqual(value) }
    }

    /// Seeded per process, so that no input can force all values into one slot.
    private static func hash(_ value: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: value)
        return hasher.finalize()
    }

    package static func == (a: BytesSet, b: BytesSet) -> Bool { a === b }
}
