import CAllocations

/// The counts of `AllocationCounter` so far: calls by all threads of this process.
package struct AllocationSnapshot: Sendable, Equatable {
    package var allocations: UInt64
    /// Bytes that the calling thread alone has asked for.
    package var threadBytes: UInt64

    package func since(_ start: AllocationSnapshot) -> AllocationSnapshot {
        AllocationSnapshot(
            allocations: allocations - start.allocations, threadBytes: threadBytes - start.threadBytes)
    }
}

/// Counts allocations exactly: calls of malloc, calloc, realloc and the aligned variants by every library of the
/// process. The allocator behind the counts is the platform's, as for the users of an engine. Available only with
/// glibc, and not under a sanitizer.
package struct AllocationCounter: Sendable {
    package init?() {
        if assay_allocations_are_counted() == 0 { return nil }
    }

    /// O(largest number of concurrent threads).
    package func snapshot() -> AllocationSnapshot {
        AllocationSnapshot(allocations: assay_allocations(), threadBytes: assay_allocated_bytes())
    }

    /// Makes the allocator map each block of 128 KiB and more separately, as in a fresh process, until this process
    /// ends. By default the allocator raises that bound to the size of such a block when the process frees it. calloc
    /// then reuses memory of the heap for blocks below the new bound, and has to clear it.
    package static func mapLargeBlocks() { assay_map_large_blocks() }
}
