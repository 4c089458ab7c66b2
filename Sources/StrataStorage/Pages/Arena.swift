internal import StrataFiles

/// Memory for the nodes of the open transaction, before they get pages of the file.
///
/// A reference to such a node carries ``Format/arenaBit`` and its index here. Guarded by the write gate: one
/// transaction at a time uses it.
final class Arena {
    private let range: MappedRange
    let base: UnsafeMutableRawPointer
    /// By page index: the number of pages of the node that starts there; 0 for a dropped node, -1 inside a node.
    @exclusivity(unchecked) private(set) var nodePages: [Int32] = []
    /// Indexes of dropped nodes by their number of pages. Nodes of 17 pages and more are in `largeSpare`.
    @exclusivity(unchecked) private var spare: [[Int]] = Array(repeating: [], count: 17)
    @exclusivity(unchecked) private var largeSpare: [Int: [Int]] = [:]
    /// The most pages that the arena may grow to.
    private let most: Int
    /// Pages of reserved address space.
    @exclusivity(unchecked) private var capacity: Int
    /// Pages below this index may hold bytes of an earlier transaction.
    @exclusivity(unchecked) private(set) var touched = 0
    /// Pages of nodes that were not dropped.
    @exclusivity(unchecked) private(set) var livePages = 0

    /// - Parameter capacity: bytes that a transaction's nodes may take together.
    /// - Throws: `limit(.addressSpace)` if no address space can be reserved.
    init(capacity: Int) throws(StorageError) {
        guard let found = MappedRange(growing: capacity) else { throw .limit(.addressSpace) }
        range = found
        base = found.mutableBase
        most = max(capacity, found.count) / Format.pageSize
        self.capacity = found.count / Format.pageSize
    }

    /// Asks the kernel for large pages, for a transaction that is known to be large.
    func preferLargePages() { range.preferLargePages() }

    /// Reserves address space for this many pages, if there is more.
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

    /// Makes a zeroed node with kind and table in its header.
    /// - Parameter isFilled: the caller writes all bytes behind the header.
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

    /// Frees a node for reuse.
    func drop(_ index: Int) {
        let pages = Int(nodePages[index])
        if pages < spare.count { spare[pages].append(index) } else { largeSpare[pages, default: []].append(index) }
        nodePages[index] = 0
        livePages -= pages
    }

    /// Frees all nodes. Memory over `keep` bytes is returned to the system; the rest is zeroed at its next use, unless
    /// a copy fills it.
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
