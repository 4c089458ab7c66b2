import CStrataShim

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The first bytes of a file, as all processes that map it see and change them.
///
/// Offsets are bytes. Words are aligned. What a dead or damaged process left there may be anything.
/// Concurrency: every member may be called from any thread of any process.
package protocol SharedMemory: AnyObject, Sendable {
    /// Bytes that may be used.
    var count: Int { get }
    /// False from the moment on at which a part of the file was not there: somebody has cut it. What is loaded and
    /// stored there since then is nobody else's.
    var isIntact: Bool { get }

    func load32(_ offset: Int) -> UInt32
    func load64(_ offset: Int) -> UInt64
    /// Later loads of others that see it see all stores before it.
    func store32(_ offset: Int, _ value: UInt32)
    func store64(_ offset: Int, _ value: UInt64)
    /// Gives a word a new value where it has the expected one.
    /// - Returns: whether it had.
    func exchange64(_ offset: Int, expected: UInt64, with new: UInt64) -> Bool
    func increment32(_ offset: Int)
    /// No load behind it is done before the stores in front of it are seen by all.
    func fence()

    /// Sleeps while a word has a value, at most so many microseconds. May return early.
    func wait(_ offset: Int, while value: UInt32, microseconds: Int)
    /// Changes a word and wakes all that wait for it to change.
    func ring(_ offset: Int)
}

/// A mapped file. The memory is guarded by atomic words and by its users' locks.
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
