import FaultModel
import StrataFiles
import Synchronization

/// A mapped view of a simulated file: a mirror at a stable address, which every later write updates, too.
///
/// Bytes past the end of the file read as zeros; on a real disk touching them may kill the process.
/// The bytes are written under the disk's mutex only; readers take no lock, as with a real map.
final class SimulatedMap: FileMap {
    private let memory: MapMemory
    /// The content of the view when it was filled, and the pages that changed since then.
    private let slot: Mutex<MapMemory.Slot>
    private let range: MappedRange

    init?(_ contents: FileImage, reserve: Int, memory: MapMemory) {
        guard let slot = memory.take(reserve) else { return nil }
        range = slot.range
        self.memory = memory
        self.slot = Mutex(slot)
        refill(contents)
    }

    var base: UnsafeRawPointer { range.base }
    var count: Int { range.count }

    deinit { memory.give(slot.withLock { $0 }) }

    /// Makes the view equal to the contents.
    /// Complexity: O(pages), and a copy of the pages that differ.
    func refill(_ contents: FileImage) {
        slot.withLock { slot in
            let dirty = slot.dirtyPages
            contents.forEachPage(notSharedWith: slot.filled) { page, bytes in
                if !dirty.contains(page) { Self.set(page, bytes, in: slot.range) }
            }
            for page in dirty {
                let bytes = contents.bytes(at: Int64(page * FileImage.pageSize), count: FileImage.pageSize)
                bytes.withUnsafeBytes { Self.set(page, $0, in: slot.range) }
            }
            slot.filled = contents
            slot.dirtyPages = []
        }
    }

    /// Sets a page; no bytes mean zeros. What lies beyond the reserved range is left out.
    private static func set(_ page: Int, _ bytes: UnsafeRawBufferPointer, in range: MappedRange) {
        let start = page * FileImage.pageSize
        let count = min(FileImage.pageSize, range.count - start)
        if count <= 0 { return }
        let target = UnsafeMutableRawBufferPointer(start: range.mutableBase + start, count: count)
        if bytes.isEmpty {
            target.initializeMemory(as: UInt8.self, repeating: 0)
        } else {
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    /// Follows a write.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        let accepted = min(bytes.count, count - Int(offset))
        guard accepted > 0, let source = bytes.baseAddress else { return }
        // The buffer belongs to the caller during the call.
        nonisolated(unsafe) let start = source
        slot.withLock { slot in
            (slot.range.mutableBase + Int(offset)).copyMemory(from: start, byteCount: accepted)
            slot.touch(Int(offset)..<(Int(offset) + accepted))
        }
    }

    /// Follows a truncation of a file that was `end` bytes long.
    func zero(from start: Int64, to end: Int64) {
        slot.withLock { slot in
            let end = min(Int(end), slot.range.count)
            guard end > start else { return }
            let bytes = Int(start)..<end
            UnsafeMutableRawBufferPointer(start: slot.range.mutableBase + bytes.lowerBound, count: bytes.count)
                .initializeMemory(as: UInt8.self, repeating: 0)
            slot.touch(bytes)
        }
    }
}

/// A weak reference to a map.
struct MapReference: Sendable {
    weak var map: SimulatedMap?
}

/// Address space for maps, which is reused: after a crash the next disk needs the same amount, and fresh pages cost a
/// page fault each.
final class MapMemory: Sendable {
    struct Slot: Sendable {
        var range: MappedRange
        /// The content of the range when it was filled.
        var filled = FileImage()
        /// Pages that may have changed since.
        var dirtyPages: Set<Int> = []

        mutating func touch(_ bytes: Range<Int>) {
            let size = FileImage.pageSize
            for page in (bytes.lowerBound / size)...((bytes.upperBound - 1) / size) { dirtyPages.insert(page) }
        }
    }

    /// Slots kept per size of address space, and file sizes up to which a slot is worth keeping.
    private static let slotLimit = 4
    private static let fileLimit = 32 << 20

    private let slots = Mutex<[Int: [Slot]]>([:])

    func take(_ count: Int) -> Slot? {
        if let kept = slots.withLock({ $0[count]?.popLast() }) { return kept }
        return MappedRange(anonymous: count).map { Slot(range: $0) }
    }

    func give(_ slot: Slot) {
        if slot.filled.size > Self.fileLimit || slot.dirtyPages.count > Self.fileLimit / FileImage.pageSize { return }
        slots.withLock { slots in
            if slots[slot.range.count, default: []].count < Self.slotLimit {
                slots[slot.range.count, default: []].append(slot)
            }
        }
    }
}
