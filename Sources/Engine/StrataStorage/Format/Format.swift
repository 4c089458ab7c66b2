/// Constants of file format 2. docs/file-format.md draws the layouts; a test pins each offset named here.
package enum Format {
    package static let version: UInt32 = 2
    package static let pageSize = 4096
    /// "STRATA1\0" read as a little-endian number.
    package static let magic: UInt64 = 0x0031_4154_4152_5453
    /// Bytes before a node's content: kind, flags, table, birth, checksum.
    package static let nodeHeaderSize = 24
    /// Pages 0 and 1 hold the header slots.
    package static let firstDataPage = 2
    /// A slot fits one sector, which the medium writes whole or not at all.
    package static let slotSize = 512
    /// Upper bound of versions, births and LSNs in a file, so that incrementing one never overflows.
    package static let versionLimit: UInt64 = 1 << 62
    /// Most pages of one node: its reference counts them in 16 bits.
    package static let maxNodePages = 65535
    /// Set in the page number of a node in a transaction's arena; never on disk.
    package static let arenaBit: UInt32 = 0x8000_0000
}

/// Type of a node, stored in its reference and in itself.
package enum NodeKind: UInt8, Sendable {
    case branch = 1
    case group = 2
    case segments = 3
    case value = 4
    case entryLeaf = 5
    case entryBranch = 6
    case root = 7
    case schema = 8
    case freeMap = 9
    case freeMapRoot = 10
    case collectionLeaf = 11
    case collectionBranch = 12
}

/// Sizes at which nodes and groups are split, folded or rebuilt. Tests choose tiny ones, so that this happens often.
/// They are not stored in the file.
package struct StoreLimits: Sendable, Equatable {
    /// Rows of a wide group. 4 032 one-byte values and a segment header fill a page.
    package var wideRows = 4032
    /// Rows of a small group.
    package var smallRows = 128
    /// Segment nodes of one wide group.
    package var segmentNodes = 40
    /// Patches per column before a segment is folded.
    package var patches = 256
    /// Consecutive changes of a row group after which the editor holds further ones back and applies them column by
    /// column.
    package var changesBeforeHeld = 16
    /// Most changes of a row group that are held back.
    package var changesHeld = 1 << 15
    /// Inserted rows before a wide group is rebuilt.
    package var insertedRows = 100
    /// Deleted slots before a wide group is rebuilt.
    package var deletedSlots = 200
    /// Children of a branch; at most ``BranchLayout/capacity``.
    package var children = 101
    /// Entries of a leaf of an index or backlink tree.
    package var entries = 500
    /// Elements of a leaf of a collection tree. 4 032 elements of one byte fill a page.
    package var elements = 4032
    /// Longest value that is stored in its segment; longer ones get nodes of their own.
    package var inlineBytes = 2000
    /// Bytes of changed nodes that a transaction keeps in memory; above, it spills them to the file.
    package var memoryBudget = 64 << 20
    /// Pages that one step of an online compaction moves, approximately.
    package var compactionStep = 64
    /// Free pages below which no online compaction begins.
    package var compactionMinimum = 256
    /// Commits between the starts of two online compactions.
    package var compactionInterval = 256

    package init() {}

    /// Changes of an index or backlink tree that are collected before they are applied.
    var waitingEntries: Int { min(1 << 20, max(1 << 12, memoryBudget / 64)) }
    /// Changes of a table that are listed for observers one by one.
    var listedChanges: Int { min(1 << 20, max(1 << 12, memoryBudget / 64)) }

    package static var tiny: StoreLimits {
        var limits = StoreLimits()
        limits.wideRows = 24
        limits.smallRows = 6
        limits.segmentNodes = 6
        limits.patches = 4
        limits.changesBeforeHeld = 2
        limits.changesHeld = 12
        limits.insertedRows = 4
        limits.deletedSlots = 4
        limits.children = 4
        limits.entries = 5
        limits.elements = 5
        limits.inlineBytes = 40
        limits.memoryBudget = 12 << 12
        limits.compactionStep = 6
        limits.compactionMinimum = 4
        limits.compactionInterval = 2
        return limits
    }
}

extension UnsafeRawPointer {
    @inline(__always) package func u8(_ offset: Int) -> Int { Int(load(fromByteOffset: offset, as: UInt8.self)) }
    @inline(__always) func u16(_ offset: Int) -> Int {
        Int(UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }
    @inline(__always) package func u32(_ offset: Int) -> UInt32 {
        UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
    @inline(__always) package func u64(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    @inline(__always) func i64(_ offset: Int) -> Int64 { Int64(bitPattern: u64(offset)) }
}

extension UnsafeMutableRawPointer {
    @inline(__always) func u16(_ offset: Int) -> Int { UnsafeRawPointer(self).u16(offset) }
    @inline(__always) func u32(_ offset: Int) -> UInt32 { UnsafeRawPointer(self).u32(offset) }
    @inline(__always) func u64(_ offset: Int) -> UInt64 { UnsafeRawPointer(self).u64(offset) }
    @inline(__always) func i64(_ offset: Int) -> Int64 { UnsafeRawPointer(self).i64(offset) }

    @inline(__always) func put8(_ offset: Int, _ value: Int) {
        storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: offset, as: UInt8.self)
    }
    @inline(__always) func put16(_ offset: Int, _ value: Int) {
        storeBytes(of: UInt16(truncatingIfNeeded: value).littleEndian, toByteOffset: offset, as: UInt16.self)
    }
    @inline(__always) func put32(_ offset: Int, _ value: UInt32) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
    }
    @inline(__always) func put64(_ offset: Int, _ value: UInt64) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
    @inline(__always) func putI64(_ offset: Int, _ value: Int64) { put64(offset, UInt64(bitPattern: value)) }
}

/// Rounds up to a multiple of 8.
@inline(__always) func aligned8(_ count: Int) -> Int { (count + 7) & ~7 }
