/// Rows of one group that will be deleted.
struct PendingDeletion {
    var count = 0
    var reach: TableEditor.KeyReach?
    var group: Group?
    /// A bit per main slot, and per inserted row.
    var slots: [UInt64] = []
    var inserted: [UInt64] = []
    /// Whether the group may have long values; determined after some rows were deleted.
    var mayHaveLong = true
    /// Number of deleted rows that are examined one by one for long values before the whole group is.
    static let rowsBeforeGroup = 8

    init() {}

    /// - Parameter reach: the keys of the group.
    init(from group: Group, _ reach: TableEditor.KeyReach?) {
        self.group = group
        self.reach = reach
        slots = Array(repeating: 0, count: group.rows / 64 + 1)
        inserted = Array(repeating: 0, count: group.inserted / 64 + 1)
    }

    /// Whether a row will be deleted.
    @inline(__always)
    func contains(_ slot: Int32) -> Bool {
        let place = Int(slot >= 0 ? slot : ~slot)
        return (slot >= 0 ? slots[place >> 6] : inserted[place >> 6]) >> UInt64(place & 63) & 1 != 0
    }

    @inline(__always)
    mutating func add(_ slot: Int32) {
        let place = Int(slot >= 0 ? slot : ~slot)
        let bit = UInt64(1) << UInt64(place & 63)
        if slot >= 0 { slots[place >> 6] |= bit } else { inserted[place >> 6] |= bit }
        count += 1
    }

    static func list(_ bits: [UInt64]) -> [Int] {
        var found: [Int] = []
        for (index, word) in bits.enumerated() {
            var rest = word
            while rest != 0 {
                found.append(index * 64 + rest.trailingZeroBitCount)
                rest &= rest - 1
            }
        }
        return found
    }
}
