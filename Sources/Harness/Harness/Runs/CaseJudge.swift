import Measuring
import RunRecords

/// Decides the verdict of a case from how its worker ended and from the worker's report.
struct CaseJudge: Sendable {
    let rule: VerdictRule

    /// Adds the end and the report of the worker to `blank`, and judges the result.
    ///
    /// - Parameters:
    ///   - share: the case's share of the budget in seconds; nil if it has none.
    ///   - directory: the directory of the case, which still holds its files.
    func conclude(
        _ end: WorkerEnd, _ blank: CaseResult, scenario: any Scenario, engine: any Engine, share: Double?,
        directory: String
    ) -> MeasuredCase {
        var result = blank
        let details = end.report?.details ?? CaseDetails()
        result.durationNanoseconds = end.durationNanoseconds
        result.findings = end.report?.findings ?? CaseFindings()
        result.causes.removeAll { scenario.accepts.contains($0.outcome) }
        addProcessOutcome(end, accepted: scenario.accepts, &result)
        result.causes = result.causes.gravestFirst
        if !result.causes.isEmpty {
            let roles = FileRoles(engine, below: directory)
            for place in result.causes.indices { result.causes[place].name(roles: roles.named) }
        }
        result.outcome = result.findings.gravest
        if let failure = harnessFailure(end, result) ?? Self.clockFailure(end, result) {
            result.verdict = .harnessError
            result.message = failure
            return MeasuredCase(result: result, details: details, replayed: end.report?.replayed)
        }
        let judgement = rule.judge(result.outcomes, test: result.test, scenario: scenario, engine: engine)
        result.verdict = judgement.verdict
        result.promises = judgement.promises
        let notes = end.report?.messages ?? []
        result.message = ([judgement.message] + notes).filter { !$0.isEmpty }.joined(separator: "; ")
        if judgement.verdict == .pass && end.report?.isInconclusive == true { result.verdict = .inconclusive }
        if judgement.verdict == .pass && result.isCut {
            result.verdict = .inconclusive
            Self.add("cut by its share of the budget", to: &result)
        }
        if result.verdict == .inconclusive { result.leavePromisesOpen() }
        let seconds = Double(end.durationNanoseconds) / 1e9
        if let share, seconds > share, !result.isCut, end.stopped == nil {
            Self.add(
                "took \(Self.tenths(seconds)) s, though its share of the budget was \(Self.tenths(share)) s",
                to: &result)
        }
        return MeasuredCase(result: result, details: details, replayed: end.report?.replayed)
    }

    /// The metrics that are durations within a case.
    private static let clocked: Set<String> = [
        "latency_ns", "operation_ns", "duration_ms", "open_us", "longest_wait_ms", "recovery_ms",
    ]

    /// Finds a sample whose duration is longer than the whole life of the worker by the runner's clock: the clock
    /// stepped back or jumped during the case. A step back gives a duration of centuries, since durations are unsigned
    /// differences.
    static func clockFailure(_ end: WorkerEnd, _ result: CaseResult) -> String? {
        let nanoseconds = ["ns": 1.0, "us": 1e3, "ms": 1e6]
        // Worker and runner do not read the clock at the same moment.
        let limit = Double(end.durationNanoseconds) * 1.01 + 1e7
        let impossible = result.samples.first { sample in
            guard clocked.contains(sample.metric.name), let unit = nanoseconds[sample.metric.unit] else { return false }
            return sample.value * unit > limit
        }
        return impossible.map {
            "the clock stepped while the case ran: \($0.metric.name) \($0.statistic) is \($0.value) "
                + "\($0.metric.unit), and the whole case took \(tenths(Double(end.durationNanoseconds) / 1e9)) s"
        }
    }

    /// Makes a case under a memory limit inconclusive if the kernel killed a process for the limit, or the limit was
    /// never reached. Neither says anything about the engine: oracle and harness are under the same limit.
    func bound(_ end: WorkerEnd, _ result: inout CaseResult) {
        guard let memory = end.memory else { return }
        let metric = Metric("memory_limit_reached", unit: "count", .neutral, .measured)
        result.samples.append(Sample(metric, Double(memory.reached), label: "whole case"))
        let megabytes = result.test.amount(.memoryLimit)
        if memory.killed > 0 {
            Self.add("MEMORY LIMIT: engine, oracle and harness do not fit \(megabytes) MiB", to: &result)
        } else if memory.reached == 0, result.verdict == .pass {
            Self.add("LIMIT NOT REACHED: the case fits \(megabytes) MiB", to: &result)
        } else {
            return
        }
        result.verdict = .inconclusive
        result.leavePromisesOpen()
    }

    /// Makes a bad verdict `harness-error` if the machine lacked what the case needed, which is not the engine's fault.
    /// To be called while the case's files still exist.
    func blameMachine(_ end: WorkerEnd, _ result: inout CaseResult, _ directory: String) {
        guard [.violation, .unpromised, .known, .harnessError].contains(result.verdict),
            let reason = end.machineFault(in: directory)
        else { return }
        result.verdict = .harnessError
        result.message = reason + (result.message.isEmpty ? "" : "; \(result.message)")
        result.leavePromisesOpen()
    }

    private static func add(_ note: String, to result: inout CaseResult) {
        result.message += (result.message.isEmpty ? "" : "; ") + note
    }

    private static func tenths(_ seconds: Double) -> Double {
        (seconds * 10).rounded() / 10
    }

    /// Adds the outcome of a worker that crashed, hung or exceeded its memory limit to those that it reported before.
    private func addProcessOutcome(_ end: WorkerEnd, accepted: Set<Outcome>, _ result: inout CaseResult) {
        var outcome = end.stopped
        if outcome == nil, case .signalled = end.end { outcome = .crashed }
        guard let outcome else { return }
        var signal: Int32?
        if case .signalled(let number) = end.end, end.stopped == nil { signal = number }
        result.crash = CrashReport(signal: signal, standardError: end.standardError)
        let detail = CrashText.reason(end.standardError)
        let trial = Trial(address: FaultAddress(text: "case"), outcome: outcome, detail: detail, signal: signal)
        result.trials.append(trial)
        if !accepted.contains(outcome) { result.causes.add(trial) }
        result.findings.count(outcome)
    }

    /// Why the case is a failure of the harness; nil if it says something about the engine.
    private func harnessFailure(_ end: WorkerEnd, _ result: CaseResult) -> String? {
        if let failure = end.report?.harnessFailure { return failure }
        if let first = end.report?.brokenTrials.first {
            return "\(end.report?.brokenTrials.count ?? 0) trials broke: \(first)"
        }
        if end.stopped != nil { return nil }
        switch end.end {
        case .signalled: return nil
        case .exited(let status):
            if let unreadable = end.unreadable { return "the worker's report cannot be read: \(unreadable)" }
            guard end.report != nil else {
                let text = end.standardError.split(separator: "\n").last.map { ": \($0)" } ?? ""
                return "the worker exited with status \(status) without a report\(text)"
            }
            if result.outcomes.isEmpty && !result.isCut && end.report?.isInconclusive != true {
                return "the scenario reported no outcome"
            }
            return status == 0 ? nil : "the worker exited with status \(status) after its report"
        }
    }
}
