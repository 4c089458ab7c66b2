#if RocksDB
    import CRocksDB
    import RunRecords

    /// What is set, and what the library's own defaults are where they matter.
    struct RocksDBSettings: Sendable {
        var durability: DurabilityClass

        /// From the name of the library's file, `librocksdb.so.7.8.3`: its C interface has no call for it.
        static let version: String = {
            let maps: String
            do { maps = try FileTree.readText("/proc/self/maps") } catch { return "unknown" }
            let mark = "/librocksdb.so."
            for line in maps.split(separator: "\n") {
                if let place = line.ranges(of: mark).last { return String(line[place.upperBound...]) }
            }
            return "unknown"
        }()

        var isSynced: Bool { durability == .full }
        var hasLog: Bool { durability != .none }

        var list: [EngineSetting] {
            [
                EngineSetting("sync", "\(isSynced)"), EngineSetting("disableWAL", "\(!hasLog)"),
                EngineSetting("create_if_missing", "true"), EngineSetting("compression", "Snappy (default)"),
                EngineSetting("write_buffer_size", "64 MiB (default)"),
                EngineSetting("block_cache", "8 MiB (default)"), EngineSetting("bloom filter", "none (default)"),
                EngineSetting("wal_recovery_mode", "kPointInTimeRecovery (default)"),
                EngineSetting("verify_checksums", "true (default)"),
                EngineSetting("families", "one, key (table, id) big-endian, value packed row"),
                EngineSetting("inserts", "looked up first, so that a key that is there is refused"),
                EngineSetting("read, then write", "under a lock of the process"),
                EngineSetting("close", "flushes the memory table"),
            ]
        }
    }
#endif
