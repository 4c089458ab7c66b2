/// What a process and the children that it forked did to the files that are watched, as the preloaded library counted
/// it: `assay_preload.h` of CAssayPreload says what each field counts. Two of them make a difference.
package struct IOCounts: Sendable, Equatable {
    package var writeCalls: UInt64 = 0
    package var writtenBytes: UInt64 = 0
    package var readCalls: UInt64 = 0
    package var readBytes: UInt64 = 0
    /// Of the writes, those to logs.
    package var logWriteCalls: UInt64 = 0
    package var logWrittenBytes: UInt64 = 0
    /// `fsync` and `fdatasync` of files.
    package var syncCalls: UInt64 = 0
    package var failedSyncCalls: UInt64 = 0
    /// Of the writes, those that are durable when they return.
    package var syncedWriteCalls: UInt64 = 0
    /// `sync_file_range`, which makes nothing durable.
    package var rangeSyncCalls: UInt64 = 0
    package var fileSystemSyncs: UInt64 = 0
    package var directorySyncs: UInt64 = 0
    package var mapSyncs: UInt64 = 0
    package var truncations: UInt64 = 0
    /// Of space, not of memory.
    package var allocations: UInt64 = 0
    package var opens: UInt64 = 0
    package var renames: UInt64 = 0
    package var links: UInt64 = 0
    package var unlinks: UInt64 = 0
    /// Where there are any, some of what was written was not seen.
    package var sharedWritableMaps: UInt64 = 0
    /// Where there are any, other counts may be too low.
    package var unseenCalls: UInt64 = 0
    /// Calls that the library made longer: those that wait for the device, and other writes.
    package var delayedSyncs: UInt64 = 0
    package var delayedWrites: UInt64 = 0

    package init() {}

    /// The numbers in the library's order.
    init(words: [UInt64]) {
        for (field, word) in zip(Self.fields, words) { self[keyPath: field.path] = word }
    }

    /// Whatever makes a sync: each of them waits for the device.
    package var allSyncs: UInt64 {
        syncCalls + syncedWriteCalls + fileSystemSyncs + directorySyncs + mapSyncs
    }

    /// Whatever was asked of the kernel about files.
    package var allCalls: UInt64 {
        writeCalls + readCalls + syncCalls + fileSystemSyncs + directorySyncs + mapSyncs + rangeSyncCalls + truncations
            + allocations + opens + renames + links + unlinks
    }

    package static func - (end: IOCounts, start: IOCounts) -> IOCounts {
        var difference = IOCounts()
        for (_, path) in fields { difference[keyPath: path] = end[keyPath: path] &- start[keyPath: path] }
        return difference
    }

    typealias Field = (name: String, path: WritableKeyPath<IOCounts, UInt64> & Sendable)

    /// The library's names for the fields, in its order.
    static let fields: [Field] = [
        ("write_calls", \.writeCalls), ("written_bytes", \.writtenBytes), ("read_calls", \.readCalls),
        ("read_bytes", \.readBytes), ("log_write_calls", \.logWriteCalls), ("log_written_bytes", \.logWrittenBytes),
        ("sync_calls", \.syncCalls), ("failed_sync_calls", \.failedSyncCalls),
        ("synced_write_calls", \.syncedWriteCalls), ("range_sync_calls", \.rangeSyncCalls),
        ("file_system_syncs", \.fileSystemSyncs), ("directory_syncs", \.directorySyncs), ("map_syncs", \.mapSyncs),
        ("truncations", \.truncations), ("allocations", \.allocations), ("opens", \.opens), ("renames", \.renames),
        ("links", \.links), ("unlinks", \.unlinks), ("shared_writable_maps", \.sharedWritableMaps),
        ("unseen_calls", \.unseenCalls), ("delayed_syncs", \.delayedSyncs), ("delayed_writes", \.delayedWrites),
    ]
}
