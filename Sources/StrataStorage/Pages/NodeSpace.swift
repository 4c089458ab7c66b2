/// Resolves references for reading.
protocol NodeReading: AnyObject {
    /// The bytes of a node of this kind; nodes of the arena too. They stay in place while the version is pinned, or
    /// until the arena's node is given up.
    ///
    /// Bounds, checksum and structure were verified, the latter two once per node.
    /// - Throws: `corrupt` when the node is not what the reference says.
    func node(_ reference: NodeReference, _ kind: NodeKind) throws(StorageError) -> UnsafeRawPointer
}

/// Makes and changes nodes, for the one writer.
protocol NodeWriting: NodeReading {
    /// A node in the arena; zeroed but for the node header.
    func makeNode(
        _ kind: NodeKind, pages: Int, table: UInt32
    ) throws(StorageError) -> (NodeReference, UnsafeMutableRawPointer)

    /// The bytes of a node for changing: the arena's own, or a copy in the arena of a node of an older version, which
    /// is given up.
    func mutable(_ reference: inout NodeReference) throws(StorageError) -> UnsafeMutableRawPointer

    /// Writes a value that is too long to stand among others to a node of its own.
    func makeLong(_ bytes: UnsafeRawBufferPointer, table: UInt32) throws(StorageError) -> LongValue

    /// Gives a node up. The arena's are used again; those of older versions stay as long as their readers.
    func drop(_ reference: NodeReference)
}
