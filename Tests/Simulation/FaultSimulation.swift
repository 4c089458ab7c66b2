import FaultModel
import SimulatedDisk

/// Runs a history again and again, each time with another I/O operation made to fail, and looks at what is left.
///
/// What must hold: a transaction whose commit threw is both done and not done until it is read; every acknowledged one
/// is there, to the process that saw the failure if it can read at all, to the next process, and after a loss of power
/// that kept nothing or everything; the next process works on a disk that works.
struct FaultSimulation<Program: SimulatedProgram> {
    let seed: Seed
    let history: ProgramHistory
    var deadline = ContinuousClock.now + .seconds(20)

    struct Report: CustomStringConvertible {
        var faults = 0
        var struck = 0
        var problems: [String] = []
        var isCut = false

        var description: String { "faults \(faults), struck \(struck)\(isCut ? "; cut by the deadline" : "")" }
    }

    init(_ seed: Seed, transactions: Int) {
        self.seed = seed
        history = ProgramHistory(seed.derived("history"), count: transactions)
    }

    /// Every `step`-th operation, beginning with number `first`, with every effect, once and for good. Stops at the
    /// first three problems.
    func run(first: Int = 0, step: Int = 1) throws -> Report {
        var report = Report()
        let clean = SimulatedDisk(seed: seed.derived("disk"))
        _ = try play(clean)
        for number in stride(from: first, to: clean.operations, by: step) {
            for effect in [Fault.Effect.inputOutputError, .noSpace, .shortWrite(bytes: 700)] {
                for isLasting in [false, true] {
                    if ContinuousClock.now > deadline {
                        report.isCut = true
                        return report
                    }
                    let fault = Fault(effect, at: .operation(number), isLasting: isLasting)
                    report.faults += 1
                    try visit(fault, &report)
                    if report.problems.count >= 3 { return report }
                }
            }
        }
        return report
    }

    /// What was acknowledged and what was begun when the program stopped.
    private struct Outcome {
        var acknowledged = 0
        var attempted = 0
        /// What the program itself read after a failure; nil when it threw, as it may.
        var seen: ProgramState?
    }

    private func visit(_ fault: Fault, _ report: inout Report) throws {
        let disk = SimulatedDisk(SimulatedDisk.Settings(seed: seed.derived("disk"), faults: [fault]))
        let outcome = try play(disk)
        let place = disk.trace.first(where: \.failed)?.identity.description ?? ""
        if disk.struckFaults.isEmpty { return }
        report.struck += 1
        let allowed = (Program.keepsAcknowledged ? outcome.acknowledged : 0)...outcome.attempted
        if let seen = outcome.seen, !allowed.contains(where: { history.states[$0] == seen }) {
            report.problems.append("\(fault) (\(place)): the process itself reads another state than \(allowed)")
        }
        let everything = StateMask(allBelow: 1 << 20)
        for (name, left) in [
            ("process death", disk.kill(healthy: true)), ("power loss, nothing kept", disk.crash(StateMask())),
            ("power loss, all kept", disk.crash(everything)),
        ] {
            do {
                if let wrong = try examine(left, allowed) {
                    report.problems.append("\(fault) (\(place)), \(name): \(wrong)")
                }
            } catch {
                report.problems.append("\(fault) (\(place)), \(name): \(error)")
            }
        }
    }

    /// Opens what is left; nil when all is well.
    private func examine(_ left: SimulatedDisk, _ allowed: ClosedRange<Int>) throws -> String? {
        let program = try Program.open(left)
        let found = try program.read()
        try program.check()
        guard allowed.contains(where: { history.states[$0] == found }) else {
            let other = history.states.indices.filter { history.states[$0] == found }
            return "found state \(other), allowed \(allowed)"
        }
        // What one process saw, a loss of power must not take back.
        do {
            let again = try Program.open(left.crash(StateMask()))
            if try again.read() != found { return "a loss of power takes back what was read after recovery" }
        } catch {
            return "a loss of power after recovery: \(error)"
        }
        try program.commit([ProgramChange(key: -1, row: ProgramRow(number: 1, text: []))])
        return nil
    }

    /// Plays the history until the first commit that throws.
    private func play(_ disk: SimulatedDisk) throws -> Outcome {
        var outcome = Outcome()
        disk.setOperation("open")
        let program: Program
        do { program = try Program.open(disk) } catch {
            if disk.struckFaults.isEmpty { throw error }
            return outcome
        }
        var hasFailed = false
        for (number, changes) in history.transactions.enumerated() {
            disk.setOperation("commit-\(number)")
            outcome.attempted = number + 1
            do {
                try program.commit(changes)
                outcome.acknowledged = number + 1
            } catch {
                if disk.struckFaults.isEmpty { throw error }
                hasFailed = true
                break
            }
        }
        if hasFailed { outcome.seen = try? program.read() }
        disk.setOperation("close")
        do { try program.close() } catch { if disk.struckFaults.isEmpty { throw error } }
        return outcome
    }
}
