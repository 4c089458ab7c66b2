import Files
import Harness
import Measuring
import Platform
import RunRecords
import Seeds
import StoreMigration

/// A process writes three batches to two stores, the first of which inserts, changes and deletes, and is killed
/// (SIGKILL) before each call by which it changes a file: in each phase, with each order of the two commits, and with
/// each way in which one of the stores fails. Then another process opens the stores with a new writer, and reconciles
/// them.
///
/// The page cache survives a SIGKILL. Whether a commit of either store is on disk before its acknowledgement is tested
/// by the scenarios of that store. So the stores of a trial are files in memory, if the system has such a file system:
/// a sync is still a call before which the process is killed, but costs no time.
struct DoubleWriteCrashes: Scenario {
    let slug = "double-write"
    let family = Family.migration
    let question = "Are both stores equal, and is all that was acknowledged in them, after a death at each call?"
    let requires: Set<Capability> = [.objects, .migrations, .persistent]
    // A checkpoint may run on a thread of its own, so that the N-th call is another one in each run.
    let schedule = Schedule.free
    let durability: DurabilityClass? = .full
    let parameters = [
        ScenarioParameter(
            "trials", .effort, default: 0, range: 0...1_000_000,
            summary: "deaths that are tried, spread over all combinations; 0: all of them"),
        ScenarioParameter(
            "batches", .size, default: 300, range: 1...1_000_000,
            summary: "batches of three changes by which the cost of writing twice is measured"),
    ]

    private static let secondsPerTrial = 60.0

    func run(_ context: CaseContext) throws {
        guard let witness = context.witness() else { return }
        _ = witness.setIgnoredNames(context.engine.coordinationPatterns + ["*-shm"])
        context.report.note("the old store is \(OldStore.words)")
        try DoubleWriteProcess.warm()
        let memory = ScratchDirectory.memory
        let scratch = try ScratchDirectory.make(in: FileTree.isDirectory(memory) ? memory : context.directory)
        defer {
            do { try scratch.remove() } catch { context.report.note("left behind: \(error)") }
        }
        // The library counts calls below its roots only, and the directory in memory is outside the case's own.
        guard witness.setRoot([context.directory, scratch.files].compactMap(FileTree.absolute)) else {
            return context.report.inconclusive("\(context.directory) has a colon: its calls cannot be counted")
        }
        let prepared = try prepare(scratch.files)
        let calls = try count(scratch.files, prepared, witness)
        let trials = choose(calls, try context.integer("trials"), context.random("deaths"))
        guard calls.contains(where: { $0.calls > 0 }) else {
            return context.report.inconclusive("no call of the writer changed a file")
        }
        let tally = DoubleWriteTally(context)
        let tried = try context.sweep(
            trials.map(\.address), secondsPerTrial: Self.secondsPerTrial, accepts: { DoubleWriteTrial($0) != nil },
            directories: [scratch.files]
        ) { address in
            guard let trial = DoubleWriteTrial(address) else { throw HarnessError("no such trial: \(address)") }
            // Two trials run at the same time, each in a directory of its own.
            let own = context.trialDirectory.split(separator: "/").last.map { String($0) } ?? "trial"
            let place = MigrationPlace(scratch.files + "/" + own + "/stores")
            let finding = try Self.attempt(trial, prepared, place: place, witness: witness, tally: tally)
            return Trial(address: address, outcome: finding.outcome, detail: finding.detail)
        }
        try report(context, calls, tally: tally, tried: tried)
        try WritingCost(context).measure(batches: context.integer("batches"))
    }

    /// Makes both stores with the same rows, once for each phase. A child does it, so that this process starts no
    /// threads and can fork.
    private func prepare(_ directory: String) throws -> [MigrationPhase: String] {
        var prepared: [MigrationPhase: String] = [:]
        for phase in MigrationPhase.allCases { prepared[phase] = "\(directory)/prepared-\(phase.word)" }
        let places = prepared
        let child = try ForkedChild.start { _ in
            do {
                for (phase, directory) in places {
                    let place = MigrationPlace(directory)
                    try place.make(DoubleWriteTrial.before.rows.values.sorted { $0.id < $1.id })
                    let writer = try place.writer()
                    try writer.advance(to: phase)
                    try writer.close()
                }
                return 0
            } catch { return 1 }
        }
        guard child.wait() == .exited(0) else { throw HarnessError("the two stores could not be made") }
        return prepared
    }

