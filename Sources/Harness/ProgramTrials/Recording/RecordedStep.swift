import Files
import Harness
import JSONText
import Measuring
import Platform
import RunRecords

/// A step of a scenario, run in a process of its own under the recorder.
package struct RecordedStep {
    package let run: TracedRun
    /// Its report; nil if it ended without one.
    package let report: WorkerReport?

    /// The recording library beside the case's program. nil if it was not built, or cannot be loaded: then the case is
    /// inconclusive.
    package static func library(for context: CaseContext) throws -> String? {
        let library = Preload.library(besides: try executable(of: context))
        if library == nil { context.report.lackPreload() }
        return library
    }

    private static func executable(of context: CaseContext) throws -> String {
        guard let executable = context.executable else { throw HarnessError("steps need the program of the worker") }
        return executable
    }

    /// Runs `Scenario.runStep` in a small process that has opened no engine and holds no data. Records its operations
    /// on the files below a location, except those that the engine uses only for locks or shared memory.
    ///
    /// - Parameters:
    ///   - library: `library(for:)`.
    ///   - directory: for the record; nil: the case's own, for one such step at a time.
    /// Throws: `HarnessError` if the process cannot be started, or reports a failure of the harness.
    package static func run(
        _ context: CaseContext, _ arguments: [String], at location: DatabaseLocation, library: String,
        in directory: String? = nil, seconds: Double = 60
    ) throws -> RecordedStep {
        let executable = try executable(of: context)
        let place = directory ?? context.directory + "/recorder"
        try FileTree.createDirectory(place)
        var request = WorkerRequest(
            task: .runStep, test: context.test, directory: context.directory, fixture: location.directory,
            deadline: context.deadline)
        request.arguments = arguments
        request.files = EngineFiles(of: context.engine)
        try FileTree.writeBytes(place + "/request", request.json.bytes)
        let input = try descriptor(place + "/request", O_RDONLY)
        defer { close(input) }
        let output = try descriptor(place + "/report", O_WRONLY | O_CREAT | O_TRUNC)
        defer { close(output) }

        var program = WatchedProgram([executable, "worker", "--parent", String(getpid())], library: library)
        program.output = .pipe
        program.input = input
        program.passed = [(own: output, number: Worker.reportDescriptor)]
        program.limitSeconds = seconds
        // A mistake planted by a self-test is planted in all processes of the case.
        program.variables = WorkerEnvironment.inherited().map(\.text)
            .filter { $0.hasPrefix(MistakeVariable.name + "=") }
        let volatile = try VolatileNames(adding: context.engine.coordinationPatterns, to: [])
        let run = try Recorder(program, directory: location.directory, volatile: volatile, in: place).run()
        let report = try report(place + "/report")
        if let failure = report?.harnessFailure { throw HarnessError("a step failed: \(failure)") }
        return RecordedStep(run: run, report: report)
    }

    /// Whether all that the engine did to its files is in the record; if not, the case is inconclusive.
    package func sawAll(_ context: CaseContext) -> Bool {
        if run.unseen.isEmpty { return true }
        let reasons = run.unseen.prefix(3).joined(separator: "; ")
        context.report.inconclusive("not all that \(context.engine.name) did to its files was seen: \(reasons)")
        return false
    }

    private static func descriptor(_ path: String, _ flags: Int32) throws -> Int32 {
        let descriptor = open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw HarnessError("cannot open \(path): \(systemMessage())") }
        return descriptor
    }

    private static func report(_ path: String) throws -> WorkerReport? {
        let bytes = try FileTree.readBytes(path)
        return bytes.isEmpty ? nil : try WorkerReport(document: bytes, named: "report")
    }

    /// The failure, if the engine caused it; nil after a normal end.
    ///
    /// Throws: `HarnessError` for an end that shows nothing about the engine.
    package func failure() throws -> (outcome: Outcome, detail: String, signal: Int32?)? {
        if run.end.isTimeOut { return (.hung, "the process of the history \(run.end.summary)", nil) }
        if case .signalled(let signal) = run.end.end {
            let reason = CrashText.reason(run.end.errorText)
            let words = reason.isEmpty ? "" : ": \(reason)"
            return (.crashed, "the process of the history \(run.end.summary)\(words)", signal)
        }
        guard let report, run.end.hasSucceeded else {
            throw HarnessError("the process of the history \(run.end.summary): \(run.end.errorText.suffix(300))")
        }
        let worst = report.outcomes.filter { $0.outcome != .correct }.max { $0.outcome.gravity < $1.outcome.gravity }
        guard let worst else { return nil }
        return (worst.outcome, report.messages.first ?? "it said nothing", nil)
    }
}
