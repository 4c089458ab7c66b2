import Harness

/// An engine that runs on the simulated disk: every file operation goes through the file system it is given, and every
/// random choice is drawn from there. The runner finds it by `as?`.
package protocol SimulatableEngine: Engine {
    /// Opens the database on the disk, creates it if there is none; paths of `location` are paths of the disk.
    /// Nothing but the disk may outlive the session: after ``SimulatedDisk/crash(_:)`` or ``SimulatedDisk/kill()`` the
    /// engine opens the disk that these return, while sessions on the former one are dropped without being closed.
    func open(
        on disk: SimulatedDisk, _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session

    /// Opens a closed database on the disk and rewrites its file first, as a compaction at launch does.
    func openCompacting(
        on disk: SimulatedDisk, _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session

    /// Checks what the engine's own checker checks: every node reachable once, sums, links. Throws `damaged`.
    func check(on disk: SimulatedDisk, _ location: DatabaseLocation) throws(EngineError)
}
