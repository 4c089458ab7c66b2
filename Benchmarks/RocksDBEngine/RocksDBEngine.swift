#if RocksDB
    import Files
    import Harness
    import PackedRows
    import RunRecords

    /// RocksDB through its C interface: one database per process and location, all tables in its default
    /// column family.
    package struct RocksDBEngine: Engine {
        package enum Tuning: Sendable {
            /// The library's own defaults.
            case asItComes
            /// For point reads, with a cache of the size that the tuned SQLite has.
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
            .tables, .persistent, .queries, .updates, .deletions, .snapshots, .compaction, .threads, .checks, .salvages,
            .keyedRows,
        ]

        package let library = "rocksdb"
        package var libraryFunction: String? { "rocksdb_open" }

        /// What the library's headers promise, in their words.
        ///
        /// - Not `detects-damage`: RocksDB verifies blocks of .sst files when it reads them. But its default recovery
        ///   (kPointInTimeRecovery in options.h) ends the replay at the first inconsistency of the log, without an
        ///   error, as documented.
        /// - Only read-committed isolation: a write batch is atomic, but RocksDB does not protect what a program reads
        ///   before it writes. The adapter does so by a lock of its own; a lost update would break no promise.
        package let promises = [
            Promise(
                .durability,
                sentence: "If true, the write will be flushed from the operating system buffer cache (by calling "
                    + "WritableFile::Sync()) before the write is considered complete.",
                source: "rocksdb/options.h, WriteOptions::sync"),
            Promise(
                .atomicity, sentence: "WriteBatch holds a collection of updates to apply atomically to a DB.",
                source: "rocksdb/write_batch.h"),
            Promise(
                isolation: .readCommitted,
                sentence: "Iterators created with this handle will all observe a stable snapshot of the current DB "
                    + "state.",
                source: "rocksdb/db.h, GetSnapshot"),
        ]

        package func inspectionCommands(at location: DatabaseLocation) -> [String] {
            ["ldb --db=\(ShellWord.quoted(location.directory)) checkconsistency"]
        }

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

        package func learn(_ tables: TableSet) {
            PackedCatalogue.learn(tables)
            RocksDBStore.open.prepare()
        }

        package var logPatterns: [String] { ["*.log"] }
        package var coordinationPatterns: [String] { ["LOCK"] }
        /// RocksDB writes an .sst file once and never changes it: the manifest records which ones are live.
        package var constantPatterns: [String] { ["*.sst"] }
        /// Every open creates a new manifest and a new log.
        package var changesFilesAtOpen: Bool { true }

        /// The files that the library reads at open. Its info log and its copies of the options are not data.
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
