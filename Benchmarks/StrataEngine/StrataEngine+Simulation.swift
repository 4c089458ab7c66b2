import Harness
import SimulatedDisk
import Strata
import StrataStorage

extension StrataEngine: SimulatableEngine {
    package var rareBranches: [String] { CoverageMarks.areCounted ? CoverageMark.allCases.map(\.rawValue) : [] }

    package func open(
        on disk: SimulatedDisk, _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session {
        try session(location, settings, files: disk)
    }

    package func openCompacting(
        on disk: SimulatedDisk, _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session {
        try session(location, settings, files: disk) { _, _ in true }
    }

    package func check(on disk: SimulatedDisk, _ location: DatabaseLocation) throws(EngineError) {
        let session = try session(location, settings(for: .full), files: disk)
        defer { session.letGo() }
        guard let realm = session.realm else { return }
        do {
            try realm.store.checkInvariants()
        } catch let error as StorageError {
            throw EngineError(error)
        } catch {
            throw EngineError(.damaged, "\(error)")
        }
    }
}
