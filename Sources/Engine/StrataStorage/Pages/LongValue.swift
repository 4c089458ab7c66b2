/// Descriptor of a long value: the reference to its node and its length in bytes, or the reference to the root of a
/// collection's tree and the number of elements. 32 bytes.
package struct LongValue {
    package static let size = 32
    package var reference: NodeReference
    package var count: UInt64

    init(_ reference: NodeReference, count: Int) {
        self.reference = reference
        self.count = UInt64(count)
    }

    @inline(__always)
    package init(_ base: UnsafeRawPointer) {
        reference = NodeReference(base)
        count = base.u64(24)
    }

    /// Whether it references the root of a tree of elements, not a value's bytes.
    @inline(__always) package var isTree: Bool { reference.is(.collectionLeaf) || reference.is(.collectionBranch) }

    /// Whether it references a node on disk large enough for its bytes, or for its elements.
    /// - Parameter takesTrees: whether the column has collections, so that the reference may be the root of a tree.
    func isPlausible(takesTrees: Bool) -> Bool {
        if !isTree {
            return reference.isOnDisk(.value) && count <= UInt64(reference.byteCount - Format.nodeHeaderSize)
        }
        let kind: NodeKind = reference.is(.collectionLeaf) ? .collectionLeaf : .collectionBranch
        return takesTrees && reference.isOnDisk(kind, maxPages: 1) && count >= 1 && count <= Self.maxElements
    }

    /// Most elements of a collection.
    static let maxElements: UInt64 = 1 << 48

    package func store(_ base: UnsafeMutableRawPointer) {
        reference.store(base)
        base.put64(24, count)
    }
}
