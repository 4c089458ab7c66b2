#if LMDB
    import CLMDB
    import Harness
    import PackedRows
    import RunRecords

    /// LMDB through its C interface: one environment per process and database, one unnamed database with all tables.
    package struct LMDBEngine: Engine {
        package let name = "lmdb"
        package var version: String {
            var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
            mdb_version(&major, &minor, &patch)
            return "\(major).\(minor).\(patch)"
        }

        package let capabilities: Set<Capability> = [
            .tables, .persistent, .queries, .updates, .deletions, .snapshots, .compaction, .threads, .processes,
        ]

        /// It has no checksums, and promises nothing about damaged files: it maps them, and follows what stands there.
        package let promises = [
            Promise(
                .durability,
                sentence: "Without MDB_NOSYNC and MDB_NOMETASYNC a commit flushes its pages and then its meta page.",
                source: "lmdb.h, mdb_env_open"),
            Promise(
                .atomicity, sentence: "Transactions have full ACID semantics; nothing of an aborted one stays.",
                source: "lmdb.h, main page"),
            Promise(
                .isolation,
                sentence: "One writer at a time across all processes; a reader sees the version at which it began.",
                source: "lmdb.h, main page"),
        ]

        package init() {}

        package func settings(for durability: DurabilityClass) -> EngineSettings {
            EngineSettings(durability: durability, list: LMDBSettings(durability: durability).list)
        }

        package func open(
            _ location: DatabaseLocation, settings: EngineSettings
        ) throws(EngineError) -> any Session {
            try LMDBSession(path: location.mainFile, settings: LMDBSettings(durability: settings.durability))
        }

        package func files(at location: DatabaseLocation) -> [DatabaseFile] {
            let main = location.mainFile
            return [
                DatabaseFile(path: main, role: .data), DatabaseFile(path: main + "-lock", role: .lock),
            ].filter { FileTree.exists($0.path) }
        }
    }

    /// Flags and limits of an environment.
    struct LMDBSettings: Sendable {
        var durability: DurabilityClass

        /// Address space only: the file grows by the pages that are written.
        static let mapBytes = 16 << 30
        static let readers: UInt32 = 512

        var flags: UInt32 {
            let common = MDB_NOSUBDIR | MDB_NOTLS
            switch durability {
            case .full: return UInt32(common)
            case .periodic: return UInt32(common | MDB_NOMETASYNC)
            case .none: return UInt32(common | MDB_NOSYNC)
            }
        }

        var list: [EngineSetting] {
            let class_ =
                switch durability {
                case .full: "none (every commit syncs)"
                case .periodic: "MDB_NOMETASYNC"
                case .none: "MDB_NOSYNC"
                }
            return [
                EngineSetting("durability flags", class_),
                EngineSetting("other flags", "MDB_NOSUBDIR, MDB_NOTLS"),
                EngineSetting("mapsize", "\(Self.mapBytes)"), EngineSetting("maxreaders", "\(Self.readers)"),
                EngineSetting("databases", "one, key (table, id) big-endian, value packed row"),
                EngineSetting("bulk load", "MDB_APPEND, keys in order"),
                EngineSetting("inserts", "MDB_NOOVERWRITE"),
            ]
        }
    }
#endif
