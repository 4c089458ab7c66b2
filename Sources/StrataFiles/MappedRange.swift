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
    /// Only grows, one thread at a time.
    private let length: Atomic<Int>
    private let growing = Mutex(())
    package let damage: MapDamage?
    private let addition: Addition

    /// What a range gets that is made longer.
    enum Addition {
        /// More of the same: of the file, or zeros.
        case same
        /// Zeros, whatever the range begins with.
        case zeros
    }

    package var count: Int { length.load(ordering: .acquiring) }

    /// - Parameter damage: set for what a process that is forked off must not have; of a mapped file also for pages
    ///   that turn out to be unreadable.
    init(_ start: UnsafeMutableRawPointer, count: Int, damage: MapDamage? = nil, adding addition: Addition = .same) {
        self.start = start
        length = Atomic(count)
        self.damage = damage
        self.addition = addition
        AddressSpace.taken.add(count, ordering: .relaxed)
    }

    /// Zeroed private memory that takes no room until it is touched; nil when address space is exhausted.
    package convenience init?(anonymous count: Int) {
        guard let base = Self.reserve(count) else { return nil }
        self.init(base, count: count)
    }

    /// Zeroed private memory for something that grows: `wanted` bytes, or fewer where address space is short, to be
    /// extended later. Nil when there is not even room for `least`.
    /// - Parameter isOfFile: it holds what a file does: in a process that is forked off it reads zeros, and says so.
    package convenience init?(growing wanted: Int, atLeast least: Int = 0, isOfFile: Bool = false) {
        guard let (base, count) = Self.reserve(growing: wanted, atLeast: least) else { return nil }
        if !isOfFile {
            self.init(base, count: count)
        } else if let damage = MapDamage(watching: base, count: count) {
            self.init(base, count: count, damage: damage)
        } else {
            munmap(base, count)
            return nil
        }
    }

    /// Anonymous memory with room behind it, for the caller to unmap: `wanted` bytes, or fewer.
    static func reserve(
        growing wanted: Int, atLeast least: Int
    ) -> (start: UnsafeMutableRawPointer, count: Int)? {
        for count in AddressSpace.attempts(wanted, atLeast: least) {
            if let base = reserve(count, at: AddressSpace.place(for: max(wanted, count))) { return (base, count) }
        }
        return nil
    }

    /// Makes the range longer where it is; what is added is more of the same file, or zeros.
    /// - Returns: false when the addresses behind it are taken, or the process may map no more.
    package func extend(to bytes: Int) -> Bool {
        growing.withLock { _ in
            let old = count
            if bytes <= old { return true }
            let bytes = AddressSpace.roundedUp(bytes)
            guard AddressSpace.isFree(bytes - old), lengthen(old, to: bytes) else { return false }
            length.store(bytes, ordering: .releasing)
            AddressSpace.taken.add(bytes - old, ordering: .relaxed)
            return true
        }
    }

    private func lengthen(_ old: Int, to bytes: Int) -> Bool {
        ProcessOrigin.withoutForks {
            let failure =
                switch addition {
                case .same: strata_extend_map(start, old, bytes)
                case .zeros: strata_map_behind(start + old, bytes - old)
                }
            if failure == 0 { damage?.extend(to: bytes) }
            return failure == 0
        }
    }

    /// As ``init(anonymous:)``, for the caller to unmap.
    static func reserve(_ count: Int, at wish: UnsafeMutableRawPointer? = nil) -> UnsafeMutableRawPointer? {
        #if canImport(Darwin)
            let flags = MAP_PRIVATE | MAP_ANON
        #else
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        #endif
        guard let base = mmap(wish, count, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else { return nil }
        return base
    }

    deinit {
        if let damage {
            ProcessOrigin.withoutForks { damage.end(start, count) }
        } else {
            munmap(start, count)
        }
        AddressSpace.taken.subtract(count, ordering: .relaxed)
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

    private let origin = ProcessOrigin()
    /// Whether the map is the parent's of this process, which was forked off since; it reads zeros here.
    package var isForked: Bool { origin.isForked }

    /// Watches a range; nil without memory. Of a file, forks are held since before it was mapped.
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

    /// Watches more of the range.
    func extend(to count: Int) { strata_extend_watch(record, count) }

    /// Watches the range no more, and unmaps it. Forks are held.
    func end(_ base: UnsafeMutableRawPointer, _ count: Int) {
        strata_unwatch(record)
        munmap(base, count)
    }
}

/// Set once.
package final class ClosedFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    package init() {}

    /// True for the first caller.
    package func set() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }

    package var isSet: Bool { flag.load(ordering: .acquiring) }
}
