import CStrataShim
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A range of address space that is unmapped with the object.
package final class MappedRange: FileMap {
    /// Immutable after init. The bytes behind it are guarded by whoever shares the object.
    private nonisolated(unsafe) let start: UnsafeMutableRawPointer
    package let count: Int
    package let damage: MapDamage?

    /// - Parameter damage: set for a mapped file, whose pages may turn out to be unreadable.
    package init(_ start: UnsafeMutableRawPointer, count: Int, damage: MapDamage? = nil) {
        self.start = start
        self.count = count
        self.damage = damage
    }

    /// Zeroed private memory that takes no room until it is touched; nil when address space is exhausted.
    package convenience init?(anonymous count: Int) {
        guard let base = Self.reserve(count) else { return nil }
        self.init(base, count: count)
    }

    /// As ``init(anonymous:)``, for the caller to unmap.
    static func reserve(_ count: Int) -> UnsafeMutableRawPointer? {
        #if canImport(Darwin)
            let flags = MAP_PRIVATE | MAP_ANON
        #else
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        #endif
        guard let base = mmap(nil, count, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else { return nil }
        return base
    }

    deinit {
        damage?.end()
        munmap(start, count)
    }

    package var base: UnsafeRawPointer { UnsafeRawPointer(start) }

    /// For anonymous memory only: a mapped file is read-only.
    package var mutableBase: UnsafeMutableRawPointer { start }

    /// Gives the memory of a whole range of pages back to the system; it reads as zeros afterwards.
    package func discard(from offset: Int, count: Int) { madvise(start + offset, count, MADV_DONTNEED) }
}

/// Says whether a mapped file lost pages while it was read: it was cut by somebody, or the medium failed.
///
/// An access to such a page is no signal: it reads zeros. Whoever loads from the map asks afterwards, before it
/// believes what it loaded. Valid as long as the map is.
package struct MapDamage: Sendable {
    /// Atomic; the memory stands for the life of the process.
    private nonisolated(unsafe) let record: UnsafeMutablePointer<strata_damage>
    /// Not 0 after a page was lost. Atomic, as the record.
    package nonisolated(unsafe) let flag: UnsafeMutablePointer<Atomic<UInt32>>

    /// Watches a range; nil without memory.
    init?(watching base: UnsafeRawPointer, count: Int) {
        guard let record = strata_watch(base, count) else { return nil }
        self.record = record
        flag = UnsafeMutableRawPointer(record).assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    private init() {
        record = .allocate(capacity: 1)
        record.initialize(to: strata_damage(happened: 0, offset: 0))
        flag = UnsafeMutableRawPointer(record).assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    /// What maps that cannot lose pages share.
    package static let never = MapDamage()

    @inline(__always) package var happened: Bool { flag.pointee.load(ordering: .relaxed) != 0 }

    /// Bytes from the start of the map to the last access that failed.
    package var offset: Int { Int(record.pointee.offset) }

    /// Watches the range no more.
    func end() { strata_unwatch(record) }
}

/// Set once.
package final class ClosedFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    package init() {}

    /// True for the first caller.
    package func set() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }

    package var isSet: Bool { flag.load(ordering: .acquiring) }
}
