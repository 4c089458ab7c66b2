import CStrataShim
internal import StrataFiles
internal import Synchronization

/// Resolves references to bytes: in the mapped file, verified once, or in the arena of the open transaction.
///
/// A node counts as verified under a 32-bit tag for its first page: a hash, never 0, of the checksum, the kind and the
/// number of pages of its reference. A page that is reused has another tag, so tags need no invalidation. The hash has
/// a random key, so that no author of a file can make one reference pass for another. Limit: if the kernel evicts a
/// clean page and reads it again, or another program overwrites it, a reader compares only the checksum in its header
/// again.
///
/// Concurrency: any thread, except that only the open transaction may resolve references to the arena. Tags are atomic,
/// and threads that verify one node at the same time store the same tag.
package final class PageReader: NodeReading, Sendable {
    private nonisolated(unsafe) let map: UnsafeRawPointer
    private nonisolated(unsafe) let tags: UnsafeMutablePointer<Atomic<UInt32>>
    /// Guarded by the write gate: only the open transaction's reader has an arena.
    private nonisolated(unsafe) let arena: UnsafeMutableRawPointer?
    /// Pages of the mapping that the file has.
    private let limit: PageLimit
    private let key: TagKey
    /// The seed of the checksums of the file's store.
    package let seed: NodeSeed
    let damage: MapDamage
    private let owner: PageMap

    package init(_ owner: PageMap, arena: UnsafeMutableRawPointer? = nil) {
        self.owner = owner
        map = owner.map.base
        tags = owner.tags
        limit = owner.limit
        key = owner.key
        seed = owner.seed
        damage = owner.map.damage ?? .never
        self.arena = arena
    }

    @inline(__always)
    package func node(_ reference: NodeReference, _ kind: NodeKind) throws(StorageError) -> UnsafeRawPointer {
        let page = Int(reference.page)
        if reference.kindCode == kind.rawValue && page < limit.pages.load(ordering: .relaxed) {
            let node = map + page * Format.pageSize
            // The node's own checksum is on the cache line that is read next: a page that another program has
            // overwritten since its verification is verified again.
            if tags[page].load(ordering: .relaxed) == tag(reference) && node.u64(16) == reference.checksum {
                return node
            }
        } else if reference.isInArena, let arena, reference.kindCode == kind.rawValue {
            return UnsafeRawPointer(arena + reference.arenaIndex * Format.pageSize)
        }
        return try verify(reference, kind)
    }

    /// Prefetches the start of a node and its tag.
    @inline(__always)
    func prefetch(_ reference: NodeReference) {
        let page = Int(reference.page)
        if page >= limit.pages.load(ordering: .relaxed) { return }
        strata_prefetch(tags + page)
        let node = map + page * Format.pageSize
        for line in 0..<4 { strata_prefetch(node + 64 * line) }
    }

    /// Pages of the file.
    var pageCount: Int { limit.pages.load(ordering: .relaxed) }

    /// The page of an address in the mapping; nil for any other address.
    func page(of address: UnsafeRawPointer) -> Int? {
        let offset = address - map
        return offset >= 0 && offset < owner.map.count ? offset / Format.pageSize : nil
    }

    /// Whether the file has the pages of a reference.
    func hasPages(of reference: NodeReference) -> Bool {
        Int(reference.page) >= Format.firstDataPage
            && Int(reference.page) + Int(reference.pages) <= limit.pages.load(ordering: .relaxed)
    }

    /// Checks, after the caller has copied a node of the file, that the copy is of this node, and that no other program
    /// overwrote it meanwhile.
    func confirm(_ reference: NodeReference) throws(StorageError) {
        let node = map + Int(reference.page) * Format.pageSize
        if node.u64(8) != reference.birth || node.u64(16) != reference.checksum { throw damage(at: node) }
        try confirm()
    }

    /// Reads a long value by its descriptor.
    func long(_ descriptor: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer {
        guard let base = descriptor.baseAddress, descriptor.count == LongValue.size else {
            throw damage(at: descriptor.baseAddress ?? map)
        }
        let long = LongValue(base)
        let node = try node(long.reference, .value)
        guard long.count <= UInt64(long.reference.byteCount - Format.nodeHeaderSize) else {
            throw .structure(long.reference)
        }
        return UnsafeRawBufferPointer(start: node + Format.nodeHeaderSize, count: Int(long.count))
    }

    @inline(__always)
    private func tag(_ reference: NodeReference) -> UInt32 {
        let shape = UInt64(reference.kindCode) << 16 | UInt64(reference.pages)
        return UInt32(truncatingIfNeeded: (reference.checksum &* key.first &+ shape &* key.second) >> 32) | 1
    }

    /// Marks a node as verified: this process has just verified it, or written it with the checksum of `reference`.
    func trust(_ reference: NodeReference) {
        tags[Int(reference.page)].store(tag(reference), ordering: .relaxed)
    }

    /// A reader calls it after its last load from the mapping, and before it uses the loaded bytes: a page that the
    /// kernel cannot read appears as zeros, without a signal.
    /// - Throws: `corrupt` with `unreadable` if any page of the mapping was lost.
    @inline(__always)
    func confirm() throws(StorageError) {
        if damage.happened { throw lostPage }
    }

    @inline(never)
    private var lostPage: StorageError {
        if damage.isForked { return .forked }
        mark(.lostPage)
        return .corrupt(
            page: PageNumber(UInt32(clamping: damage.offset / Format.pageSize)),
            offset: damage.offset % Format.pageSize, reason: .unreadable)
    }

    /// The bytes of a page of the file without any check, for a salvage that searches for nodes. Zeros for a sealed
    /// page that does not open.
    package func unverified(_ page: Int) -> UnsafeRawPointer {
        precondition(page >= 0 && page < limit.pages.load(ordering: .acquiring), "the file has the page")
        do throws(StorageError) { try load(PageNumber(UInt32(page)), Format.pageSize) } catch { return Self.zeros }
        return map + page * Format.pageSize
    }

    /// A page of zeros. Never written after its initialization.
    package nonisolated(unsafe) static let zeros: UnsafeRawPointer = {
        let page = UnsafeMutableRawPointer.allocate(byteCount: Format.pageSize, alignment: Format.pageSize)
        page.initializeMemory(as: UInt8.self, repeating: 0, count: Format.pageSize)
        return UnsafeRawPointer(page)
    }()

    @inline(never)
    private func verify(_ reference: NodeReference, _ kind: NodeKind) throws(StorageError) -> UnsafeRawPointer {
        let page = PageNumber(reference.page)
        func fail(_ reason: StorageError.Corruption, offset: Int = 0) -> StorageError {
            .corrupt(page: page, offset: offset, reason: reason)
        }
        guard reference.kindCode == kind.rawValue, reference.pages > 0, !reference.isInArena,
            Int(reference.page) >= Format.firstDataPage, reference.birth < Format.versionLimit
        else { throw fail(.structure) }
        let end = Int(reference.page) + Int(reference.pages)
        guard end <= limit.pages.load(ordering: .acquiring) else {
            if owner.isShort { throw .limit(.addressSpace) }
            throw fail(.fileTooShort)
        }
        let node = map + Int(reference.page) * Format.pageSize
        let bytes = reference.byteCount
        try load(page, bytes)
        #if Zoo
            if PlantedMistake.checksumUnchecked.isPlanted { return UnsafeRawPointer(node) }
        #endif
        guard NodeHeader.checksum(node, count: bytes, birth: reference.birth, seed: seed) == reference.checksum,
            node.u64(16) == reference.checksum, node.u64(8) == reference.birth
        else {
            try confirm()
            throw fail(.checksum)
        }
        guard node.u8(0) == Int(kind.rawValue), owner.checks.isWellFormed(node, kind, bytes) else {
            throw fail(.structure)
        }
        trust(reference)
        return node
    }

    /// Reads and opens the pages of a sealed file, of which the mapping is only a shadow; other files are mapped.
    private func load(_ page: PageNumber, _ bytes: Int) throws(StorageError) {
        do throws(FileError) {
            try owner.map.load(offset: Int(page.rawValue) * Format.pageSize, count: bytes)
        } catch {
            // In a forked child the parent's file cannot be read either.
            try confirm()
            if error.operation == .unseal { throw .corrupt(page: page, offset: 0, reason: .seal) }
            throw StorageError(error)
        }
    }

    /// Error for a byte of a node; page 0 for nodes outside the file.
    @inline(never)
    func damage(at address: UnsafeRawPointer) -> StorageError {
        if damage.happened { return lostPage }
        let offset = address - map
        guard offset >= 0, offset < owner.map.count else {
            return .corrupt(page: PageNumber(0), offset: 0, reason: .structure)
        }
        return .corrupt(
            page: PageNumber(UInt32(offset / Format.pageSize)), offset: offset % Format.pageSize, reason: .structure)
    }
}
