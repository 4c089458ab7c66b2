import CStrataShim
import Platform
import Synchronization

/// A range of address space that is unmapped in deinit.
package final class MappedRange: FileMap {
    /// Immutable after init. The users of the object guard the bytes.
    private nonisolated(unsafe) let start: UnsafeMutableRawPointer
    /// Only grows, one thread at a time.
    private let length: Atomic<Int>
    private let growing = Mutex(())
    package let damage: MapDamage?
    private let addition: Addition

    /// Contents of an extension of the range.
    enum Addition {
        /// More of the same mapping: the next part of the file, or zeros if the range is anonymous memory.
        case same
        /// Zeros, even if the range maps a file.
        case zeros
    }

    package var count: Int { length.load(ordering: .acquiring) }

    /// - Parameter damage: set for memory that a forked child must not share: the child finds it marked as damaged. For
    ///   a mapped file it also reports unreadable pages.
    init(_ start: UnsafeMutableRawPointer, count: Int, damage: MapDamage? = nil, adding addition: Addition = .same) {
        self.start = start
        length = Atomic(count)
        self.damage = damage
        self.addition = addition
        AddressSpace.taken.add(count, ordering: .relaxed)
    }

    /// Zeroed private memory that is allocated on first use; nil if address space is exhausted.
    package convenience init?(anonymous count: Int) {
        guard let base = Self.reserve(count) else { return nil }
        self.init(base, count: count)
    }

    /// Zeroed private memory that can grow: `wanted` bytes, or fewer if address space is scarce, to be extended later.
    /// Nil if not even `least` bytes are available.
    /// - Parameter isOfFile: whether it holds a file's contents: then it reads as zeros in a forked child, and is
    ///   marked as damaged there.
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

    /// Anonymous memory followed by free addresses, to be unmapped by the caller: `wanted` bytes, or fewer.
    static func reserve(
        growing wanted: Int, atLeast least: Int
    ) -> (start: UnsafeMutableRawPointer, count: Int)? {
        for count in AddressSpace.attempts(wanted, atLeast: least) {
            if let base = reserve(count, at: AddressSpace.place(for: max(wanted, count))) { return (base, count) }
        }
        return nil
    }

    /// Asks the system for large pages: a thread that fills the memory then takes one page fault for each of them. A
    /// system without large pages ignores the request.
    package func preferLargePages() {
        #if os(Linux)
            madvise(start, count, MADV_HUGEPAGE)
        #endif
    }

    /// Extends the range in place, by the next part of the file, or by zeros.
    /// - Returns: false if the addresses behind it are taken, or the process may map no more.
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

    /// Returns the memory of whole pages to the system; they read as zeros afterwards.
    package func discard(from offset: Int, count: Int) { madvise(start + offset, count, MADV_DONTNEED) }
}

/// Reports lost pages of a mapped file: another program truncated the file, or the medium failed.
///
/// An access to such a page raises no signal, and reads zeros. A reader checks this after its loads, and before it uses
/// their results. Valid as long as the mapping.
package struct MapDamage: Sendable {
    /// Atomic; the memory is never freed.
    private nonisolated(unsafe) let record: UnsafeMutablePointer<strata_damage>
    /// Not 0 after a page was lost. Atomic, like the record.
    package nonisolated(unsafe) let flag: UnsafeMutablePointer<Atomic<UInt32>>

    private let origin = ProcessOrigin()
    /// Whether this process was forked off after the mapping was made: the mapping belongs to the parent, and reads as
    /// zeros here.
    package var isForked: Bool { origin.isForked }

    /// Watches a range; nil without memory. If the range maps a file, the caller has blocked forks since before the
    /// `mmap`.
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

    /// Shared by mappings that cannot lose pages.
    package static let never = MapDamage()

    @inline(__always) package var happened: Bool { flag.pointee.load(ordering: .relaxed) != 0 }

    /// Bytes from the start of the map to the last access that failed.
    package var offset: Int { Int(record.pointee.offset) }

    /// Extends the watched range.
    func extend(to count: Int) { strata_extend_watch(record, count) }

    /// Ends watching the range, and unmaps it. The caller has blocked forks.
    func end(_ base: UnsafeMutableRawPointer, _ count: Int) {
        strata_unwatch(record)
        munmap(base, count)
    }
}

/// A flag that is set once.
package final class ClosedFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    package init() {}

    /// Sets the flag; true for the first caller.
    package func set() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }

    package var isSet: Bool { flag.load(ordering: .acquiring) }
}
