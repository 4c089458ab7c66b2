import Files
import Harness
import RunRecords

/// Thrown when Ctrl-C interrupts a comparison.
struct ComparisonInterrupted: Error {}

/// The programs of both sides. Each builds its own fixtures.
struct SidePrograms {
    private var a: CaseRunner
    private var b: CaseRunner
    /// The planned cases by their ids.
    private let planned: [String: PlannedCase]

    /// No case reads its fixture in place, since a fixture lies in the directory of one side.
    ///
    /// - Parameters:
    ///   - registries: of side A and of side B, which may load other builds of an engine's library.
    ///   - directory: is created. Both sides work in directories below it, which they swap. A fixture's key includes
    ///     the digest of the build, so that neither side uses the other's fixtures.
    init(
        a: DescribedProgram, b: DescribedProgram, planned: [PlannedCase],
        registries: (a: Registries, b: Registries), directory: String, plan: Plan, known: [KnownViolation]
    ) throws {
        try FileTree.createDirectory(directory)
        let limits = CaseRunner.Limits(
            hangSeconds: plan.hangSeconds, memoryBytes: UInt64(plan.memoryMegabytes) << 20)
        func runner(_ program: DescribedProgram, _ registries: Registries) -> CaseRunner {
            CaseRunner(
                executable: program.path, registries: registries, directory: directory, limits: limits,
                readsInPlace: false, known: known, program: program.description.program,
                buildDigest: program.description.build.digest)
        }
        self.a = runner(a, registries.a)
        self.b = runner(b, registries.b)
        self.planned = Dictionary(planned.map { ($0.test.id, $0) }) { first, _ in first }
    }

    /// Removes the fixtures of a case; each side rebuilds its own before its next measurement.
    mutating func renew(_ test: Case) throws {
        if let key = a.fixtureKey(test) { try a.discardFixture(key) }
        if let key = b.fixtureKey(test) { try b.discardFixture(key) }
    }

    mutating func measure(_ side: BuildSide, _ test: Case, place: String, seconds: Double) throws -> CaseResult {
        guard let planned = planned[test.id] else { throw HarnessError("case \(test.id) was not planned") }
        let result: CaseResult
        switch side {
        case .a, .control: result = try a.run(planned, directory: place, seconds: seconds).result
        case .b: result = try b.run(planned, directory: place, seconds: seconds).result
        }
        // An interruption ends the workers, so their result is no measurement.
        if Interruption.isRequested { throw ComparisonInterrupted() }
        return result
    }
}
