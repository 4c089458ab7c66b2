#if RocksDB
    import Harness
    import PackedRows
    import RunRecords

    /// RocksDB through its C interface: one database per process and location, all tables in its default family.
    package struct RocksDBEngine: Engine {
        package enum Tuning: Sendable {
            /// The library's own defaults.
            case asItComes
            /// For reads of single rows, with a cache of the size that SQLite has when it is tuned.
            case tuned
        }

        package let tuning: Tuning

        package init() {
            self.init(tuning: .asItComes)
        }

        package init(tuning: Tuning) {
            self.tuning = tuning
        }

        package var name: String { tuning == .tuned ? "rocksdb-tuned" : "rocksdb" }
        package var version: String { RocksDBSettings.version }

        package let capabilities: Set<Capability> = [
            .tables, .persistent, .queries, .updates, .deletions, .snapshots, .compaction, .threads,
        ]

        /// Not `detects-damage`: blocks of tables are verified when they are read, but its default recovery of the log
        /// (point in time) is documented to end, without an error, where the log is damaged. Not `isolation`: a write
        /// batch is atomic, and reading before writing is the application's affair (here: under a lock of its own).
        package let promises = [
            Promise(
                .durability,
                sentence: "A write with sync set is flushed from the system's buffers before it counts as complete.",
                source: "rocksdb/options.h, WriteOptions::sync"),
            Promise(
                .atomicity, sentence: "The updates of a write batch are applied all together or not at all.",
                source: "rocksdb/write_batch.h"),
        ]

        package func settings(for durability: DurabilityClass) -> EngineSettings {
            EngineSettings(durability: durability, list: RocksDBSettings(durability: durability, tuning: tuning).list)
        }

        package func open(
            _ location: DatabaseLocation, settings: EngineSettings
        ) throws(EngineError) -> any Session {
            try RocksDBSession(
                directory: location.directory,
                settings: RocksDBSettings(durability: settings.durability, tuning: tuning))
        }

        package func learn(_ tables: TableSet) { PackedCatalogue.learn(tables) }

        /// What the library reads at open. Its information log and its copies of the options are no data.
        package var logPatterns: [String] { ["*.log"] }
        package var coordinationPatterns: [String] { ["LOCK"] }

        package func files(at location: DatabaseLocation) -> [DatabaseFile] {
            let names: [String]
            do { names = try FileTree.names(in: location.directory) } catch { return [] }
            let files = names.compactMap { name -> DatabaseFile? in
                let path = location.directory + "/" + name
                if name.hasSuffix(".log") { return DatabaseFile(path: path, role: .log) }
                if name.hasSuffix(".sst") || name.hasPrefix("MANIFEST-") || name == "CURRENT" {
                    return DatabaseFile(path: path, role: .data)
                }
                return name == "LOCK" ? DatabaseFile(path: path, role: .lock) : nil
            }
            return files.filter { $0.role == .data } + files.filter { $0.role != .data }
        }
    }
#endif
