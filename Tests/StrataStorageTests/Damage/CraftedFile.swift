import CXXHash
import StrataFiles

@testable import StrataStorage

/// The bytes of a data file whose nodes can be changed with valid checksums: after a change all checksums from the node
/// up to both header slots are recomputed.
///
/// References are found by content instead of layout: 24 bytes at any offset that refer to a node which verifies. So
/// this type does not depend on the layouts that it breaks.
struct CraftedFile {
    private(set) var bytes: [UInt8]
    private(set) var nodes: [Node] = []
    /// The id of the store.
    let seed: NodeSeed

    struct Node {
        var reference: NodeReference
        /// The places of references to the node: offset in the file, and the containing node, or -1 for a slot.
        var places: [(offset: Int, owner: Int)] = []

        var start: Int { Int(reference.page) * Format.pageSize }
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        seed = bytes.withUnsafeBytes { $0.baseAddress.map { NodeSeed(RandomID($0, 16)) } ?? .ofFormat1 }
        for slot in [0, Format.pageSize] {
            for offset in [slot + 48, slot + 72] { note(offset, owner: -1) }
        }
        var next = 0
        while next < nodes.count {
            let start = nodes[next].start
            let end = start + nodes[next].reference.byteCount
            for offset in (start + Format.nodeHeaderSize)..<(end - NodeReference.size) { note(offset, owner: next) }
            next += 1
        }
    }

    private mutating func note(_ offset: Int, owner: Int) {
        guard let reference = reference(at: offset) else { return }
        if let known = nodes.firstIndex(where: { $0.reference.page == reference.page }) {
            nodes[known].places.append((offset, owner))
        } else {
            nodes.append(Node(reference: reference, places: [(offset, owner)]))
        }
    }

    private func reference(at offset: Int) -> NodeReference? {
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress, base.u8(offset + 7) == 0,
                let kind = NodeKind(
                    rawValue: UInt8(base.u8(offset + 6)))
            else { return nil }
            let reference = NodeReference(base, offset)
            let start = Int(reference.page) * Format.pageSize
            guard reference.isOnDisk(kind), start + reference.byteCount <= buffer.count,
                base.u64(start + 16) == reference.checksum, base.u64(start + 8) == reference.birth,
                NodeHeader.checksum(base + start, count: reference.byteCount, birth: reference.birth, seed: seed)
                    == reference.checksum
            else { return nil }
            return reference
        }
    }

    /// Changes a node's bytes after its header, and recomputes the checksums.
    mutating func change(_ node: Int, _ body: (_ bytes: UnsafeMutableRawBufferPointer) -> Void) {
        let start = nodes[node].start
        let end = start + nodes[node].reference.byteCount
        bytes.withUnsafeMutableBytes { buffer in
            body(UnsafeMutableRawBufferPointer(rebasing: buffer[(start + Format.nodeHeaderSize)..<end]))
        }
        reseal(node)
    }

    /// Changes the version that wrote a node.
    mutating func setBirth(_ node: Int, _ birth: UInt64) {
        nodes[node].reference.birth = birth
        for place in nodes[node].places {
            bytes.withUnsafeMutableBytes { $0.baseAddress?.put64(place.offset + 16, birth) }
        }
        reseal(node)
    }

    /// Changes the table of a node.
    mutating func setTable(_ node: Int, _ table: UInt32) {
        let start = nodes[node].start
        bytes.withUnsafeMutableBytes { $0.baseAddress?.put32(start + 4, table) }
        reseal(node)
    }

    /// Redirects a reference to another one's target, often with another kind or length.
    mutating func alias(_ random: inout SplitMix64) {
        let places = nodes.flatMap(\.places)
        let from = places[Int(random.below(UInt64(places.count)))]
        let to = places[Int(random.below(UInt64(places.count)))]
        let source = Array(bytes[from.offset..<(from.offset + NodeReference.size)])
        for (index, byte) in source.enumerated() {
            let keepsKind = index == 6 && random.below(2) == 0
            if !keepsKind { bytes[to.offset + index] = byte }
        }
        if random.below(4) == 0 { bytes[to.offset + 4] = UInt8(truncatingIfNeeded: random.next()) }
        if random.below(8) == 0 { bytes[to.offset + 3] |= 0x80 }
        if to.owner >= 0 { reseal(to.owner) } else { resealSlot(to.offset / Format.pageSize) }
    }

    /// Replaces a reference by another one.
    mutating func put(_ reference: [UInt8], at place: (offset: Int, owner: Int)) {
        for (index, byte) in reference.enumerated() { bytes[place.offset + index] = byte }
        if place.owner >= 0 { reseal(place.owner) } else { resealSlot(place.offset / Format.pageSize) }
    }

    /// Appends a node of one page, and counts it in both slots.
    /// - Parameter node: complete except for its checksum.
    mutating func append(_ node: [UInt8]) -> NodeReference {
        let page = bytes.count / Format.pageSize
        bytes += node
        let seed = seed
        let reference = bytes.withUnsafeMutableBytes { buffer -> NodeReference in
            guard let base = buffer.baseAddress, let kind = NodeKind(rawValue: node[0]) else { return .null }
            let start = base + page * Format.pageSize
            let birth = start.u64(8)
            let checksum = NodeHeader.seal(start, count: Format.pageSize, birth: birth, seed: seed)
            return NodeReference(page: UInt32(page), pages: 1, kind: kind, checksum: checksum, birth: birth)
        }
        for slot in 0...1 { changeSlot(slot) { $0.baseAddress?.put64(96, UInt64(page + 1)) } }
        return reference
    }

    /// Points a cell to a tree with this number of elements.
    mutating func setCell(_ place: (offset: Int, owner: Int), _ root: NodeReference, count: UInt64) {
        var cell = [UInt8](repeating: 0, count: LongValue.size)
        cell.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            root.store(base)
            base.put64(NodeReference.size, count)
        }
        put(cell, at: place)
    }

    private mutating func reseal(_ node: Int) {
        let reference = nodes[node].reference
        let start = nodes[node].start
        let seed = seed
        let checksum = bytes.withUnsafeMutableBytes { buffer -> UInt64 in
            guard let base = buffer.baseAddress else { return 0 }
            return NodeHeader.seal(base + start, count: reference.byteCount, birth: reference.birth, seed: seed)
        }
        nodes[node].reference.checksum = checksum
        for place in nodes[node].places {
            // A reference to the node in its own bytes stays as it is: updating it would change the node's checksum.
            guard place.owner != node else { continue }
            bytes.withUnsafeMutableBytes { buffer in
                buffer.baseAddress?.put64(place.offset + 8, checksum)
            }
            if place.owner >= 0 { reseal(place.owner) } else { resealSlot(place.offset / Format.pageSize) }
        }
    }

    /// Recomputes the checksum of a header slot.
    mutating func resealSlot(_ slot: Int) {
        bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            let start = base + slot * Format.pageSize
            start.put64(Format.slotSize - 8, XXH3_64bits(start, Format.slotSize - 8))
        }
    }

    /// Changes a slot's bytes before its checksum.
    mutating func changeSlot(_ slot: Int, _ body: (_ bytes: UnsafeMutableRawBufferPointer) -> Void) {
        let start = slot * Format.pageSize
        bytes.withUnsafeMutableBytes { buffer in
            body(UnsafeMutableRawBufferPointer(rebasing: buffer[start..<(start + Format.slotSize - 8)]))
        }
        resealSlot(slot)
    }
}

