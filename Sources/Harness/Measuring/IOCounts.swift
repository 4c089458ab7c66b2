/// Calls of a process and its forked children on the watched files, as counted by the preloaded library.
/// `assay_preload.h` of CAssayPreload defines each field. The difference of two values is what happened in between.
package struct IOCounts: Sendable, Equatable {
    package var writeCalls: UInt64 = 0
    package var writtenBytes: UInt64 = 0
    package var readCalls: UInt64 = 0
    package var readBytes: UInt64 = 0
    /// Of the writes above, those to logs.
    package var logWriteCalls: UInt64 = 0
    package var logWrittenBytes: UInt64 = 0
    /// `fsync` and `fdatasync` of files.
    package var syncCalls: UInt64 = 0
    package var failedSyncCalls: UInt64 = 0
    /// Writes that are durable when they return.
    package var syncedWriteCalls: UInt64 = 0
    /// `sync_file_range`, which makes nothing durable.
    package var rangeSyncCalls: UInt64 = 0
    package var fileSystemSyncs: UInt64 = 0
    package var directorySyncs: UInt64 = 0
    package var mapSyncs: UInt64 = 0
    package var truncations: UInt64 = 0
    /// Allocations of disk space, not of memory.
    package var allocations: UInt64 = 0
    package var opens: UInt64 = 0
    package var renames: UInt64 = 0
    package var links: UInt64 = 0
    package var unlinks: UInt64 = 0
    /// If it is not 0, the library did not see all stores to files.
    package var sharedWritableMaps: UInt64 = 0
    /// If it is not 0, other counts may be too low.
    package var unseenCalls: UInt64 = 0
    /// Calls that a set delay made longer: those that wait for the device.
    package var delayedSyncs: UInt64 = 0
    /// The same for writes that do not wait for the device.
    package var delayedWrites: UInt64 = 0

    package init() {}

    /// From the numbers in the order of the library's fields.
    init(words: [UInt64]) {
        for (field, word) in zip(Self.fields, words) { self[keyPath: field.path] = word }
    }

    /// All calls that wait for the device.
    package var allSyncs: UInt64 {
        syncCalls + syncedWriteCalls + fileSystemSyncs + directorySyncs + mapSyncs
    }

    /// All calls on files.
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

    /// The fields by the library's names, in the library's order.
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
