import Measuring
import RunRecords

extension CaseContext {
    /// Runs a step of the scenario in a fresh, small process that has opened no engine and holds no data. So a scenario
    /// can measure what a program meets just after its start.
    ///
    /// The dynamic linker binds all symbols at the start of that process (not lazily), so that a measured time includes
    /// no lookup of a function.
    ///
    /// - Parameters:
    ///   - arguments: arguments of `Scenario.runStep`.
    ///   - location: the database that the step gets as its fixture.
    /// - Returns: the report of the step.
    /// - Throws: `HarnessError` if the process ended without a report, or the step failed; `EngineError` if the process
    ///   crashed. A crash is then in this case's report.
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
