import Files
import Harness
import Platform
import RunRecords

/// The files of a database are replaced by older ones, or deleted, while a process writes to it.
///
/// The engine may do two things. It refuses the writer's next commit; or the next process finds every commit that was
/// acknowledged after the change, on top of the older state. A writer that hangs is a violation.
struct FileReplaced: Scenario {
    let slug = "file-replaced"
    let family = Family.corruption
    let question = "Does a writer notice that its database was replaced or deleted under it?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .detectsDamage
    let accepts: Set<Outcome> = [.correct, .refused]
    let parameters = [
        ScenarioParameter("trials", .effort, default: 20, summary: "replacements and deletions, by turns")
    ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        switch outcome {
        case .crashed: .survivesDamage
        case .hung: .boundedWait
        default: expects
        }
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try FixtureFiles(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress(.replace, $0) }
        let changes = TrialTally(context, "changed")
        try context.sweep(addresses, secondsPerTrial: 90) { address in
            let isDeleted = (address.position ?? 0) % 2 == 1
            let trial = try IncrementTrial(context, files)
            let writer = try trial.start()
            if !writer.hears(5) { return try trial.notWriting(writer, address) }
            if try Self.change(context.engine, trial.location, files, isDeleted: isDeleted) > 0 { try changes.add() }
            // A commit that was in progress during the change may still be acknowledged: it does not count.
            usleep(20_000)
            writer.listen()
            let before = writer.acknowledged
            // By its next commits the writer shows whether it continues or is refused.
            _ = writer.hears(3)
            try trial.stop()
            writer.wait()
            let after = writer.acknowledged - before
            let what = isDeleted ? "deleted" : "replaced"
            var result = try Self.judge(trial, writer, address, after: after, isDeleted: isDeleted)
            if result.outcome != .correct { result.detail = "\(what): \(result.detail)" }
            return result
        }
        context.require(try changes.count(), "no file was replaced or deleted: the engine named none")
    }

    /// Replaces or deletes all files, as a backup tool does that knows which belong together. Removes the other files
    /// before it changes the data file.
    /// - Returns: the number of the engine's files that existed.
    private static func change(
        _ engine: any Engine, _ location: DatabaseLocation, _ files: FixtureFiles, isDeleted: Bool
    ) throws -> Int {
        let old = engine.files(at: location)
        for file in old where file.role != .data { try FileTree.remove(file.path) }
        for file in old where file.role == .data && isDeleted { try FileTree.remove(file.path) }
        for file in files.files where !isDeleted {
            let path = location.directory + "/" + file.name
            try FileTree.writeBytes(path + ".restored", file.bytes)
            guard rename(path + ".restored", path) == 0 else { throw HarnessError("\(path) cannot be renamed") }
        }
        return old.count { $0.role == .data }
    }

    private static func judge(
        _ trial: IncrementTrial, _ writer: IncrementProcess, _ address: FaultAddress, after: Int, isDeleted: Bool
    ) throws -> Trial {
        let failure = try trial.failure(of: [writer], address)
        // No commit was acknowledged after the change, so none can be missing.
        if after == 0 {
            if let failure { return try judgeRefused(trial, failure, attempted: writer.acknowledged + 1) }
            return Trial(address: address, outcome: .hung, detail: "it was neither refused nor did it commit in 10 s")
        }
        if let failure, failure.outcome == .crashed { return failure }
        let isThere = trial.context.engine.files(at: trial.location).contains { $0.role == .data }
        guard isThere else {
            return Trial(
                address: address, outcome: .lostCommit,
                detail: "\(after) commits were acknowledged afterwards, and there is no file")
        }
        let (outcome, detail) = trial.judge(try trial.read(), allowed: after...(writer.acknowledged + 1))
        if outcome == .correct { return failure ?? Trial(address: address, outcome: .correct) }
        return Trial(
            address: address, outcome: outcome == .refused ? .detectedAtOpen : outcome,
            detail: "\(after) commits were acknowledged afterwards: \(detail)")
    }

    /// Judges the files of a writer that was refused and acknowledged no commit after the change. The replacing files
    /// must hold what was put there, and at most commits from before the writer noticed. Where the files were deleted,
    /// there is nothing to read.
    private static func judgeRefused(
        _ trial: IncrementTrial, _ failure: Trial, attempted: Int
    ) throws -> Trial {
        guard failure.outcome == .refused,
            trial.context.engine.files(at: trial.location).contains(where: { $0.role == .data })
        else { return failure }
        let (outcome, detail) = trial.judge(try trial.read(), allowed: 0...attempted)
        if outcome == .correct { return failure }
        // Where a reader is refused, the commits of the replacing files are lost. Other outcomes stay as they are.
        return Trial(
            address: failure.address, outcome: outcome == .refused ? .lostCommit : outcome,
            detail: "the writer was refused, and what was put there is not: \(detail)")
    }
}
