import CAllocations

/// Allocations of this process so far.
package struct AllocationSnapshot: Sendable, Equatable {
    package var allocations: UInt64
    /// Bytes asked for by the calling thread.
    package var threadBytes: UInt64

    package func since(_ start: AllocationSnapshot) -> AllocationSnapshot {
        AllocationSnapshot(
            allocations: allocations - start.allocations, threadBytes: threadBytes - start.threadBytes)
    }
}

/// Counts allocations exactly: the calls of malloc, calloc, realloc and of the aligned ones by every library of the
/// process. The allocator is the platform's, which is what the users of an engine have. There is none elsewhere than
/// with glibc, nor under a sanitizer.
package struct AllocationCounter: Sendable {
    package init?() {
        if assay_allocations_are_counted() == 0 { return nil }
    }

    /// O(threads that ran at a time).
    package func snapshot() -> AllocationSnapshot {
        AllocationSnapshot(allocations: assay_allocations(), threadBytes: assay_allocated_bytes())
    }

    /// Has the allocator treat large blocks as it does in a program that has just begun, for the rest of the process.
    package static func mapLargeBlocks() { assay_map_large_blocks() }
}
