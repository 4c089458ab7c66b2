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
    func increment32(_ offset: Int)
    /// No load behind it is done before the stores in front of it are seen by all.
    func fence()

    /// Makes the lock in the first 64 bytes. Nobody else may use the memory yet.
    func initializeLock() throws(FileError)
    /// Takes the lock.
    /// - Returns: nil when it could not be had for a second.
    /// - Throws: ``FileError`` when the bytes are no lock any more.
    func lock() throws(FileError) -> SharedLockHolder?
    func unlock()

    /// Sleeps while a word has a value, at most so many microseconds. May return early.
    func wait(_ offset: Int, while value: UInt32, microseconds: Int)
    /// Changes a word and wakes all that wait for it to change.
    func ring(_ offset: Int)
}

/// Who had a shared lock before.
package enum SharedLockHolder: Sendable {
    /// Somebody who gave it back.
    case living
    /// Somebody who died with it: what it guards may be half changed.
    case dead
}

/// A mapped file. The memory is guarded by its users, by the lock in it and by atomic words.
final class MappedSharedMemory: SharedMemory {
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer
    let count: Int
    private let path: String
    private let damage: MapDamage

    init?(descriptor: Int32, path: String, count: Int) {
        guard let base = strata_map_shared(descriptor, count) else { return nil }
        guard let damage = MapDamage(watching: base, count: count) else {
            munmap(base, count)
            return nil
        }
        self.damage = damage
        self.base = base
        self.count = count
        self.path = path
    }

    deinit {
        // A thread whose lock was cut away under it has that place in its list of locks for good.
        if damage.happened { return }
        damage.end()
        munmap(base, count)
    }

    var isIntact: Bool { !damage.happened }

    func load32(_ offset: Int) -> UInt32 { strata_load32(base + offset) }
    func load64(_ offset: Int) -> UInt64 { strata_load64(base + offset) }
    func store32(_ offset: Int, _ value: UInt32) { strata_store32(base + offset, value) }
    func store64(_ offset: Int, _ value: UInt64) { strata_store64(base + offset, value) }
    func increment32(_ offset: Int) { strata_increment32(base + offset) }
    func fence() { strata_fence() }

    func initializeLock() throws(FileError) {
        let result = strata_lock_init(base)
        if result != 0 { throw FileError(.lock, path: path, errno: result) }
    }

    func lock() throws(FileError) -> SharedLockHolder? {
        let lost = FileError(.map, path: path, errno: EIO)
        if damage.happened { throw lost }
        let result = strata_lock(base)
        if damage.happened {
            if result == 0 || result == EOWNERDEAD { unlock() }
            throw lost
        }
        switch result {
        case 0: return .living
        case EOWNERDEAD: return .dead
        case ETIMEDOUT: return nil
        case let failure: throw FileError(.lock, path: path, errno: failure)
        }
    }

    func unlock() { _ = strata_unlock_shared(base) }

    func wait(_ offset: Int, while value: UInt32, microseconds: Int) {
        strata_wait_word(base + offset, value, UInt64(max(microseconds, 0)))
    }

    func ring(_ offset: Int) {
        increment32(offset)
        strata_wake_word(base + offset)
    }
}
