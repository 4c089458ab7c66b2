import CStrataShim
import Platform

/// The first bytes of a file, mapped for reading and writing by several processes.
///
/// Offsets are bytes. Words are aligned. The contents are untrusted: a dead or damaged process may have left any bytes.
/// Concurrency: every member may be called from any thread of any process.
package protocol SharedMemory: AnyObject, Sendable {
    /// Number of usable bytes.
    var count: Int { get }
    /// False once a part of the file was missing, because another program truncated it. From then on loads and stores
    /// reach private memory of this process only.
    var isIntact: Bool { get }

    func load32(_ offset: Int) -> UInt32
    func load64(_ offset: Int) -> UInt64
    /// A release store: a thread that loads the value sees all earlier stores.
    func store32(_ offset: Int, _ value: UInt32)
    func store64(_ offset: Int, _ value: UInt64)
    /// Replaces a word if it has the expected value.
    /// - Returns: whether it had.
    func exchange64(_ offset: Int, expected: UInt64, with new: UInt64) -> Bool
    func increment32(_ offset: Int)
    /// A full fence: no later load is done before all earlier stores are visible.
    func fence()

    /// Sleeps while a word has a value, at most this many microseconds. May return early.
    func wait(_ offset: Int, while value: UInt32, microseconds: Int)
    /// Increments a word, and wakes all threads of all processes that wait for its change.
    func ring(_ offset: Int)
}

/// A mapped file. Threads read and write words atomically; processes guard longer data by their locks.
final class MappedSharedMemory: SharedMemory {
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer
    let count: Int
    private let damage: MapDamage

    init?(descriptor: Int32, count: Int) {
        let made = ProcessOrigin.withoutForks { () -> (UnsafeMutableRawPointer, MapDamage)? in
            guard let base = strata_map_shared(descriptor, count) else { return nil }
            guard let damage = MapDamage(watching: base, count: count) else {
                munmap(base, count)
                errno = ENOMEM
                return nil
            }
            return (base, damage)
        }
        guard let made else { return nil }
        (base, damage) = made
        self.count = count
    }

    deinit { ProcessOrigin.withoutForks { damage.end(base, count) } }

    var isIntact: Bool { !damage.happened }

    func load32(_ offset: Int) -> UInt32 { strata_load32(base + offset) }
    func load64(_ offset: Int) -> UInt64 { strata_load64(base + offset) }
    func store32(_ offset: Int, _ value: UInt32) { strata_store32(base + offset, value) }
    func store64(_ offset: Int, _ value: UInt64) { strata_store64(base + offset, value) }
    func exchange64(_ offset: Int, expected: UInt64, with new: UInt64) -> Bool {
        strata_exchange64(base + offset, expected, new) != 0
    }
    func increment32(_ offset: Int) { strata_increment32(base + offset) }
    func fence() { strata_fence() }

    func wait(_ offset: Int, while value: UInt32, microseconds: Int) {
        strata_wait_word(base + offset, value, UInt64(max(microseconds, 0)))
    }

    func ring(_ offset: Int) {
        increment32(offset)
        strata_wake_word(base + offset)
    }
}
