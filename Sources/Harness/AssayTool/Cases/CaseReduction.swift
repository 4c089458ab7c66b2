import CaseFiles
import Commands
import Harness
import Measuring
import RunRecords

/// Reduces a case to the smallest one that still fails in the same way.
///
/// It removes operations first, then shrinks their arguments, then the case's rows and parameters. Each candidate is
/// run as a whole case, since a shorter script fails at another place. The reduced case names the last place that
/// failed.
struct CaseReduction {
    private let file: CaseFile
    private let runner: CaseFileRunner
    private let deadline: UInt64
    private var trialsLeft: Int
    /// The smallest failing case so far.
    private var test: Case
    private var fault: FaultAddress?
    private var finding: CaseFile.Finding
    private var tried = 0

    init(_ file: CaseFile, _ runner: CaseFileRunner, seconds: Double, trials: Int) throws {
        self.file = file
        self.runner = runner
        deadline = MonotonicClock.now() &+ UInt64(seconds * 1e9)
        trialsLeft = trials
        finding = file.got
        fault = file.fault
        guard let test = file.test else { throw HarnessError("a program's case cannot be made smaller") }
        do throws(CaseFileRunner.Undecided) {
            self.test = try runner.runnable(test)
        } catch {
            throw HarnessError(error.reason)
        }
    }

    private static let confirmations = 3

    /// nil if the case does not fail, or the reduced one does not fail again; either has been printed.
    mutating func run() throws -> CaseFile? {
        try Output.line(CaseText(file).subjectLine)
        let start = size(test)
        guard try keeps(test, counts: false) else {
            try Output.line("the case does not fail in this build as the file says")
            return nil
        }
        try reduceOperations()
        try reduceArguments()
        try reduceNumbers()
        Output.progress("")
        let end = size(test)
        let limit = isOver ? ", at the end of the budget" : ""
        try Output.line("\(start) before, \(end) now; \(tried) candidates\(limit)")
        var same = 0
        for _ in 0..<Self.confirmations {
            let attempt = try runner.run(test, fault: fault)
            if attempt.hasFinding(finding) != nil { same += 1 }
        }
        try Output.line("repeated \(Self.confirmations) times: the same outcome \(same) times")
        guard same > 0 else {
            try Output.line("the smallest case does not fail again: assay keeps no file")
            return nil
        }
        return smaller(from: start, same: same)
    }

    private func smaller(from start: String, same: Int) -> CaseFile {
        var smaller = file
        switch file.subject {
        case .history:
            let operations = test.parameter(CaseFile.historyParameter).flatMap { ScriptOperation.list($0) } ?? []
            smaller.subject = .history(test.leavingOut(CaseFile.historyParameter), operations, fault: fault)
        default: smaller.subject = .scenario(test, fault: fault)
        }
        smaller.got = finding
        smaller.rate = CaseFile.Rate(same: same, times: Self.confirmations)
        smaller.origin = "minimized from \(start)"
        return smaller
    }

    private func size(_ test: Case) -> String {
        if let text = test.parameter(CaseFile.historyParameter), let list = ScriptOperation.list(text) {
            return "\(list.count) operation\(list.count == 1 ? "" : "s")"
        }
        let rows = test.size > 0 ? "\(test.size) rows, " : ""
        return rows + test.parameterText
    }

    // MARK: Candidates

    private var isOver: Bool {
        trialsLeft <= 0 || MonotonicClock.now() >= deadline || Interruption.isRequested
    }

    /// Whether the candidate failed in the same way. If so, it becomes the current case.
    private mutating func keeps(_ candidate: Case, counts: Bool = true) throws -> Bool {
        if counts {
            if isOver { return false }
            trialsLeft -= 1
            tried += 1
            Output.progress("\(size(test)), candidate \(tried): \(size(candidate))")
        }
        let scenario = runner.registries.scenarios.scenario(named: candidate.scenario)
        if scenario?.objection(to: candidate) != nil { return false }
        let attempt = try runner.run(runner.brief(candidate), fault: nil)
        guard let found = attempt.findings.first(where: { $0.finding.isSame(as: file.got) }) else { return false }
        test = candidate
        fault = found.address.isWholeCase ? nil : found.address
        finding = found.finding
        return true
    }

    private mutating func reduceOperations() throws {
        guard let text = test.parameter(CaseFile.historyParameter), let list = ScriptOperation.list(text) else {
            return
        }
        _ = try Reduction.subset(of: list) { candidate throws in
            // An empty list would mean the operations that the seed draws.
            if candidate.isEmpty { return false }
            let text = ScriptOperation.text(of: candidate)
            return try keeps(test.setting(CaseFile.historyParameter, to: text))
        }
    }

    private mutating func reduceArguments() throws {
        guard let text = test.parameter(CaseFile.historyParameter), var list = ScriptOperation.list(text) else {
            return
        }
        for place in list.indices {
            for argument in list[place].arguments.indices {
                let value = try Reduction.number(list[place].arguments[argument]) { smaller throws in
                    var candidate = list
                    candidate[place].arguments[argument] = smaller
                    return try keeps(
                        test.setting(CaseFile.historyParameter, to: ScriptOperation.text(of: candidate)))
                }
                list[place].arguments[argument] = value
            }
        }
    }

    /// Shrinks the rows of the data set, then the scenario's parameters that are sizes.
    private mutating func reduceNumbers() throws {
        guard case .scenario = file.subject else { return }
        if test.size > 0 {
            let whole = test
            _ = try Reduction.number(test.size, least: 1) { size throws in
                try keeps(
                    Case(
                        scenario: whole.scenario, family: whole.family, engine: whole.engine, dataset: whole.dataset,
                        size: size, parameters: whole.parameters, seed: whole.seed, durability: whole.durability))
            }
        }
        for size in runner.registries.scenarios.scenario(named: test.scenario)?.sizes(of: test) ?? [] {
            _ = try Reduction.number(size.value, least: size.least) { smaller throws in
                try keeps(test.setting(size.name, to: String(smaller)))
            }
        }
    }
}
