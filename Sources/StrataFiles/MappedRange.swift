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

    package init(_ start: UnsafeMutableRawPointer, count: Int) {
        self.start = start
        self.count = count
    }

    /// Zeroed private memory that takes no room until it is touched; nil when address space is exhausted.
    package convenience init?(anonymous count: Int) {
        #if canImport(Darwin)
            let flags = MAP_PRIVATE | MAP_ANON
        #else
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        #endif
        guard let base = mmap(nil, count, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else { return nil }
        self.init(UnsafeMutableRawPointer(base), count: count)
    }

    deinit { munmap(start, count) }

    package var base: UnsafeRawPointer { UnsafeRawPointer(start) }

    /// For anonymous memory only: a mapped file is read-only.
    package var mutableBase: UnsafeMutableRawPointer { start }

    /// Gives the memory of a whole range of pages back to the system; it reads as zeros afterwards.
    package func discard(from offset: Int, count: Int) { madvise(start + offset, count, MADV_DONTNEED) }
}

/// Set once.
package final class ClosedFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    package init() {}

    /// True for the first caller.
    package func set() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }

    package var isSet: Bool { flag.load(ordering: .acquiring) }
}
