internal import StrataFiles

/// Memory for the nodes of the open transaction, before they get pages of the file at its commit, or earlier when a
/// large transaction spills them.
///
/// A reference to such a node carries ``Format/arenaBit`` and its index here. The memory is private to the process, and
/// never moves: it grows in place. Guarded by the write gate: one transaction at a time uses it, and the next one
/// then reuses the memory.
final class Arena {
    private let range: MappedRange
    let base: UnsafeMutableRawPointer
    /// For each page index: the number of pages of the node that starts there; 0 if a dropped node starts there; -1
    /// inside a node, live or dropped.
    @exclusivity(unchecked) private(set) var nodePages: [Int32] = []
    /// Indexes of dropped nodes by their number of pages. Nodes of 17 pages and more are in `largeSpare`. Only a node
    /// with the same number of pages takes the place of a dropped one.
    @exclusivity(unchecked) private var spare: [[Int]] = Array(repeating: [], count: 17)
    @exclusivity(unchecked) private var largeSpare: [Int: [Int]] = [:]
    /// The most pages that the arena may grow to.
    private let most: Int
    /// Pages of reserved address space.
    @exclusivity(unchecked) private var capacity: Int
    /// Pages below this index may hold bytes from before a `reset`: of an earlier transaction, or of this one before it
    /// spilled. All other pages are zero until a node takes them.
    @exclusivity(unchecked) private(set) var touched = 0
    /// Pages of nodes that were not dropped.
    @exclusivity(unchecked) private(set) var livePages = 0

    /// Reserves address space; the kernel allocates its memory page by page at the first write.
    /// - Parameter capacity: bytes that a transaction's nodes may take together, dropped ones included.
    /// - Throws: `limit(.addressSpace)` if no address space can be reserved. Less than `capacity` is no error: the
    ///   arena tries to grow later.
    init(capacity: Int) throws(StorageError) {
        guard let found = MappedRange(growing: capacity) else { throw .limit(.addressSpace) }
        range = found
        base = found.mutableBase
        most = max(capacity, found.count) / Format.pageSize
        self.capacity = found.count / Format.pageSize
    }

    /// Asks the kernel for large pages, for a transaction that is known to be large.
    func preferLargePages() { range.preferLargePages() }

    /// Extends the reserved address space to twice this many pages, or else to just as many.
    /// - Throws: `limit(.addressSpace)` beyond `most` pages, and if the process gets no more addresses behind the
    ///   range.
    private func ensureRoom(_ pages: Int) throws(StorageError) {
        guard pages <= most else { throw .limit(.addressSpace) }
        for wanted in [min(2 * pages, most), pages] where range.extend(to: wanted * Format.pageSize) {
            capacity = range.count / Format.pageSize
            return
        }
        throw .limit(.addressSpace)
    }

    /// Bytes in use or spare.
    var byteCount: Int { nodePages.count * Format.pageSize }

    /// Whether an address lies in the arena.
    func contains(_ address: UnsafeRawPointer) -> Bool {
        let offset = address - UnsafeRawPointer(base)
        return offset >= 0 && offset < byteCount
    }

    @inline(__always)
    func pointer(_ index: Int) -> UnsafeMutableRawPointer { base + index * Format.pageSize }

    /// Makes a zeroed node with kind and table in its header: in the place of a dropped one, or behind all others.
    /// - Parameter isFilled: the caller writes all bytes behind the header, so that `make` does not zero them.
    /// - Throws: `limit(.addressSpace)`, with the arena unchanged.
    func make(
        _ kind: NodeKind, pages: Int = 1, table: UInt32 = 0, isFilled: Bool = false
    ) throws(StorageError) -> NodeReference {
        let index: Int
        if let last = pages < spare.count ? spare[pages].popLast() : largeSpare[pages]?.popLast() {
            index = last
            nodePages[index] = Int32(pages)
            if !isFilled { clear(index, pages) }
        } else {
            index = nodePages.count
            if index + pages > capacity { try ensureRoom(index + pages) }
            nodePages.append(Int32(pages))
            for _ in 1..<max(pages, 1) { nodePages.append(-1) }
            if !isFilled && index < touched { clear(index, min(pages, touched - index)) }
        }
        livePages += pages
        NodeHeader.write(pointer(index), kind: kind, table: table)
        return NodeReference(page: UInt32(index) | Format.arenaBit, pages: pages, kind: kind)
    }

    private func clear(_ index: Int, _ pages: Int) {
        pointer(index).initializeMemory(as: UInt8.self, repeating: 0, count: pages * Format.pageSize)
    }

    /// Whether a live node starts at this index.
    func hasNode(at index: Int) -> Bool { index < nodePages.count && nodePages[index] > 0 }

    /// Frees a live node for reuse. Its bytes stay until a node takes the place.
    func drop(_ index: Int) {
        let pages = Int(nodePages[index])
        if pages < spare.count { spare[pages].append(index) } else { largeSpare[pages, default: []].append(index) }
        nodePages[index] = 0
        livePages -= pages
    }

    /// Frees all nodes: at the end of a transaction, after a spill, and when a transaction restarts on other pages.
    /// Memory over `keep` bytes is returned to the system, and its addresses stay reserved; the rest is zeroed at its
    /// next use, unless a copy fills it.
    func reset(keep: Int = 8 << 20) {
        let used = byteCount
        touched = max(touched, min(used, keep) / Format.pageSize)
        if used > keep { range.discard(from: keep, count: used - keep) }
        nodePages.removeAll(keepingCapacity: true)
        livePages = 0
        for pages in spare.indices where !spare[pages].isEmpty { spare[pages].removeAll(keepingCapacity: true) }
        largeSpare.removeAll(keepingCapacity: true)
    }
}
