/// Resolves references to nodes, for reading.
protocol NodeReading: AnyObject {
    /// The bytes of a node of this kind, in the file or in the arena. They stay valid while the version is pinned, or
    /// until the arena's node is dropped.
    ///
    /// Bounds, checksum and structure were verified, the latter two once per node.
    /// - Throws: `corrupt` if the node differs from its reference.
    func node(_ reference: NodeReference, _ kind: NodeKind) throws(StorageError) -> UnsafeRawPointer
}

/// Makes and changes nodes, for the single writer.
protocol NodeWriting: NodeReading {
    /// Makes a node in the arena; zeroed except for the node header.
    func makeNode(
        _ kind: NodeKind, pages: Int, table: UInt32
    ) throws(StorageError) -> (NodeReference, UnsafeMutableRawPointer)

    /// The bytes of a node in the arena, which the caller may change. A node of an older version is first copied to the
    /// arena and dropped, and `reference` becomes that of the copy.
    func mutable(_ reference: inout NodeReference) throws(StorageError) -> UnsafeMutableRawPointer

    /// Writes a long value to a node of its own.
    func makeLong(_ bytes: UnsafeRawBufferPointer, table: UInt32) throws(StorageError) -> LongValue

    /// Drops a node. Arena memory is reused; pages of older versions stay until no reader needs them.
    func drop(_ reference: NodeReference)
}
