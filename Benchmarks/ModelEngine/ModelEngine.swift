import Harness
import RunRecords

/// Arrays and dictionaries in memory: what the data structures of the language give without a storage engine.
///
/// It is what the others are compared with, and shows what a scenario costs by itself. Nothing survives the process.
/// The store of a location is shared by all sessions of the process.
package struct ModelEngine: Engine {
    package let name = "model"
    package let version = "1"
    package let capabilities: Set<Capability> = [
        .tables, .links, .heldObjects, .queries, .updates, .deletions, .snapshots, .threads,
    ]
    package let promises = [
        Promise(
            .atomicity, sentence: "A transaction holds the store's lock from its first change to its last.",
            source: "ModelEngine"),
        Promise(
            .isolation, sentence: "Transactions run one after the other, under the store's lock.",
            source: "ModelEngine"),
    ]

    package init() {}

    package func settings(for durability: DurabilityClass) -> EngineSettings {
        EngineSettings(durability: durability, list: [EngineSetting("storage", "memory of the process")])
    }

    package func open(
        _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session {
        ModelSession(ModelStores.shared.store(at: location))
    }

    package func files(at location: DatabaseLocation) -> [DatabaseFile] { [] }
}
