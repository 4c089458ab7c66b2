#if LMDB
    import CLMDB
    import Files
    import Harness
    import PackedRows
    import RunRecords

    /// LMDB through its C interface: one environment per process and database, one unnamed database with all tables.
    package struct LMDBEngine: Engine {
        package enum Tuning: Sendable {
            case asItComes
            /// Without read-ahead, without clearing memory that will be overwritten, and with a database of integer
            /// keys for each table.
            case tuned
        }

        package let tuning: Tuning

        package init() {
            self.init(tuning: .asItComes)
        }

        package init(tuning: Tuning) {
            self.tuning = tuning
        }

        package var name: String {
            switch tuning {
            case .asItComes: "lmdb"
            case .tuned: "lmdb-tuned"
            }
        }
        package var version: String {
            var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
            mdb_version(&major, &minor, &patch)
            return "\(major).\(minor).\(patch)"
        }

        package let capabilities: Set<Capability> = [
            .tables, .persistent, .queries, .updates, .deletions, .snapshots, .compaction, .threads, .processes,
            .transactions, .checks, .lists, .keyedRows,
        ]

        package let library = "lmdb"
        package var libraryFunction: String? { "mdb_env_open" }

        /// What lmdb.h promises, in its words.
        ///
        /// With MDB_NOSYNC, the class `none`, "a system crash can corrupt the database" unless the file system keeps
        /// the order of writes.
        ///
        /// Not `detects-damage` and not `survives-damage`: there are no checksums, and pointers in the map are
        /// followed. Its "resistance to corruption" means that pages in use are never overwritten. Not `bounded-wait`:
        /// writers wait for one lock, in no documented order; a broken lock file "can cause sync issues". Not
        /// `bounded-size`: long-lived and stale readers make the file grow, as its caveats say.
        package let promises = [
            Promise(
                .durability,
                sentence: "It is also fully transactional with full ACID semantics. (Only with MDB_NOMETASYNC or "
                    + "MDB_NOSYNC \"a system crash may undo\" what was committed last.)",
                source: "lmdb.h, main page and mdb_env_open"),
            Promise(
                .atomicity,
                sentence: "It is also fully transactional with full ACID semantics. A copy-on-write strategy "
                    + "eliminates the need of any special recovery procedures after a system crash.",
                source: "lmdb.h, main page"
            ).atPowerLoss(in: [.full, .periodic]),
            Promise(
                isolation: .serializable,
                sentence: "Writes are fully serialized; only one write transaction may be active at a time. The "
                    + "database structure is multi-versioned so readers run with no locks.",
                source: "lmdb.h, main page"),
        ]

        package func inspectionCommands(at location: DatabaseLocation) -> [String] {
            let file = ShellWord.quoted(location.mainFile)
            return ["mdb_stat -n -e -f \(file)", "mdb_dump -n \(file)"]
        }

        package func settings(for durability: DurabilityClass) -> EngineSettings {
            EngineSettings(durability: durability, list: LMDBSettings(durability: durability, tuning: tuning).list)
        }

        package func open(
            _ location: DatabaseLocation, settings: EngineSettings
        ) throws(EngineError) -> any Session {
            try LMDBSession(
                path: location.mainFile, settings: LMDBSettings(durability: settings.durability, tuning: tuning))
        }

        package func learn(_ tables: TableSet) {
            PackedCatalogue.learn(tables)
            LMDBEnvironment.open.prepare()
        }

        package var logPatterns: [String] { ["data"] }
        package var coordinationPatterns: [String] { ["*-lock"] }

        package func files(at location: DatabaseLocation) -> [DatabaseFile] {
            let main = location.mainFile
            return [
                DatabaseFile(path: main, role: .data), DatabaseFile(path: main + "-lock", role: .lock),
            ].filter { FileTree.exists($0.path) }
        }
    }

    extension LMDBEngine: ListEngine {
        package var hasOwnLists: Bool { false }

        package func openLists(
            _ location: DatabaseLocation, settings: EngineSettings, keeping: ListKeeping
        ) throws(EngineError) -> any ListSession {
            try LMDBLists(
                path: location.mainFile, settings: LMDBSettings(durability: settings.durability, tuning: tuning),
                keeping)
        }
    }

    /// Flags and limits of an environment.
    ///
    /// Left out of the tuning: MDB_WRITEMAP writes through the map, so that a stray pointer of the application can
    /// change the file, and MDB_MAPASYNC with it acknowledges before anything is durable, which is another promise. It
    /// also makes the file as long as the map, which scenarios that copy or damage files would read.
    struct LMDBSettings: Sendable {
        var durability: DurabilityClass
        var tuning: LMDBEngine.Tuning

        /// Address space only: the file grows by the pages that are written.
        static let mapBytes = 16 << 30
        static let readers: UInt32 = 512

        /// Flags that an environment reports, by name.
        static let names: [(flag: Int32, name: String)] = [
            (MDB_NOSUBDIR, "MDB_NOSUBDIR"), (MDB_NOSYNC, "MDB_NOSYNC"), (MDB_RDONLY, "MDB_RDONLY"),
            (MDB_NOMETASYNC, "MDB_NOMETASYNC"), (MDB_WRITEMAP, "MDB_WRITEMAP"), (MDB_MAPASYNC, "MDB_MAPASYNC"),
            (MDB_NOTLS, "MDB_NOTLS"), (MDB_NOLOCK, "MDB_NOLOCK"), (MDB_NORDAHEAD, "MDB_NORDAHEAD"),
            (MDB_NOMEMINIT, "MDB_NOMEMINIT"),
        ]

        var flags: UInt32 {
            var way = MDB_NOSUBDIR | MDB_NOTLS
            switch tuning {
            case .asItComes: break
            case .tuned: way |= MDB_NORDAHEAD | MDB_NOMEMINIT
            }
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
            observable + [
                EngineSetting("databases", layout), EngineSetting("bulk load", "MDB_APPEND, keys in order"),
                EngineSetting("inserts", "MDB_NOOVERWRITE"),
            ]
        }

        private var layout: String {
            hasIntegerKeys
                ? "one per table, MDB_INTEGERKEY, key the id in the machine's order, value packed row; lists of links "
                    + "in the unnamed one"
                : "one, key (table, id) big-endian, value packed row"
        }

        /// Whether each table has a database of its own, whose keys the library compares as numbers.
        var hasIntegerKeys: Bool { tuning == .tuned }

        private var observable: [EngineSetting] {
            [
                EngineSetting("flags", Self.text(ofFlags: flags)),
                EngineSetting("mapsize", "\(Self.mapBytes)"), EngineSetting("maxreaders", "\(Self.readers)"),
                EngineSetting("pagesize", "4096"),
            ]
        }
    }
#endif
