import Datasets
import Harness
import ModelEngine
import ObjectScenarios
import Results
import Scenarios
import StrataEngine

#if SQLite
    import SQLiteEngine
#endif

/// What this build has.
enum BuildRegistries {
    static func make() -> Registries {
        var registries = Registries()
        DatasetRegistration.register(into: &registries.datasets)
        registries.fileDataset = { DatasetRegistration.source(file: $0) }
        ScenarioRegistration.register(into: &registries.scenarios)
        ObjectScenarioRegistration.register(into: &registries.scenarios)
        PlantedScenarios.register(into: &registries.scenarios)
        registries.engines.register(StrataEngine())
        #if SQLite
            registries.engines.register(SQLiteEngine())
        #else
            registries.engines.registerMissing("sqlite", remedy: "apt-get install libsqlite3-dev")
        #endif
        registries.engines.register(ModelEngine())
        return registries
    }
}
