import FaultModel
import Seeds
import SimulatedDisk

/// Runs a history repeatedly, each time with another failing I/O operation, and checks the result.
///
/// What must hold, also for failures during recovery:
/// 1. A transaction whose commit threw may be committed or not, until it is read.
/// 2. Every transaction that was acknowledged or seen by a reader is there: for the process that saw the failure if it
///    can read at all, for the next process, and after a loss of power, whatever un-synced work the disk kept.
/// 3. Pinned versions do not change.
/// 4. The next process works once the disk does.
struct FaultSimulation<Program: SimulatedProgram> {
    let seed: Seed
    let history: ProgramHistory
    var deadline = ContinuousClock.now + .seconds(20)
    /// The disks tried after a failure and a power loss: one without un-synced work, one with all of it, and this many
    /// with parts of it.
    var parts = 3

    struct Report: CustomStringConvertible {
        var faults = 0
        var struck = 0
        var disks = 0
        var problems: [String] = []
        var isCut = false

        var description: String {
            "faults \(faults), struck \(struck), disks opened \(disks)\(isCut ? "; cut by the deadline" : "")"
        }

        static func += (one: inout Report, other: Report) {
            one.faults += other.faults
            one.struck += other.struck
            one.disks += other.disks
            one.problems += other.problems
            one.isCut = one.isCut || other.isCut
        }
    }

    init(_ seed: Seed, transactions: Int, largest: Int = 0) {
        self.seed = seed
        history = ProgramHistory(seed.derived(part: "history"), count: transactions, largest: largest)
    }

    /// Fails every `step`-th recorded operation and read from number `first` on, with every effect, once and
    /// permanently, during the history and during the recovery after its process died. Stops at the first three
    /// problems.
    func run(first: Int = 0, step: Int = 1) throws -> Report {
        let clean = makeDisk(nil)
        _ = try play(clean)
        var report = try visit(first, step, clean) { fault, report in
            let disk = makeDisk(fault)
            let outcome = try play(disk)
            if disk.struckFaults.isEmpty { return }
            report.struck += 1
            judge(disk, outcome, "\(fault)", &report)
        }
        if report.problems.isEmpty { report += try runRecovery(first, step) }
        return report
    }

    /// Failures while an unclosed database is opened.
    private func runRecovery(_ first: Int, _ step: Int) throws -> Report {
        let dead = makeDisk(nil)
        let outcome = try play(dead, closes: false)
        let everything = StateMask(allBelow: 1 << 20)
        let clean = dead.crash(everything)
        try Program.open(clean).close()
        let allowed = outcome.acknowledged...outcome.attempted
        return try visit(first, step, clean) { fault, report in
            let disk = dead.crash(everything)
            disk.inject(fault)
            do {
                let program = try Program.open(disk)
                let found = try program.digest()
                if !allowed.contains(where: { history.states[$0].digest == found }) {
                    report.problems.append("\(fault) in recovery: reads another state than \(allowed)")
                }
                try program.close()
            } catch {
                if disk.struckFaults.isEmpty { throw error }
            }
            if disk.struckFaults.isEmpty { return }
            report.struck += 1
            judge(disk, outcome, "\(fault) in recovery", &report)
        }
    }

    private func makeDisk(_ fault: Fault?) -> SimulatedDisk {
        SimulatedDisk(SimulatedDisk.Settings(seed: seed.derived(part: "disk"), faults: fault.map { [$0] } ?? []))
    }

    private func visit(
        _ first: Int, _ step: Int, _ clean: SimulatedDisk, _ body: (Fault, inout Report) throws -> Void
    ) throws -> Report {
        var report = Report()
        var places: [Fault.Place] = stride(from: first, to: clean.operations, by: step).map { .operation($0) }
        places += stride(from: first, to: clean.reads, by: step).map { .read($0) }
        for place in places {
            for effect in [Fault.Effect.inputOutputError, .noSpace, .shortWrite(bytes: 700)] {
                for isLasting in [false, true] {
                    if ContinuousClock.now > deadline {
                        report.isCut = true
                        return report
                    }
                    report.faults += 1
                    try body(Fault(effect, at: place, isLasting: isLasting), &report)
                    if report.problems.count >= 3 { return report }
                }
            }
        }
        return report
    }

    // MARK: The failing process

    /// What the program knew when it stopped.
    private struct Outcome {
        /// Transactions that were acknowledged, or seen by a reader.
        var acknowledged = 0
        var attempted = 0
        /// Since the failure: the number of transactions that must be kept, by the number of requested operations.
        var kept: [(operation: Int, version: Int)] = []
        /// The wrong contents that the failing process itself read.
        var wrong: [String] = []
    }

