/// Compares collections of two versions by their contents. A collection that was written anew, or moved by a
/// compaction, is unchanged.
struct CollectionComparison {
    let earlier: CollectionReader
    let later: CollectionReader

    /// Whether both hold the same elements in the same order.
    /// - Complexity: O(1) for one tree; for two trees the nodes that are not shared; else O(elements), up to the first
    ///   difference.
    func isEqual() throws(StorageError) -> Bool {
        if let root = earlier.root, root == later.root { return true }
        guard earlier.count == later.count, earlier.shape.form == later.shape.form else { return false }
        var place = 0
        for run in try SharedRuns(earlier, later).runs where run.old == run.new {
            if try !isEqual(place..<run.old) { return false }
            place = run.old + run.count
        }
        return try isEqual(place..<later.count)
    }

    /// Number of elements that are decoded at once, besides those of their leaves.
    private static let step = 1024

    private func isEqual(_ range: Range<Int>) throws(StorageError) -> Bool {
        var place = range.lowerBound
        while place < range.upperBound {
            let part = place..<min(place + Self.step, range.upperBound)
            if try !ElementStretch(earlier, part).isEqual(to: ElementStretch(later, part)) { return false }
            place = part.upperBound
        }
        return true
    }
}
