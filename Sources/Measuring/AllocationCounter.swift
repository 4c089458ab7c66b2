import CAllocations

/// Allocations of this process so far.
package struct AllocationSnapshot: Sendable, Equatable {
    package var allocations: UInt64
    /// Bytes requested by the calling thread.
    package var threadBytes: UInt64

    package func since(_ start: AllocationSnapshot) -> AllocationSnapshot {
        AllocationSnapshot(
            allocations: allocations - start.allocations, threadBytes: threadBytes - start.threadBytes)
    }
}

/// Counts allocations exactly: calls of malloc, calloc, realloc and the aligned variants by every library of the
/// process. The allocator is the platform's, as for users of an engine. Available only with glibc, and not under a
/// sanitizer.
package struct AllocationCounter: Sendable {
    package init?() {
        if assay_allocations_are_counted() == 0 { return nil }
    }

    /// O(largest number of concurrent threads).
    package func snapshot() -> AllocationSnapshot {
        AllocationSnapshot(allocations: assay_allocations(), threadBytes: assay_allocated_bytes())
    }

    /// Makes the allocator treat large blocks as in a fresh process, for the rest of the process.
    package static func mapLargeBlocks() { assay_map_large_blocks() }
}
