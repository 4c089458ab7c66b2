import Harness

/// An engine that runs on the simulated disk: it makes every file operation through the given file system, and draws
/// every random choice from it. The runner finds it by `as?`.
package protocol SimulatableEngine: Engine {
    /// Opens the database on the disk, or creates it; paths of `location` are paths of the disk. Only the disk may
    /// outlive the session: after ``SimulatedDisk/crash(_:)`` or ``SimulatedDisk/kill()`` the engine opens the disk
    /// that these return, and sessions on the former one are released without a close.
    func open(
        on disk: SimulatedDisk, _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session

    /// Opens a closed database on the disk and first rewrites its file, as a compaction at launch does.
    func openCompacting(
        on disk: SimulatedDisk, _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session

    /// Runs the engine's own check: every node reachable once, checksums, links. Throws `damaged`.
    func check(on disk: SimulatedDisk, _ location: DatabaseLocation) throws(EngineError)
}