    /// Counts the calls of each combination, in a process that is not killed.
    private func count(
        _ directory: String, _ prepared: [MigrationPhase: String], _ witness: IOWitness
    ) throws -> [(trial: DoubleWriteTrial, calls: Int)] {
        try DoubleWriteTrial.combinations.map { trial in
            let place = MigrationPlace(directory + "/whole")
            try Self.copy(prepared, trial, place)
            let (answers, end) = try DoubleWriteProcess(place: place, trial: trial)
                .write(witness, seconds: Self.secondsPerTrial, isCounted: true)
            guard end == .exited(0) else {
                throw EngineError(
                    .refused, "\(trial.address): a writer without a death ended so: \(end) \(answers.complaint ?? "")")
            }
            try FileTree.remove(place.directory)
            return (trial, answers.calls)
        }
    }

    private static func copy(
        _ prepared: [MigrationPhase: String], _ trial: DoubleWriteTrial, _ place: MigrationPlace
    ) throws {
        guard let source = prepared[trial.phase] else { throw HarnessError("no stores in \(trial.phase)") }
        try FileTree.remove(place.directory)
        try FileTree.copy(from: source, to: place.directory)
    }

    /// Each kill of each combination, or some of them: equally many of each combination.
    private func choose(
        _ calls: [(trial: DoubleWriteTrial, calls: Int)], _ most: Int, _ random: RandomStream
    ) -> [DoubleWriteTrial] {
        var random = random
        let all = calls.map { combination, count in
            ([nil] + (0..<count).map { Optional($0) }).map { call in
                var trial = combination
                trial.call = call
                return trial
            }
        }
        let count = all.reduce(0) { $0 + $1.count }
        if most == 0 || most >= count { return all.flatMap { $0 } }
        var chosen: [DoubleWriteTrial] = []
        for (place, trials) in all.enumerated() {
            // The shares of two combinations differ by one at most.
            let share = most * (place + 1) / all.count - most * place / all.count
            // The kill after the last answer comes first.
            let others = random.permutation(of: trials.count - 1).map { $0 + 1 }
            chosen += ([0] + others).prefix(share).sorted().map { trials[$0] }
        }
        return chosen
    }

    private static func attempt(
        _ trial: DoubleWriteTrial, _ prepared: [MigrationPhase: String], place: MigrationPlace,
        witness: IOWitness, tally: DoubleWriteTally
    ) throws -> DoubleWriteFinding {
        try copy(prepared, trial, place)
        let process = DoubleWriteProcess(place: place, trial: trial)
        let (answers, end) = try process.write(witness, seconds: secondsPerTrial)
        if let complaint = answers.complaint { return DoubleWriteFinding(.refused, "the writer: \(complaint)") }
        switch end {
        case .signalled(SIGKILL): if !answers.isWhole { try tally.add("killed", 1) }
        default: return DoubleWriteFinding(.crashed, "the writer ended so: \(end)")
        }
        let finding = try process.judge(answers, seconds: secondsPerTrial)
        try tally.add("acknowledged", answers.acknowledged)
        try tally.add("found", finding.found)
        try tally.add("mended", finding.mended)
        try tally.add("left", finding.left)
        return finding
    }

    private func report(
        _ context: CaseContext, _ calls: [(trial: DoubleWriteTrial, calls: Int)], tally: DoubleWriteTally,
        tried: Int
    ) throws {
        let report = context.report
        let all = calls.reduce(0) { $0 + $1.calls + 1 }
        let (killed, left) = (try tally.count("killed"), try tally.count("left"))
        report.add(.combinations, Double(tried), statistic: "count", label: "tried, of \(all)")
        report.add(.divergences, Double(try tally.count("found")), label: "found")
        report.add(.divergences, Double(try tally.count("mended")), label: "mended")
        report.add(.divergences, Double(left), label: "left after the reconciliation")
        report.note(
            "\(tried) of \(all) combinations of phase, order, failing store and death, \(killed) of them killed at a "
                + "call; divergences: \(try tally.count("found")) found, \(try tally.count("mended")) mended, "
                + "\(left) left; \(try tally.count("acknowledged")) batches were acknowledged")
        if context.onlyTrial != nil || report.isCut { return }
        if killed == 0 { report.inconclusive("no process was killed at a call") }
        if try tally.count("acknowledged") == 0 { report.inconclusive("no batch was acknowledged") }
        // In the phase that writes the old store alone, the stores always differ.
        if try tally.count("found") == 0 { report.inconclusive("nothing was there to be reconciled") }
    }
}
