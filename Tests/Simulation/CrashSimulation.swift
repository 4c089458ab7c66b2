import FaultModel
import SimulatedDisk

/// Runs a history on a simulated disk, cuts power at every operation, and opens every disk that may be left.
///
/// What must hold after a crash, and after a crash during the recovery from one: the content is exactly the state after
/// v transactions, with acknowledged <= v <= attempted; the engine's own checks pass; the engine goes on working.
struct CrashSimulation<Program: SimulatedProgram> {
    let seed: Seed
    let history: ProgramHistory
    var rules = CrashRules()
    /// Every n-th state is also crashed during its recovery, with `deepRules`.
    var deepEvery = 16
    var deepRules = CrashRules()
    /// Nothing new is begun after this; what was visited is in the report.
    var deadline = ContinuousClock.now + .seconds(20)

    struct Problem: CustomStringConvertible {
        var address: CrashAddress
        var text: String

        var description: String { "\(address): \(text)" }
    }

    struct Report: CustomStringConvertible {
        var sweep = CrashReport()
        var deep = CrashReport()
        var problems: [Problem] = []
        var isCut = false

        var description: String { "\(sweep); deep: \(deep)\(isCut ? "; cut by the deadline" : "")" }
    }

    /// What was known when power went.
    private struct Bounds {
        var acknowledged: Int
        var attempted: Int
    }

    /// Operations of the disk when each transaction began and when it was acknowledged.
    private struct Marks {
        var begun: [Int] = []
        var acknowledged: [Int] = []

        func bounds(_ operation: Int) -> Bounds {
            let kept = Program.keepsAcknowledged ? acknowledged.count { $0 <= operation } : 0
            return Bounds(acknowledged: kept, attempted: begun.count { $0 < operation })
        }
    }

    init(_ seed: Seed, transactions: Int) {
        self.seed = seed
        history = ProgramHistory(seed.derived("history"), count: transactions)
        deepRules.exhaustiveUnits = 3
        deepRules.sampleCount = 4
        deepRules.pairLimit = 0
        deepRules.cutLimit = 0
    }

    /// Stops at the first three problems.
    func run() throws -> Report {
        let (disk, marks) = try record()
        var report = Report()
        var sweep = disk.sweep(rules)
        report.sweep = sweep.visit(context: { UInt64(marks.bounds($0).acknowledged) }) { state in
            visit(state, disk, marks.bounds(state.step.operation), &report)
        }
        return report
    }

    /// Opens the one state that an address names.
    func repeatOne(_ address: CrashAddress) throws -> Report {
        let (disk, marks) = try record()
        var report = Report()
        guard let first = address.steps.first, var left = disk.crash(at: first) else {
            report.problems = [Problem(address: address, text: "the history has no such state")]
            return report
        }
        for step in address.steps.dropFirst() {
            _ = try? Program.open(left)
            guard let next = left.crash(at: step) else {
                report.problems = [Problem(address: address, text: "the recovery has no such state")]
                return report
            }
            left = next
        }
        if case .failure(let problem) = judge(left, marks.bounds(first.operation)) {
            report.problems = [Problem(address: address, text: problem.text)]
        }
        return report
    }

    private func record() throws -> (SimulatedDisk, Marks) {
        let disk = SimulatedDisk(seed: seed.derived("disk"))
        var marks = Marks()
        disk.setOperation("open")
        let program = try Program.open(disk)
        for (number, changes) in history.transactions.enumerated() {
            disk.setOperation("commit-\(number)")
            marks.begun.append(disk.operations)
            try program.commit(changes)
            marks.acknowledged.append(disk.operations)
        }
        disk.setOperation("close")
        try program.close()
        return (disk, marks)
    }

    private func visit(
        _ state: CrashState, _ disk: SimulatedDisk, _ bounds: Bounds, _ report: inout Report
    ) -> Bool {
        if ContinuousClock.now > deadline {
            report.isCut = true
            return false
        }
        let left = disk.crash(state)
        switch judge(left, bounds) {
        case .failure(let problem):
            report.problems.append(Problem(address: state.address, text: problem.text))
        case .success(let recovered):
            if state.digest % UInt64(deepEvery) == 0 { visitDeep(state, left, recovered, bounds, &report) }
        }
        return report.problems.count < 3
    }

    /// Cuts power during the recovery, and after it.
    private func visitDeep(
        _ state: CrashState, _ left: SimulatedDisk, _ recovered: Recovered, _ bounds: Bounds, _ report: inout Report
    ) {
        var sweep = left.sweep(deepRules)
        report.deep += sweep.visit(points: 1..<(recovered.operations + 1)) { inner in
            if ContinuousClock.now > deadline { return false }
            // What was read once must not vanish any more.
            let seen = inner.step.operation == recovered.operations
            let allowed =
                seen ? Bounds(acknowledged: recovered.version, attempted: recovered.version) : bounds
            if case .failure(let problem) = judge(left.crash(inner), allowed) {
                let address = state.address.appending(inner.step)
                report.problems.append(Problem(address: address, text: problem.text))
            }
            return report.problems.count < 3
        }
    }

    private struct Wrong: Error {
        var text: String
    }

    private struct Recovered {
        /// Transactions in the content that was read.
        var version: Int
        /// Operations of the disk when the database was open.
        var operations: Int
    }

    private func judge(_ disk: SimulatedDisk, _ bounds: Bounds) -> Result<Recovered, Wrong> {
        do {
            disk.setOperation("recover")
            let program = try Program.open(disk)
            let operations = disk.operations
            let found = try program.read()
            try program.check()
            let allowed = bounds.acknowledged...max(bounds.acknowledged, bounds.attempted)
            guard let version = allowed.last(where: { history.states[$0] == found }) else {
                let other = history.states.indices.filter { history.states[$0] == found }
                let what = other.isEmpty ? "no state of the history" : "the state after \(other)"
                return .failure(Wrong(text: "found \(what), allowed \(allowed)"))
            }
            disk.setOperation("go on")
            let change = ProgramChange(key: -1, row: ProgramRow(number: 7, text: [1, 2, 3]))
            try program.commit([change])
            var expected = found
            expected[-1] = change.row
            if try program.read() != expected { return .failure(Wrong(text: "a commit after recovery is not read")) }
            return .success(Recovered(version: version, operations: operations))
        } catch {
            return .failure(Wrong(text: "\(error)"))
        }
    }
}
