import CStrataShim
import CXXHash

/// A parent's reference to a child node: the child's pages, the checksum of its bytes, and the version that wrote it.
///
/// Detects a flipped bit, a torn page, a stale page, and a page written to the wrong place.
/// Layout, 24 bytes: page u32, pages u16, kind u8, zero u8, checksum u64, birth u64.
package struct NodeReference: Equatable, Sendable {
    package static let size = 24

    package var page: UInt32
    package var pages: UInt16
    package var kindCode: UInt8
    package var checksum: UInt64
    package var birth: UInt64

    @inline(__always)
    package init(page: UInt32, pages: Int, kind: NodeKind, checksum: UInt64 = 0, birth: UInt64 = 0) {
        self.page = page
        self.pages = UInt16(pages)
        kindCode = kind.rawValue
        self.checksum = checksum
        self.birth = birth
    }

    /// Refers to no node.
    package static var null: NodeReference {
        var reference = NodeReference(page: 0, pages: 0, kind: .branch)
        reference.kindCode = 0
        return reference
    }

    @inline(__always) package var isNull: Bool { pages == 0 }
    /// Whether the node is in the arena of the open transaction.
    @inline(__always) var isInArena: Bool { page & Format.arenaBit != 0 }
    @inline(__always) var arenaIndex: Int { Int(page & ~Format.arenaBit) }
    @inline(__always) package var byteCount: Int { Int(pages) * Format.pageSize }
    /// Whether it is a valid reference on disk to a node of `kind`: outside the arena, not null, and with a birth below
    /// ``Format/versionLimit``.
    func isOnDisk(_ kind: NodeKind, maxPages: Int = Format.maxNodePages) -> Bool {
        kindCode == kind.rawValue && pages > 0 && Int(pages) <= maxPages && !isInArena
            && Int(page) >= Format.firstDataPage && birth < Format.versionLimit
    }
    @inline(__always) package func `is`(_ kind: NodeKind) -> Bool { kindCode == kind.rawValue }

    @inline(__always)
    init(_ base: UnsafeRawPointer, _ offset: Int = 0) {
        page = base.u32(offset)
        pages = UInt16(base.u16(offset + 4))
        kindCode = UInt8(base.u8(offset + 6))
        checksum = base.u64(offset + 8)
        birth = base.u64(offset + 16)
    }

    @inline(__always)
    func store(_ base: UnsafeMutableRawPointer, _ offset: Int = 0) {
        base.put32(offset, page)
        base.put16(offset + 4, Int(pages))
        base.put8(offset + 6, Int(kindCode))
        base.put8(offset + 7, 0)
        base.put64(offset + 8, checksum)
        base.put64(offset + 16, birth)
    }
}

/// Mixed into the checksums of one store's nodes, so that a node of another store never verifies in this one, wherever
/// its bytes turn up.
///
/// The seed is combined with the hash by exclusive or, not passed to the hash function. So the same bytes under two
/// seeds always have different checksums, and a salvage can derive the seed of a file that lost its store id from the
/// file's nodes.
package struct NodeSeed: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ storeID: RandomID) {
        let words = [storeID.first, storeID.second].map(\.littleEndian)
        rawValue = words.withUnsafeBytes { XXH3_64bits_withSeed($0.baseAddress, $0.count, 3) }
    }

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The seed of format 1, which had none.
    package static let ofFormat1 = NodeSeed(rawValue: 0)
}

/// The first 24 bytes of every node: kind u8, zero u8, zero u16, table u32, birth u64, checksum u64.
///
/// The checksum covers everything but itself, so that a node can be verified without its parent.
package enum NodeHeader {
    static func write(_ node: UnsafeMutableRawPointer, kind: NodeKind, table: UInt32) {
        node.put64(0, UInt64(kind.rawValue) | UInt64(table) << 32)
        node.put64(8, 0)
        node.put64(16, 0)
    }

    package static func table(_ node: UnsafeRawPointer) -> UInt32 { node.u32(4) }

    /// Sets birth and checksum; the node must not change afterwards.
    static func seal(_ node: UnsafeMutableRawPointer, count: Int, birth: UInt64, seed: NodeSeed) -> UInt64 {
        node.put64(8, birth)
        let checksum = checksum(UnsafeRawPointer(node), count: count, birth: birth, seed: seed)
        node.put64(16, checksum)
        return checksum
    }

    /// Checksum of a node of `count` bytes that `birth` wrote.
    @inline(__always)
    package static func checksum(_ node: UnsafeRawPointer, count: Int, birth: UInt64, seed: NodeSeed) -> UInt64 {
        checksum(
            node, bodyHash: NodeHash.make(node + Format.nodeHeaderSize, count - Format.nodeHeaderSize), birth: birth,
            seed: seed)
    }

    /// As ``checksum(_:count:birth:seed:)``, with the hash of the bytes behind the header given.
    @inline(__always)
    package static func checksum(
        _ node: UnsafeRawPointer, bodyHash: UInt64, birth: UInt64, seed: NodeSeed
    ) -> UInt64 {
        bodyHash ^ seed.rawValue ^ ((node.u64(0) ^ 0x9E37_79B9_7F4A_7C15) &* 0xBF58_476D_1CE4_E5B9)
            ^ (birth &* 0x94D0_49BB_1331_11EB)
    }
}

/// XXH3 of a node's bytes, with wide vectors if the processor has them: they take a third of the time.
enum NodeHash {
    private static let isWide = strata_can_hash_wide() != 0

    @inline(__always)
    static func make(_ bytes: UnsafeRawPointer, _ count: Int) -> UInt64 {
        isWide ? strata_hash_wide(bytes, count) : plain(bytes, count)
    }

    /// The library's own function.
    static func plain(_ bytes: UnsafeRawPointer, _ count: Int) -> UInt64 { XXH3_64bits(bytes, count) }
}
