import Measuring
import RunRecords

extension CaseContext {
    /// Runs a step of the scenario in a small process of its own that has opened no engine and holds no data: what a
    /// program meets that has just been started.
    ///
    /// The names of its libraries are bound before it begins: a call that is made for the first time would else look
    /// its function up within the time that a step measures.
    ///
    /// - Parameters:
    ///   - arguments: what `Scenario.runStep` gets.
    ///   - location: becomes the step's fixture.
    /// - Returns: what the step reported.
    /// - Throws: `HarnessError` where the process ended without a report, or the step failed; `EngineError` where it
    ///   crashed, which stands in the report by then.
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
