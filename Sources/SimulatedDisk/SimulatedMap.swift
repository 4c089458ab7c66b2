import FaultModel
import StrataFiles
import Synchronization

/// A mapped view of a simulated file: a mirror at a stable address that every later write goes to as well.
///
/// Bytes past the end of the file read as zeros; on a real disk touching them may kill the process.
/// The bytes are written under the disk's mutex only; readers take no lock, as with a real map.
final class SimulatedMap: FileMap {
    private let range: MappedRange
    private let memory: MapMemory
    /// Bytes from the start that may be other than zero.
    private let touched: Atomic<Int>

    init?(_ contents: FileImage, reserve: Int, memory: MapMemory) {
        guard let slot = memory.take(reserve) else { return nil }
        range = slot.range
        self.memory = memory
        touched = Atomic(0)
        fill(contents, dirtyBytes: slot.touched)
    }

    deinit { memory.give(MapMemory.Slot(range: range, touched: touched.load(ordering: .relaxed))) }

    var base: UnsafeRawPointer { range.base }
    var count: Int { range.count }

    /// Makes the view equal to the contents, whatever was there.
    private func fill(_ contents: FileImage, dirtyBytes: Int) {
        var clean = 0
        contents.forEachPage { offset, bytes in
            let start = Int(offset)
            let count = min(bytes.count, range.count - start)
            if count <= 0 { return }
            clear(clean, min(start, dirtyBytes))
            (range.mutableBase + start).copyMemory(from: bytes.baseAddress ?? range.base, byteCount: count)
            clean = start + count
        }
        clear(clean, dirtyBytes)
        touched.store(max(clean, min(Int(contents.size), range.count)), ordering: .relaxed)
    }

    /// Makes the view equal to contents that changed behind the program's back.
    func refill(_ contents: FileImage) { fill(contents, dirtyBytes: touched.load(ordering: .relaxed)) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        let count = min(bytes.count, range.count - Int(offset))
        guard count > 0, let source = bytes.baseAddress else { return }
        (range.mutableBase + Int(offset)).copyMemory(from: source, byteCount: count)
        touched.max(Int(offset) + count, ordering: .relaxed)
    }

    func zero(from start: Int64, to end: Int64) {
        clear(Int(start), min(Int(end), touched.load(ordering: .relaxed)))
    }

    /// Zeros from `start` up to `end`; nothing when the end is not behind the start.
    private func clear(_ start: Int, _ end: Int) {
        guard end > start else { return }
        UnsafeMutableRawBufferPointer(start: range.mutableBase + start, count: end - start)
            .initializeMemory(as: UInt8.self, repeating: 0)
    }
}

/// A map that its users may have let go.
struct MapReference: Sendable {
    weak var map: SimulatedMap?
}

/// Address space for maps, used again: after a crash the next disk needs the same amount, and fresh pages cost a fault
/// each.
final class MapMemory: Sendable {
    struct Slot: Sendable {
        var range: MappedRange
        /// Bytes from the start that may be other than zero.
        var touched: Int
    }

    /// Slots kept per size, and bytes up to which a slot is worth keeping.
    private static let slotLimit = 4
    private static let touchedLimit = 32 << 20

    private let slots = Mutex<[Int: [Slot]]>([:])

    func take(_ count: Int) -> Slot? {
        if let kept = slots.withLock({ $0[count]?.popLast() }) { return kept }
        return MappedRange(anonymous: count).map { Slot(range: $0, touched: 0) }
    }

    func give(_ slot: Slot) {
        if slot.touched > Self.touchedLimit { return }
        slots.withLock { slots in
            if slots[slot.range.count, default: []].count < Self.slotLimit {
                slots[slot.range.count, default: []].append(slot)
            }
        }
    }
}
