internal import StrataFiles

/// Makes, changes and drops nodes for the open write transaction.
///
/// A transaction never changes a node of an older version: it copies the node to the arena, and the node's pages become
/// dead at the commit.
/// Concurrency: guarded by the write gate.
final class TransactionNodes: NodeWriting {
    let reader: PageReader
    let arena: Arena
    let allocator: PageAllocator
    let file: any File
    let limits: StoreLimits
    /// Buffer for bytes on their way into a node. A caller empties it before its use.
    let scratch = ByteHeap()
    /// The version that this transaction will commit.
    @exclusivity(unchecked) var version: UInt64
    /// Pages of nodes of older versions that this transaction has replaced.
    @exclusivity(unchecked) private(set) var dead: [Extent] = []
    /// Nodes written to the file before the commit (long values, and spilled nodes) that the new version reaches: the
    /// pages of each, by its first one.
    @exclusivity(unchecked) private var early: [UInt32: UInt32] = [:]
    /// Number of early nodes for which capacity is kept from one transaction to the next.
    private static let kept = 256
    /// Pages that the arena's nodes got at the commit.
    @exclusivity(unchecked) var landed: [Extent] = []
    /// Whether the transaction has added nothing yet. If so, its nodes may take the reserve, so that a program can
    /// delete rows on a full disk.
    @exclusivity(unchecked) var usesReserve = false
    /// Pages of early nodes that the transaction has replaced again: no version ever reached them.
    @exclusivity(unchecked) private(set) var abandoned: [Extent] = []
    /// First pages of abandoned nodes; the allocator may allocate them again while the transaction runs.
    @exclusivity(unchecked) private var recycled: Set<UInt32> = []
    /// During an online compaction: the transaction places nodes below this page if there is room. Else nil.
    @exclusivity(unchecked) var placesBelow: Int?

    /// A transaction calls it before it allocates its first page ahead of its commit: a guest becomes the owner there.
    @exclusivity(unchecked) var beforeFirstPage: (() throws(StorageError) -> Void)?

    init(
        reader: PageReader, arena: Arena, allocator: PageAllocator, file: any File, limits: StoreLimits
    ) {
        self.reader = reader
        self.arena = arena
        self.allocator = allocator
        self.file = file
        self.limits = limits
        version = 0
    }

    /// Starts a transaction that will commit `version`. The arena is empty.
    func begin(version: UInt64) {
        self.version = version
        dead.removeAll(keepingCapacity: true)
        if early.capacity > Self.kept { early = [:] } else if !early.isEmpty { early.removeAll(keepingCapacity: true) }
        if !recycled.isEmpty { recycled = [] }
        abandoned.removeAll(keepingCapacity: true)
        placesBelow = nil
        landed = []
        beforeFirstPage = nil
        // This holds until the transaction adds something.
        usesReserve = true
    }

    @inline(__always)
    func node(_ reference: NodeReference, _ kind: NodeKind) throws(StorageError) -> UnsafeRawPointer {
        try reader.node(reference, kind)
    }

    func makeNode(
        _ kind: NodeKind, pages: Int, table: UInt32
    ) throws(StorageError) -> (NodeReference, UnsafeMutableRawPointer) {
        let reference = try arena.make(kind, pages: pages, table: table)
        return (reference, arena.pointer(reference.arenaIndex))
    }

    func mutable(_ reference: inout NodeReference) throws(StorageError) -> UnsafeMutableRawPointer {
        if reference.isInArena { return arena.pointer(reference.arenaIndex) }
        guard let kind = NodeKind(rawValue: reference.kindCode) else {
            throw .structure(reference)
        }
        let old = try reader.node(reference, kind)
        let made = try arena.make(kind, pages: Int(reference.pages), table: NodeHeader.table(old), isFilled: true)
        let target = arena.pointer(made.arenaIndex)
        (target + Format.nodeHeaderSize).copyMemory(
            from: old + Format.nodeHeaderSize, byteCount: reference.byteCount - Format.nodeHeaderSize)
        do throws(StorageError) { try reader.confirm(reference) } catch {
            arena.drop(made.arenaIndex)
            throw error
        }
        drop(reference)
        reference = made
        return target
    }

    /// Drops a node. Its reference may come from a page that another program overwrites meanwhile, so an impossible one
    /// is ignored.
    func drop(_ reference: NodeReference) {
        if reference.isNull { return }
        if reference.isInArena {
            if arena.hasNode(at: reference.arenaIndex) { arena.drop(reference.arenaIndex) }
        } else if reader.hasPages(of: reference) {
            let extent = Extent(page: reference.page, pages: UInt32(reference.pages), birth: reference.birth)
            if early[reference.page] != nil, reference.birth == version {
                early[reference.page] = nil
                abandoned.append(extent)
            } else {
                dead.append(extent)
            }
        }
    }

    // MARK: Early nodes

    /// Writes a long value to pages of its own.
    /// - Throws: `limit` above 256 MiB, `noSpace`.
    func makeLong(_ bytes: UnsafeRawBufferPointer, table: UInt32) throws(StorageError) -> LongValue {
        mark(.longValue)
        let total = Format.nodeHeaderSize + bytes.count
        let pages = (total + Format.pageSize - 1) / Format.pageSize
        guard pages <= Format.maxNodePages else { throw .limit(.valueSize) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pages * Format.pageSize, alignment: 4096)
        defer { buffer.deallocate() }
        guard let base = buffer.baseAddress else { throw .limit(.valueSize) }
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        NodeHeader.write(base, kind: .value, table: table)
        if let source = bytes.baseAddress {
            (base + Format.nodeHeaderSize).copyMemory(from: source, byteCount: bytes.count)
        }
        let page = try take(pages)
        var reference = NodeReference(page: page, pages: pages, kind: .value)
        reference.birth = version
        reference.checksum = NodeHeader.seal(base, count: buffer.count, birth: version, seed: reader.seed)
        try write(UnsafeRawBufferPointer(buffer), page: page)
        reader.trust(reference)
        return LongValue(reference, count: bytes.count)
    }

