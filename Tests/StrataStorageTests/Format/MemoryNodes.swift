@testable import StrataStorage

/// Nodes in memory, one allocation each. Nodes from before ``commit()`` belong to older versions.
final class MemoryNodes: NodeWriting {
    private var pages: [UInt32: UnsafeMutableRawPointer] = [:]
    /// Hashes of the nodes of older versions.
    private var pristine: [UInt32: UInt64] = [:]
    private var owned: Set<UInt32> = []
    private var dead: Set<UInt32> = []
    private var nextPage = UInt32(Format.firstDataPage)
    private(set) var faults: [String] = []
    private(set) var made = 0
    /// Whether each read checks the node's form.
    var verifies = true
    private(set) var dropped = 0

    deinit { for page in pages.values { page.deallocate() } }

    /// Pages that a version reaches: neither freed nor reused.
    var live: Set<UInt32> { Set(pages.keys).subtracting(dead) }

    func node(_ reference: NodeReference, _ kind: NodeKind) throws(StorageError) -> UnsafeRawPointer {
        guard let page = pages[reference.page], reference.is(kind), reference.pages == 1 || kind == .value,
            page.u64(0) & 255 == kind.rawValue,
            !verifies || NodeChecks.ofTrees.isWellFormed(page, kind, reference.byteCount)
        else { throw .corrupt(page: PageNumber(reference.page), offset: 0, reason: .structure) }
        return UnsafeRawPointer(page)
    }

    func makeNode(
        _ kind: NodeKind, pages count: Int, table: UInt32
    ) throws(StorageError) -> (NodeReference, UnsafeMutableRawPointer) {
        let page = UnsafeMutableRawPointer.allocate(byteCount: count * Format.pageSize, alignment: 16)
        page.initializeMemory(as: UInt8.self, repeating: 0, count: count * Format.pageSize)
        NodeHeader.write(page, kind: kind, table: table)
        let reference = NodeReference(page: nextPage, pages: count, kind: kind)
        pages[nextPage] = page
        owned.insert(nextPage)
        nextPage += 1
        made += 1
        return (reference, page)
    }

    func makeLong(_ bytes: UnsafeRawBufferPointer, table: UInt32) throws(StorageError) -> LongValue {
        let count = (Format.nodeHeaderSize + bytes.count + Format.pageSize - 1) / Format.pageSize
        let (reference, page) = try makeNode(.value, pages: count, table: table)
        if let source = bytes.baseAddress {
            (page + Format.nodeHeaderSize).copyMemory(from: source, byteCount: bytes.count)
        }
        return LongValue(reference, count: bytes.count)
    }

    func mutable(_ reference: inout NodeReference) throws(StorageError) -> UnsafeMutableRawPointer {
        guard let old = pages[reference.page], let kind = NodeKind(rawValue: reference.kindCode) else {
            throw .corrupt(page: PageNumber(reference.page), offset: 0, reason: .structure)
        }
        if owned.contains(reference.page) { return old }
        let given = reference
        let (copy, page) = try makeNode(kind, pages: 1, table: old.u32(4))
        page.copyMemory(from: old, byteCount: Format.pageSize)
        drop(given)
        reference = copy
        return page
    }

    func drop(_ reference: NodeReference) {
        dropped += 1
        if owned.remove(reference.page) != nil {
            pages.removeValue(forKey: reference.page)?.deallocate()
        } else if pages[reference.page] == nil || !dead.insert(reference.page).inserted {
            faults.append("page \(reference.page) given up twice")
        }
    }

    /// Makes the present nodes those of an older version: from now on they must not change.
    func commit() {
        for page in owned { pristine[page] = hash(page) }
        owned.removeAll()
    }

    /// Pages of older versions that changed.
    var changedPages: [UInt32] { pristine.filter { hash($0.key) != $0.value }.map(\.key) }

    private func hash(_ page: UInt32) -> UInt64 {
        pages[page].map {
            NodeHeader.checksum(UnsafeRawPointer($0), count: Format.pageSize, birth: 0, seed: NodeSeed(RandomID(1, 2)))
        } ?? 0
    }

    func bytes(_ page: UInt32) -> [UInt8] {
        guard let base = pages[page] else { return [] }
        return Array(UnsafeRawBufferPointer(start: base, count: Format.pageSize))
    }

    func kind(_ page: UInt32) -> NodeKind? { pages[page].flatMap { NodeKind(rawValue: UInt8($0.u64(0) & 255)) } }

    func edit(_ page: UInt32, _ change: (UnsafeMutableRawPointer) -> Void) {
        if let base = pages[page] { change(base) }
    }

    func flip(_ page: UInt32, bit: Int) {
        guard let base = pages[page] else { return }
        base.put8(bit / 8, UnsafeRawPointer(base).u8(bit / 8) ^ (1 << (bit % 8)))
    }
}