    /// Plays the history; after a failure it reads the state and continues from it, up to three times.
    private func play(_ disk: SimulatedDisk, closes: Bool = true) throws -> Outcome {
        var outcome = Outcome()
        disk.setOperation("open")
        let program: Program
        do { program = try Program.open(disk) } catch {
            if disk.struckFaults.isEmpty { throw error }
            return outcome
        }
        var pins: [(version: Int, read: () throws -> UInt64)] = []
        var failures = 0
        var number = 0
        while number < history.transactions.count, failures < 3 {
            disk.setOperation("commit-\(number)")
            outcome.attempted = max(outcome.attempted, number + 1)
            do {
                try program.commit { history.transactions[number] }
                number += 1
                if Program.keepsAcknowledged { outcome.acknowledged = number }
            } catch {
                if disk.struckFaults.isEmpty { throw error }
                failures += 1
            }
            // A failed store may refuse reads, but the state that it shows must be kept.
            guard let pinned = try? program.pin(), let digest = try? pinned() else { continue }
            if history.states[number].digest != digest {
                guard failures > 0, number < outcome.attempted, history.states[number + 1].digest == digest else {
                    outcome.wrong.append("the process itself reads another state than \(number)")
                    return outcome
                }
                number += 1
            }
            if Program.keepsAcknowledged { outcome.acknowledged = max(outcome.acknowledged, number) }
            if !disk.struckFaults.isEmpty { outcome.kept.append((disk.operations, outcome.acknowledged)) }
            if pins.count < 3 { pins.append((number, pinned)) }
        }
        for pin in pins where (try? pin.read()) != history.states[pin.version].digest {
            outcome.wrong.append("the pinned version \(pin.version) changed")
        }
        pins = []
        if !closes { return outcome }
        disk.setOperation("close")
        do {
            try program.close()
            if failures == 0 { outcome.acknowledged = number }
        } catch {
            if disk.struckFaults.isEmpty { throw error }
        }
        return outcome
    }

    // MARK: The remaining disk

    private func judge(_ disk: SimulatedDisk, _ outcome: Outcome, _ name: String, _ report: inout Report) {
        let place = disk.trace.first(where: \.failed)?.identity.description ?? ""
        for wrong in outcome.wrong { report.problems.append("\(name) (\(place)): \(wrong)") }
        let allowed = outcome.acknowledged...max(outcome.acknowledged, outcome.attempted)
        examine(disk.kill(healthy: true), allowed, "\(name) (\(place)), process death", &report)
        // A swallowed failure shows only until the next checkpoint, so power is also lost at each later step.
        for (operation, version) in outcome.kept where report.problems.count < 3 {
            let step = CrashAddress.Step(operation: operation, state: StateMask())
            guard let left = disk.crash(at: step) else { continue }
            let allowed = version...max(version, outcome.attempted)
            examine(left, allowed, "\(name) (\(place)), \(CrashAddress([step]))", &report)
        }
        var random = RandomStream(seed.derived(part: name))
        var masks = [StateMask(), StateMask(allBelow: 1 << 20)]
        for _ in 0..<parts { masks.append(StateMask(bits: (0..<8192).filter { _ in random.chance(1, in: 2) })) }
        for (number, mask) in masks.enumerated() where report.problems.count < 3 {
            examine(disk.crash(mask), allowed, "\(name) (\(place)), power loss \(number)", &report)
        }
    }

    private func examine(
        _ left: SimulatedDisk, _ allowed: ClosedRange<Int>, _ name: String, _ report: inout Report
    ) {
        report.disks += 1
        do {
            if let wrong = try examine(left, allowed) { report.problems.append("\(name): \(wrong)") }
        } catch {
            report.problems.append("\(name): \(error)")
        }
    }

    /// Opens the remaining disk; nil if all is well.
    private func examine(_ left: SimulatedDisk, _ allowed: ClosedRange<Int>) throws -> String? {
        let program = try Program.open(left)
        let found = try program.digest()
        try program.check()
        guard let version = allowed.last(where: { history.states[$0].digest == found }) else {
            let other = history.states.indices.filter { history.states[$0].digest == found }
            return "found state \(other), allowed \(allowed)"
        }
        // A loss of power must not undo a version that a process read.
        do {
            let again = try Program.open(left.crash(StateMask()))
            if try again.digest() != found { return "a loss of power takes back what was read after recovery" }
        } catch {
            return "a loss of power after recovery: \(error)"
        }
        let more = ProgramHistory(seed.derived(part: "go on"), after: history.states[version], count: 2)
        for changes in more.transactions { try program.commit { changes } }
        if try program.digest() != more.states[2].digest { return "commits after recovery are not read" }
        return nil
    }
}
