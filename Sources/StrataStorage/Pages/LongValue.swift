/// A value that is a node of its own: the reference, and the length in bytes. 32 bytes.
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

    /// Whether it leads to a node on disk that has so many bytes.
    var isPlausible: Bool {
        reference.isOnDisk(.value) && count <= UInt64(reference.byteCount - Format.nodeHeaderSize)
    }

    func store(_ base: UnsafeMutableRawPointer) {
        reference.store(base)
        base.put64(24, count)
    }
}
