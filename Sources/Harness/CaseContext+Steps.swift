import Measuring
import RunRecords

extension CaseContext {
    /// Runs a step of the scenario in a small process of its own that has opened no engine and holds no data: what a
    /// program meets that has just been started.
    ///
    /// - Parameters:
    ///   - arguments: what `Scenario.runStep` gets.
    ///   - location: becomes the step's fixture.
    /// - Returns: what the step reported.
    /// - Throws: `HarnessError` where the process ended without a report, or the step failed.
    package func runStep(_ arguments: [String], at location: DatabaseLocation, seconds: Double = 60) throws
        -> WorkerReport
    {
        guard let executable else { throw HarnessError("steps need the program of the worker") }
        var request = WorkerRequest(
            task: .runStep, test: test, directory: directory, fixture: location.directory, deadline: deadline)
        request.arguments = arguments
        let limits = WorkerLimits(
            hangTime: MonotonicClock.now() &+ UInt64(seconds * 1e9), memoryBytes: 8 << 30)
        let end = try WorkerProcess(executable: executable).run(request, limits: limits)
        if let failure = end.report?.harnessFailure { throw HarnessError("a step failed: \(failure)") }
        guard let report = end.report, end.end == .exited(0) else {
            throw HarnessError("a step ended so: \(end.end) \(end.standardError.suffix(300))")
        }
        return report
    }
}
