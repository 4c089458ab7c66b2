/// Compares collections of two versions by what they hold. One that was written anew, or moved by a compaction, is the
/// same as before.
struct CollectionComparison {
    let earlier: CollectionReader
    let later: CollectionReader

    /// Whether both hold the same elements in the same order.
    /// - Complexity: O(1) for one tree; O(leaves) for two that share their leaves; else O(elements), up to the first
    ///   difference.
    func isEqual() throws(StorageError) -> Bool {
        if let root = earlier.root, root == later.root { return true }
        guard earlier.count == later.count else { return false }
        var parts: [CollectionPart] = []
        try earlier.forEachPart { (part) throws(StorageError) in
            parts.append(part)
            return true
        }
        var number = 0
        var isEqual = true
        try later.forEachPart { (part) throws(StorageError) in
            var place = part.first
            while place < part.end {
                while number < parts.count, parts[number].end <= place { number += 1 }
                guard number < parts.count else {
                    isEqual = false
                    return false
                }
                let other = parts[number]
                let end = min(part.end, other.end)
                if !other.isSameNode(as: part) {
                    for index in place..<end where try !Self.isEqual(part, other, at: index) {
                        isEqual = false
                        return false
                    }
                }
                place = end
            }
            return true
        }
        return isEqual
    }

    private static func isEqual(
        _ a: CollectionPart, _ b: CollectionPart, at place: Int
    ) throws(StorageError) -> Bool {
        guard isEqual(try a.value(at: place), try b.value(at: place)) else { return false }
        return isEqual(try a.key(at: place), try b.key(at: place))
    }

    private static func isEqual(_ a: Cell, _ b: Cell) -> Bool {
        guard a.kind == b.kind else { return false }
        return a.kind == .bytes ? a.bytesValue.elementsEqual(b.bytesValue) : a.bits == b.bits
    }
}

extension CollectionPart {
    /// Whether both are one leaf, at one place: nodes of versions that are pinned never change.
    fileprivate func isSameNode(as other: CollectionPart) -> Bool {
        guard case .leaf(let mine, _) = source, case .leaf(let others, _) = other.source else { return false }
        return mine.node == others.node && first == other.first
    }
}
