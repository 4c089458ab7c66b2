import Harness
import Platform
import RunRecords

/// A program forks while it has a database open, and continues to commit: its child ends at once, or by `exit` with
/// its handlers, or opens the database anew by its path and commits concurrently with its parent.
///
/// The child never uses its parent's open database: SQLite and LMDB forbid it. Every acknowledged commit of either must
/// be there exactly once, the parent must continue, and neither may hang. An engine for a single process is not opened
/// in the child.
struct ForkWhileOpen: Scenario {
    let slug = "fork-while-open"
    let family = Family.crash
    let question = "Does a database survive a fork of its program, and can the child open it anew?"
    let requires: Set<Capability> = [.tables, .persistent, .updates]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .durability
    let parameters = [ScenarioParameter("trials", .effort, default: 6, range: 1...10_000, summary: "forks in each way")]

    /// A timeout breaks a promise of progress: no wrong value was seen.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome.brokenPromise(or: expects) }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try FixtureFiles(context)
        let count = try context.integer("trials")
        let isShared = context.engine.capabilities.contains(.processes)
        let ways = ForkWay.allCases.filter { $0 != .beside || isShared }
        if !isShared { context.report.note("NOT TRIED: \(context.engine.name) is for one process: no child opens it") }
        let forks = TrialTally(context, "forks")
        try context.sweep(
            ways.flatMap { way in (0..<count).map { way.address($0) } }, secondsPerTrial: 90,
            accepts: { ForkWay.of($0).map { $0 != .beside || isShared } ?? false }
        ) { address in
            guard let way = ForkWay.of(address) else { throw HarnessError("no fork: \(address)") }
            var random = context.random("\(address)")
            let trial = try IncrementTrial(context, files)
            let twin = try ForkedTwin(trial, way, after: 1 + random.below(20))
            let writer = try trial.start { try twin.writerAcknowledged($0) }
            let goesOn = writer.hears(30, seconds: 20)
            let failure = try twin.wait()
            let goesOnAfter = failure != nil || writer.hears(3, seconds: 20)
            try trial.stop()
            writer.wait()
            if twin.hasForked { try forks.add() }
            return try Self.judge(
                trial, writer, twin: twin, failure: failure, goesOn: goesOn && goesOnAfter, address: address)
        }
        context.require(try forks.count(), "no writer forked")
    }

    private static func judge(
        _ trial: IncrementTrial, _ writer: IncrementProcess, twin: ForkedTwin,
        failure: (outcome: Outcome, detail: String)?, goesOn: Bool, address: FaultAddress
    ) throws -> Trial {
        var finding = TrialFinding()
        finding.take(failure)
        if let ended = try trial.failure(of: [writer], address) { finding.take(ended.outcome, ended.detail) }
        if !goesOn, finding.outcome == .correct { finding.take(.hung, "the writer that forked did not go on") }
        let own = trial.allowed([writer])
        let acknowledged = try twin.acknowledged()
        // The child may have ended during a commit.
        let most = own.upperBound + acknowledged + (failure == nil ? 0 : 1)
        finding.take(trial.judge(try trial.read(), allowed: (own.lowerBound + acknowledged)...most))
        let counts = " (\(writer.acknowledged) by the parent, \(acknowledged) by the child)"
        let detail = finding.detail + (finding.detail.isEmpty ? "" : counts)
        return Trial(address: address, outcome: finding.outcome, detail: detail)
    }
}