/// The kinds of crafted bytes.
struct Mutation {
    var random: SplitMix64

    private static let numbers: [UInt64] = [
        0, 1, 2, 3, 7, 8, 24, 64, 120, 127, 128, 255, 256, 4095, 4096, 4097, 32767, 32768, 65535, 65536, 1 << 31,
        (1 << 31) - 1, (1 << 32) - 1, 1 << 48, 1 << 62, 1 << 63, (1 << 63) - 1, .max,
    ]

    /// Changes one to four places.
    mutating func apply(to bytes: UnsafeMutableRawBufferPointer) {
        for _ in 0...random.below(4) { applyOnce(to: bytes) }
    }

    private mutating func applyOnce(to bytes: UnsafeMutableRawBufferPointer) {
        // Most changes hit the start of the node, where its directory is.
        let span = random.below(3) == 0 ? bytes.count : min(bytes.count, random.below(2) == 0 ? 48 : 400)
        let offset = Int(random.below(UInt64(span)))
        switch random.below(8) {
        case 0: bytes[offset] ^= 1 << UInt8(random.below(8))
        case 1: bytes[offset] = UInt8(truncatingIfNeeded: random.next())
        case 2: bytes[offset] = bytes[offset] &+ (random.below(2) == 0 ? 1 : 255)
        case 3: copy(bytes, from: Int(random.below(UInt64(span))), to: offset, count: 8)
        case 4: copy(bytes, from: Int(random.below(UInt64(span))) & ~7, to: offset & ~7, count: 24)
        default:
            let number = Self.numbers[Int(random.below(UInt64(Self.numbers.count)))]
            let width = [1, 2, 4, 8][Int(random.below(4))]
            let start = offset / width * width
            for index in 0..<width where start + index < bytes.count {
                bytes[start + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
            }
        }
    }

    private func copy(_ bytes: UnsafeMutableRawBufferPointer, from: Int, to: Int, count: Int) {
        let count = min(count, bytes.count - max(from, to))
        if count > 0 { memmoveBytes(bytes, from, to, count) }
    }

    private func memmoveBytes(_ bytes: UnsafeMutableRawBufferPointer, _ from: Int, _ to: Int, _ count: Int) {
        let moved = Array(bytes[from..<(from + count)])
        for (index, byte) in moved.enumerated() { bytes[to + index] = byte }
    }
}
