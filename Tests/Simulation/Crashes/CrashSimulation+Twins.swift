import FaultModel
import SimulatedDisk

// A program writes pages twice in case one copy is lost. A crash never loses a synced sector, so crashes alone never
// show that the second copy is missing.

extension CrashSimulation {
    /// Zeroes one of the twin pages on a copy of the disk, then the other on another copy, and opens each copy.
    /// - Parameter isQuiet: whether no write of a twin was in progress, so that both are equal. Then the content must
    ///   be readable; otherwise an error that reports the damage is right, too.
    /// - Returns: the problem, if any.
    func wrongWithoutTwin(_ disk: SimulatedDisk, _ allowed: [ProgramState], isQuiet: Bool) -> String? {
        for twin in Program.twins {
            let left = disk.kill()
            // The file does not exist yet.
            do { try left.zeroPage(twin.page, in: twin.path) } catch { continue }
            do {
                let found = try Program.open(left).digest()
                if allowed.contains(where: { $0.digest == found }) { continue }
                return "without page \(twin.page) of \(twin.path) another state is there, and nothing is said"
            } catch {
                if isQuiet || !Program.isDetection(error) {
                    return "without page \(twin.page) of \(twin.path): \(error)"
                }
            }
        }
        return nil
    }

    /// As ``wrongWithoutTwin(_:_:isQuiet:)``, after the death of a process at any point.
    func withoutTwins(_ disk: SimulatedDisk, _ allowed: [ProgramState], _ address: CrashAddress)
        -> CrashSimulationReport
    {
        var report = CrashSimulationReport(depths: depths.count + 1)
        report.opened = Program.twins.count
        if let wrong = wrongWithoutTwin(disk, allowed, isQuiet: false) {
            report.problems.append(CrashProblem(address, wrong))
        }
        return report
    }

    /// A closed database needs neither its log nor both of its slots.
    func afterClose(_ disk: SimulatedDisk, _ timeline: Timeline) -> CrashSimulationReport {
        var report = CrashSimulationReport(depths: depths.count + 1)
        let step = CrashAddress.Step(operation: disk.operations, state: StateMask())
        guard let left = disk.crash(at: step) else { return report }
        report.opened = Program.twins.count
        var wrong: String?
        do { wrong = try Program.leftovers(left) } catch { wrong = "\(error)" }
        wrong = wrong ?? wrongWithoutTwin(left, timeline.allowed(disk.operations), isQuiet: true)
        if let wrong { report.problems.append(CrashProblem(CrashAddress([step]), "after the close: " + wrong)) }
        return report
    }
}