    /// Moves finished nodes from the arena to the file, so that a large transaction needs little memory.
    func spill(_ references: inout [NodeReference]) throws(StorageError) {
        for index in references.indices where references[index].isInArena {
            let reference = references[index]
            let pages = Int(reference.pages)
            let base = arena.pointer(reference.arenaIndex)
            let page = try take(pages)
            var final = reference
            final.page = page
            final.birth = version
            final.checksum = NodeHeader.seal(base, count: reference.byteCount, birth: version, seed: reader.seed)
            try write(UnsafeRawBufferPointer(start: base, count: reference.byteCount), page: page)
            reader.trust(final)
            arena.drop(reference.arenaIndex)
            references[index] = final
        }
    }

    /// Makes sure that this process owns writing, and so may allocate pages.
    func prepareForPages() throws(StorageError) {
        guard let ready = beforeFirstPage else { return }
        try ready()
        beforeFirstPage = nil
    }

    private func take(_ pages: Int) throws(StorageError) -> UInt32 {
        try prepareForPages()
        let run = try allocator.allocateRun(pages, usesReserve: usesReserve)
        early[run] = UInt32(pages)
        return run
    }

    /// Pages of nodes written to the file before the commit.
    var placed: [Extent] {
        if early.isEmpty { return [] }
        return early.map { Extent(page: $0.key, pages: $0.value, birth: version) }
    }

    /// Notes nodes that were written to their final pages before the commit.
    func place(_ extents: some Sequence<Extent>) { for extent in extents { early[extent.page] = extent.pages } }

    /// Frees pages of abandoned nodes. The transaction no longer references them.
    func recycle() {
        allocator.giveBack(abandoned)
        for extent in abandoned { recycled.insert(extent.page) }
        abandoned.removeAll(keepingCapacity: true)
    }

    /// Frees pages that were written and belong to no version, and overwrites their first pages, so that a salvage that
    /// searches the whole file does not take them for nodes of this version.
    /// - Parameter all: the transaction is rolled back.
    func discard(all: Bool) {
        if early.isEmpty && abandoned.isEmpty && recycled.isEmpty { return }
        if all { abandoned += placed }
        recycle()
        let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: Format.pageSize, alignment: Format.pageSize)
        defer { zeros.deallocate() }
        zeros.initializeMemory(as: UInt8.self, repeating: 0)
        for page in allocator.free(among: recycled) {
            // If this fails, the old bytes stay; only a salvage of a damaged file reads them.
            do throws(StorageError) { try write(UnsafeRawBufferPointer(zeros), page: page) } catch { return }
        }
    }

    /// Moves a node of an older version unchanged, and drops the old one.
    /// - Parameter limit: the new place ends at or below this page.
    /// - Returns: nil, with the state unchanged, if there is no room.
    func relocate(_ reference: NodeReference, below limit: Int) throws(StorageError) -> NodeReference? {
        guard let kind = NodeKind(rawValue: reference.kindCode) else {
            throw .structure(reference)
        }
        let old = try reader.node(reference, kind)
        let pages = Int(reference.pages)
        guard let page = try allocator.allocateRun(pages, below: min(limit, Int(reference.page))) else { return nil }
        return try copy(reference, old, to: page) { _ in }
    }

    /// Writes a node of an older version anew with changes, and drops the old one.
    /// - Parameter limit: the new place ends at or below this page, if there is room.
    func rewrite(
        _ reference: NodeReference, below limit: Int, _ change: (UnsafeMutableRawPointer) -> Void
    ) throws(StorageError) -> NodeReference {
        guard let kind = NodeKind(rawValue: reference.kindCode) else { throw .structure(reference) }
        let old = try reader.node(reference, kind)
        let pages = Int(reference.pages)
        let place: UInt32
        if let low = try allocator.allocateRun(pages, below: limit) {
            place = low
        } else {
            place = try allocator.allocateRun(pages, usesReserve: usesReserve)
        }
        return try copy(reference, old, to: place, change)
    }

    /// Writes a node to pages allocated for it, and drops its old ones.
    private func copy(
        _ reference: NodeReference, _ old: UnsafeRawPointer, to page: UInt32,
        _ change: (UnsafeMutableRawPointer) -> Void
    ) throws(StorageError) -> NodeReference {
        early[page] = UInt32(reference.pages)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: reference.byteCount, alignment: 4096)
        defer { buffer.deallocate() }
        guard let base = buffer.baseAddress else { throw .limit(.valueSize) }
        base.copyMemory(from: old, byteCount: reference.byteCount)
        try reader.confirm()
        change(base)
        var moved = reference
        moved.page = page
        moved.birth = version
        moved.checksum = NodeHeader.seal(base, count: reference.byteCount, birth: version, seed: reader.seed)
        try write(UnsafeRawBufferPointer(buffer), page: page)
        reader.trust(moved)
        drop(reference)
        return moved
    }

    private func write(_ bytes: UnsafeRawBufferPointer, page: UInt32) throws(StorageError) {
        do { try file.write(bytes, at: Int64(page) * Int64(Format.pageSize)) } catch { throw StorageError(error) }
    }
}

/// A run of pages written by one version.
struct Extent: Equatable, Sendable {
    var page: UInt32
    var pages: UInt32
    /// The version that wrote it.
    var birth: UInt64
    /// The first version that does not reach it; 0 while it is in use.
    var freed: UInt64 = 0
}
