internal import StrataFiles

/// Nodes of the transaction that is being written, before they get their place in the file.
///
/// A reference to one carries ``Format/arenaBit`` and the node's number here. Guarded by the write lock: one
/// transaction at a time uses it.
final class Arena {
    private let range: MappedRange
    let base: UnsafeMutableRawPointer
    /// Pages of the node that starts at this place; 0 for a node given up, -1 inside a node.
    @exclusivity(unchecked) private(set) var nodePages: [Int32] = []
    /// Nodes that were given up, by their number of pages; large ones apart.
    @exclusivity(unchecked) private var spare: [[Int]] = Array(repeating: [], count: 17)
    @exclusivity(unchecked) private var largeSpare: [Int: [Int]] = [:]
    /// Pages that it may grow to.
    private let most: Int
    /// Pages that there is address space for.
    @exclusivity(unchecked) private var capacity: Int
    /// Pages below may hold what an earlier transaction left.
    @exclusivity(unchecked) private(set) var touched = 0
    /// Pages of nodes that were not given up.
    @exclusivity(unchecked) private(set) var livePages = 0

    /// - Parameter capacity: bytes that a transaction's nodes may take together.
    /// - Throws: `limit(.addressSpace)` when there is none at all.
    init(capacity: Int) throws(StorageError) {
        guard let found = MappedRange(growing: capacity) else { throw .limit(.addressSpace) }
        range = found
        base = found.mutableBase
        most = max(capacity, found.count) / Format.pageSize
        self.capacity = found.count / Format.pageSize
    }

    /// Makes room for so many pages, where there is more address space to be had.
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

    /// Whether an address is in it.
    func contains(_ address: UnsafeRawPointer) -> Bool {
        let offset = address - UnsafeRawPointer(base)
        return offset >= 0 && offset < byteCount
    }

    @inline(__always)
    func pointer(_ index: Int) -> UnsafeMutableRawPointer { base + index * Format.pageSize }

    /// A zeroed node with its header's kind and table set.
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

    /// Whether a node that was not given up starts there.
    func hasNode(at index: Int) -> Bool { index < nodePages.count && nodePages[index] > 0 }

    /// Gives a node up.
    func drop(_ index: Int) {
        let pages = Int(nodePages[index])
        if pages < spare.count { spare[pages].append(index) } else { largeSpare[pages, default: []].append(index) }
        nodePages[index] = 0
        livePages -= pages
    }

    /// Forgets everything. Memory over `keep` bytes goes back to the system; what is kept is zeroed when it is used
    /// again, unless a copy fills it.
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
