import Harness
import SimulatedDisk
import StrataStorage

extension StorageEngine: SimulatableEngine {
    package func open(
        on disk: SimulatedDisk, _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session {
        try StorageSession(path: location.mainFile, options: Self.options(settings, disk), isShared: false)
    }

    package func openCompacting(
        on disk: SimulatedDisk, _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session {
        var options = Self.options(settings, disk)
        options.compactOnLaunch = { _, _ in true }
        return try StorageSession(path: location.mainFile, options: options, isShared: false)
    }

    package func check(on disk: SimulatedDisk, _ location: DatabaseLocation) throws(EngineError) {
        do {
            let store = try Store.open(
                path: location.mainFile, options: Self.options(settings(for: .full), disk))
            try store.checkInvariants()
            try store.close()
        } catch {
            throw EngineError(error)
        }
    }
}
