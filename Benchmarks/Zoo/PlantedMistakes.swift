import CoreDataFiles
import Harness
import Platform
import StoreMigration
import StrataFiles

/// The planted mistakes of a build with the trait Zoo: those that wrapped engines make, and those inside Strata
/// and the libraries about leaving another store.
package enum PlantedMistakes {
    /// Every name that `ASSAY_ZOO_MISTAKE` may have.
    package static var names: [String] {
        var names = EngineMistake.allCases.map(\.rawValue) + IsolationMistake.allCases.map(\.rawValue)
        names += ConditionMistake.allCases.map(\.rawValue)
        #if Zoo
            names += PlantedMistake.allCases.map(\.rawValue)
            names += MigrationMistake.allCases.map(\.rawValue) + CoreDataMistake.allCases.map(\.rawValue)
        #endif
        return names
    }

    /// The mistake in the environment of this process; nil where it names none of the engines' mistakes.
    private static var chosen: EngineMistake? {
        MistakeVariable.value.flatMap(EngineMistake.init(rawValue:))
    }

    /// The engines with the mistake in the environment; unchanged where it names none of theirs.
    package static func plant(_ engines: EngineRegistry) -> EngineRegistry {
        guard let chosen else { return engines }
        var planted = EngineRegistry()
        for engine in engines.engines { planted.register(PlantedEngine.wrap(engine, chosen)) }
        for missing in engines.notBuilt { planted.registerMissing(missing.name, remedy: missing.remedy) }
        return planted
    }
}
