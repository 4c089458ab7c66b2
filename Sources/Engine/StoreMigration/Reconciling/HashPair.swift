/// The hashes of both stores, by which a comparison finds differing records.
struct HashPair {
    private var old: RangeHashes
    private var new: RangeHashes
    private var hashers: [String: RecordHash]

    init(_ models: [RecordModel], old: RangeHashes, new: RangeHashes) {
        self.old = old
        self.new = new
        hashers = Dictionary(models.map { ($0.name, RecordHash($0)) }, uniquingKeysWith: { a, _ in a })
    }

    /// Updates the hashes of these records from a store; a record that was not found is removed.
    mutating func take(_ ids: [RecordID], _ found: [RecordID: Record], _ side: StoreSide) {
        for id in ids {
            let hash = found[id].flatMap { hashers[id.model]?.hash($0) }
            if side == .old { old.set(id, to: hash) } else { new.set(id, to: hash) }
        }
    }

    mutating func hash(_ record: Record) -> UInt64? { hashers[record.id.model]?.hash(record) }

    /// - Parameter steps: counts the examined sums and entries.
    mutating func differences(_ steps: inout Int) -> [RecordID] {
        RangeHashes.differences(&old, &new, steps: &steps)
    }

    var counts: (old: Int, new: Int) { (old.count, new.count) }
}
