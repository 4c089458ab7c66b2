extension ReadView {
    /// What a walk over all of the version has come by at its beginning.
    package var nothingMet: MetNodes { MetNodes(reader) }
}

extension CollectionPart {
    /// Whether the elements stand in a leaf, and not in their row.
    package var isLeaf: Bool {
        if case .leaf = source { return true }
        return false
    }
}

extension MetNodes {
    /// - Throws: `corrupt` where the leaf of these elements was met before.
    package func meet(_ part: CollectionPart) throws(StorageError) {
        if case .leaf(let leaf, _) = part.source { try meet(leaf.node) }
    }
}
