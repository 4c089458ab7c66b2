extension ReadView {
    /// The visited nodes of a walk over the version that is about to begin: none.
    package var nothingMet: MetNodes { MetNodes(reader) }
}

extension CollectionPart {
    /// Whether the elements are in a leaf, not in their row.
    package var isLeaf: Bool {
        if case .leaf = source { return true }
        return false
    }
}

extension MetNodes {
    /// - Throws: `corrupt` if the leaf of these elements was visited before.
    package func meet(_ part: CollectionPart) throws(StorageError) {
        if case .leaf(let leaf, _) = part.source { try meet(leaf.node) }
    }
}
