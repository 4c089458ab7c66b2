#if RocksDB
    import CRocksDB
    import Harness
    import RunRecords

    /// The settings that the adapter sets, and the library's defaults that matter.
    struct RocksDBSettings: Sendable {
        var durability: DurabilityClass
        var tuning: RocksDBEngine.Tuning

        /// From the name of the library's file, `librocksdb.so.7.8.3`, else from its soname: the C interface has no
        /// call for it.
        static let version: String = {
            let library = LoadedLibrary.of(function: "rocksdb_open")
            let mark = "librocksdb.so."
            for name in [library?.fileName ?? "", library?.object?.name ?? ""] where name.hasPrefix(mark) {
                return String(name.dropFirst(mark.count))
            }
            return "unknown"
        }()

        var isSynced: Bool { durability == .full }
        var hasLog: Bool { durability != .none }
        private var isTuned: Bool { tuning == .tuned }

        static let tunedCacheBytes = 256 << 20
        static let tunedBufferBytes = 128 << 20
        static let bloomBits = 10.0
        static let hashRatio = 0.75

        /// The settings that the library writes into its file OPTIONS, by the names used there.
        var observable: [EngineSetting] {
            [
                EngineSetting("write_buffer_size", "\(isTuned ? Self.tunedBufferBytes : 64 << 20)"),
                EngineSetting("compression", "kSnappyCompression"),
                EngineSetting("level_compaction_dynamic_level_bytes", "\(isTuned)"),
                EngineSetting("bytes_per_sync", isTuned ? "1048576" : "0"),
                EngineSetting("filter_policy", isTuned ? "bloomfilter" : "nullptr"),
                EngineSetting(
                    "data_block_index_type", isTuned ? "kDataBlockBinaryAndHash" : "kDataBlockBinarySearch"),
                EngineSetting("block_size", "4096"),
                EngineSetting("wal_recovery_mode", "kPointInTimeRecovery"),
                EngineSetting("recycle_log_file_num", "0"),
                EngineSetting("paranoid_checks", "true"),
            ]
        }

        var list: [EngineSetting] {
            [
                EngineSetting("sync", "\(isSynced)"), EngineSetting("disableWAL", "\(!hasLog)"),
                EngineSetting("block_cache", "\(isTuned ? Self.tunedCacheBytes : 8 << 20)"),
            ] + observable + [
                EngineSetting("families", "one, key (table, id) big-endian, value packed row"),
                EngineSetting("inserts", "looked up first, so that a key that is there is refused"),
                EngineSetting("read, then write", "under a lock of the process"),
                EngineSetting("close", "flushes the memory table"),
            ]
        }
    }
#endif
