import Measuring
import RunRecords

extension CaseContext {
    /// Runs a step of the scenario in a fresh, small process that has opened no engine and holds no data: it measures
    /// what a program finds just after its start.
    ///
    /// The dynamic linker binds all symbols at start (not lazily), so that no lookup of a function falls into the time
    /// that a step measures.
    ///
    /// - Parameters:
    ///   - arguments: arguments of `Scenario.runStep`.
    ///   - location: becomes the step's fixture.
    /// - Returns: the report of the step.
    /// - Throws: `HarnessError` where the process ended without a report, or the step failed; `EngineError` where the
    ///   process crashed, which the report then contains.
    package func runStep(_ arguments: [String], at location: DatabaseLocation, seconds: Double = 60) throws
        -> WorkerReport
    {
        guard let executable else { throw HarnessError("steps need the program of the worker") }
        var request = WorkerRequest(
            task: .runStep, test: test, directory: directory, fixture: location.directory, deadline: deadline)
        request.arguments = arguments
        request.files = EngineFiles(of: engine)
        let limits = WorkerLimits(
            hangTime: MonotonicClock.now() &+ UInt64(seconds * 1e9), memoryBytes: 8 << 30)
        let end = try WorkerProcess(executable: executable).run(request, limits: limits, variables: ["LD_BIND_NOW=1"])
        if let failure = end.report?.harnessFailure { throw HarnessError("a step failed: \(failure)") }
        if case .signalled(let signal) = end.end, end.stopped == nil {
            let reason = CrashText.reason(end.standardError)
            self.report.add(
                Trial(address: FaultAddress(text: "step"), outcome: .crashed, detail: reason, signal: signal))
            throw EngineError(.refused, "a process of the case ended by signal \(signal)")
        }
        guard let report = end.report, end.end == .exited(0) else {
            throw HarnessError("a step ended so: \(end.end) \(end.standardError.suffix(300))")
        }
        return report
    }
}
