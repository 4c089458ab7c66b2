import Harness
import Platform
import RunRecords
import Synchronization

/// Arrays and dictionaries in memory: what the language's data structures give without a storage engine.
///
/// Its figures show what a scenario itself costs, without an engine. Nothing survives the process. All sessions of the
/// process share the store of a location.
package struct ModelEngine: Engine {
    package let name = "model"
    package let version = "1"
    package let capabilities: Set<Capability> = [
        .tables, .links, .heldObjects, .queries, .updates, .deletions, .snapshots, .threads, .transactions, .keyedRows,
    ]
    package let promises = [
        Promise(
            .atomicity, sentence: "A transaction holds the store's lock from its first change to its last.",
            source: "ModelEngine"),
        Promise(
            isolation: .strictSerializable, sentence: "Transactions run one after the other, under the store's lock.",
            source: "ModelEngine"),
    ]

    #if Zoo
        /// The planted mistake: from the environment, or given by a test. The test interleaves sessions itself, so they
        /// do not pause.
        package var mistake: IsolationMistake?
        package var pauses = false

        package init(mistake: IsolationMistake) {
            self.mistake = mistake
        }
    #endif

    package init() {
        #if Zoo
            mistake = MistakeVariable.value.flatMap(IsolationMistake.init(rawValue:))
            pauses = true
        #endif
    }

    package func settings(for durability: DurabilityClass) -> EngineSettings {
        EngineSettings(durability: durability, list: [EngineSetting("storage", "memory of the process")])
    }

    package func open(
        _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session {
        let session = ModelSession(ModelStores.shared.store(at: location))
        #if Zoo
            (session.planted, session.pauses) = (mistake, pauses)
            session.number = Self.sessions.add(1, ordering: .relaxed).newValue
        #endif
        return session
    }

    #if Zoo
        private static let sessions = Atomic<Int>(0)
    #endif

    package func files(at location: DatabaseLocation) -> [DatabaseFile] { [] }
}
