#if LMDB
    import CLMDB
    import Harness
    import PackedRows
    import RunRecords

    /// LMDB through its C interface: one environment per process and database, one unnamed database with all tables.
    package struct LMDBEngine: Engine {
        package enum Tuning: Sendable {
            case asItComes
            /// Without read-ahead, and without clearing memory that is written over.
            case tuned
        }

        package let tuning: Tuning

        package init() {
            self.init(tuning: .asItComes)
        }

        package init(tuning: Tuning) {
            self.tuning = tuning
        }

        package var name: String { tuning == .tuned ? "lmdb-tuned" : "lmdb" }
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

        package func settings(for durability: DurabilityClass) -> EngineSettings {
            EngineSettings(durability: durability, list: LMDBSettings(durability: durability, tuning: tuning).list)
        }

        package func open(
            _ location: DatabaseLocation, settings: EngineSettings
        ) throws(EngineError) -> any Session {
            try LMDBSession(
                path: location.mainFile, settings: LMDBSettings(durability: settings.durability, tuning: tuning))
        }

        package func learn(_ tables: TableSet) { PackedCatalogue.learn(tables) }

        package var logPatterns: [String] { ["data"] }
        package var coordinationPatterns: [String] { ["*-lock"] }

        package func files(at location: DatabaseLocation) -> [DatabaseFile] {
            let main = location.mainFile
            return [
                DatabaseFile(path: main, role: .data), DatabaseFile(path: main + "-lock", role: .lock),
            ].filter { FileTree.exists($0.path) }
        }
    }

    /// Flags and limits of an environment.
    ///
    /// What is left out of the tuning, and why: MDB_WRITEMAP writes through the map, so that a stray pointer of the
    /// application writes into the file, and MDB_MAPASYNC with it acknowledges before anything is on the disk: another
    /// promise. MDB_INTEGERKEY wants keys of one machine's byte order, without the table's number.
    struct LMDBSettings: Sendable {
        var durability: DurabilityClass
        var tuning: LMDBEngine.Tuning

        /// Address space only: the file grows by the pages that are written.
        static let mapBytes = 16 << 30
        static let readers: UInt32 = 512

        /// Those that an environment answers with, by name.
        static let names: [(flag: Int32, name: String)] = [
            (MDB_NOSUBDIR, "MDB_NOSUBDIR"), (MDB_NOSYNC, "MDB_NOSYNC"), (MDB_RDONLY, "MDB_RDONLY"),
            (MDB_NOMETASYNC, "MDB_NOMETASYNC"), (MDB_WRITEMAP, "MDB_WRITEMAP"), (MDB_MAPASYNC, "MDB_MAPASYNC"),
            (MDB_NOTLS, "MDB_NOTLS"), (MDB_NOLOCK, "MDB_NOLOCK"), (MDB_NORDAHEAD, "MDB_NORDAHEAD"),
            (MDB_NOMEMINIT, "MDB_NOMEMINIT"),
        ]

        var flags: UInt32 {
            let way = MDB_NOSUBDIR | MDB_NOTLS | (tuning == .tuned ? MDB_NORDAHEAD | MDB_NOMEMINIT : 0)
            switch durability {
            case .full: return UInt32(way)
            case .periodic: return UInt32(way | MDB_NOMETASYNC)
            case .none: return UInt32(way | MDB_NOSYNC)
            }
        }

        static func text(ofFlags flags: UInt32) -> String {
            names.filter { flags & UInt32($0.flag) != 0 }.map(\.name).joined(separator: ", ")
        }

        var list: [EngineSetting] {
            [
                EngineSetting("flags", Self.text(ofFlags: flags)),
                EngineSetting("mapsize", "\(Self.mapBytes)"), EngineSetting("maxreaders", "\(Self.readers)"),
                EngineSetting("pagesize", "4096"),
                EngineSetting("databases", "one, key (table, id) big-endian, value packed row"),
                EngineSetting("bulk load", "MDB_APPEND, keys in order"),
                EngineSetting("inserts", "MDB_NOOVERWRITE"),
            ]
        }
    }
#endif
