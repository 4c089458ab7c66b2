/// Rows of one group that are to be deleted.
struct PendingDeletion {
    var count = 0
    var reach: TableEditor.KeyReach?
    var group: Group?
    /// A bit per main slot, and per inserted row.
    var slots: [UInt64] = []
    var inserted: [UInt64] = []
    /// Whether any value of the group stands in a node of its own; found out when some rows are gone.
    var mayHaveLong = true
    /// How many rows are looked at one by one before the whole group is.
    static let rowsBeforeGroup = 8

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
