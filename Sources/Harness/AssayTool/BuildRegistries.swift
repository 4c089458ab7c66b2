import Datasets
import DuckDBEngine
import Files
import Harness
import LibraryEngine
import MigrationScenarios
import ModelEngine
import ObjectScenarios
import RunRecords
import Scenarios
import StrataEngine

#if LMDB
    import LMDBEngine
#endif
#if RocksDB
    import RocksDBEngine
#endif
#if SQLite
    import SQLiteEngine
#endif
#if Zoo
    import Zoo
#endif

/// The scenarios, engines and data sets of this build.
enum BuildRegistries {
    /// - Parameter hasEveryPeer: also lists engines whose library is missing, for commands that only describe them.
    static func make(hasEveryPeer: Bool = false) -> Registries {
        var registries = Registries()
        DatasetRegistration.register(into: &registries.datasets)
        registries.fileDataset = { fileDataset($0) }
        registries.engineOfFile = { LibraryEngine(try EngineLibrary.load($0).description) }
        ScenarioRegistration.register(into: &registries.scenarios)
        ObjectScenarioRegistration.register(into: &registries.scenarios)
        MigrationScenarioRegistration.register(into: &registries.scenarios)
        PlantedScenarios.register(into: &registries.scenarios)
        registerEngines(into: &registries.engines, hasEveryPeer)
        #if Zoo
            registries.engines = PlantedMistakes.plant(registries.engines)
        #endif
        return registries
    }

    /// The kind of a user's file, by its first bytes, else by its name.
    private static func fileDataset(_ path: String) -> any DatasetSource {
        #if SQLite
            if let head = FileTree.head(of: path, bytes: 16), SQLiteDataset.isDatabase(head) {
                return SQLiteDataset(path: path)
            }
        #endif
        return DatasetRegistration.source(file: path)
    }

    private static func registerEngines(into engines: inout EngineRegistry, _ hasEveryPeer: Bool) {
        engines.register(StrataEngine())
        engines.register(StorageEngine())
        #if SQLite
            engines.register(SQLiteEngine())
            engines.register(SQLiteEngine(tuning: .tuned))
        #else
            engines.registerMissing("sqlite", remedy: "apt-get install libsqlite3-dev")
            engines.registerMissing("sqlite-tuned", remedy: "apt-get install libsqlite3-dev")
        #endif
        #if LMDB
            engines.register(LMDBEngine())
            engines.register(LMDBEngine(tuning: .tuned))
        #else
            engines.registerMissing("lmdb-tuned", remedy: "apt-get install liblmdb-dev")
            engines.registerMissing("lmdb", remedy: "apt-get install liblmdb-dev")
        #endif
        #if RocksDB
            engines.register(RocksDBEngine())
            engines.register(RocksDBEngine(tuning: .tuned))
        #else
            engines.registerMissing("rocksdb-tuned", remedy: "apt-get install librocksdb-dev")
            engines.registerMissing("rocksdb", remedy: "apt-get install librocksdb-dev")
        #endif
        if let path = PeerLibraryOption.duckDBPath ?? (hasEveryPeer ? "" : nil) {
            engines.register(DuckDBEngine(path: path, describe: PeerLibraryOption.duckDBVersion))
        } else {
            engines.registerMissing(DuckDBSearch.name, remedy: DuckDBSearch.remedy)
        }
        engines.register(ModelEngine())
    }
}
