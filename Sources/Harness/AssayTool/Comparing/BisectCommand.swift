import Commands
import Files
import Harness
import Platform
import RunRecords
import Seeds
import Statistics

/// `assay bisect`: finds the revision that made a case slower.
struct BisectCommand: Command {
    let name = "bisect"
    let summary = "finds the revision that made a case slower, by the comparisons of assay ab"
    let question = "which change made this slower?"
    let positional = ["[CASE]"]
    let usageForms = ["bisect --good REV --bad REV CASE [options]", "bisect --resume DIR [options]"]
    let examples = [
        CommandExample(
            "bisect --good HEAD~20 --bad HEAD commit --engine strata", "the revision since which commits are slower"),
        CommandExample("bisect --resume D", "continues a stopped search"),
    ]
    let exitStatus = "0 assay found the revision, 3 the machine was too unsteady to tell, 130 interrupted"
    let options =
        [
            OptionSpecification("--good", value: "REV", "a revision that is fast enough"),
            OptionSpecification("--bad", value: "REV", "a later one that is slower"),
            OptionSpecification("--plan", value: "NAME", "the plan of a case's id (all of them)"),
            OptionSpecification("--engine", value: "NAME", "where CASE is a scenario: its engine"),
            OptionSpecification("--dataset", value: "NAME", "where CASE is a scenario: its data set"),
            OptionSpecification("--size", value: "N", "where CASE is a scenario: rows of its data set"),
            OptionSpecification("--param", value: "K=V", "where CASE is a scenario: a parameter; may be repeated"),
            OptionSpecification("--seed", value: "N", "of the case, of orders and of directories (1)"),
            OptionSpecification("--out", value: "DIR", "the directory for steps and raw measurements (Reports/..)"),
            OptionSpecification("--resume", value: "DIR", "continue the stopped search of DIR"),
        ] + ComparisonOptions.specifications + ProgramOptions.specifications

    var details: [String] {
        [
            "Answers: \(question)",
            "CASE is a scenario with options that select one case, or the id of a case of a plan. A revision that",
            "does not build, or that the comparisons with both ends leave undecided, is skipped by the search.",
        ]
    }

    /// Options that may differ when a search is resumed.
    private static let free: Set<String> = ["--resume", "--plans", "--allow-zoo", "--allow-debug"]

    func run(_ arguments: Arguments) throws -> Int32 {
        try ComparisonOptions.explained(name) {
            if let path = arguments.value("--resume") { return try resume(trimmed(path), arguments) }
            return try begin(arguments)
        }
    }

    // MARK: A new search

    private func begin(_ arguments: Arguments) throws -> Int32 {
        guard let goodName = arguments.value("--good"), let badName = arguments.value("--bad") else {
            throw UsageError("name both ends: assay bisect --good REV --bad REV CASE", command: name)
        }
        let registries = BuildRegistries.make()
        let planned = try CaseSelection(arguments, registries).planned()
        let (pairs, threshold) = (try ComparisonOptions.pairs(arguments), try ComparisonOptions.threshold(arguments))
        return try ComparisonOptions.withScratch { scratch in
            var programs = ProgramOptions(arguments, scratch: scratch)
            let good = try programs.revision(goodName, option: "--good")
            let bad = try programs.revision(badName, option: "--bad")
            let revisions = try programs.line(from: good, to: bad)
            let places = try programs.places()
            let record = BisectRecord(
                good: good, revisions: revisions, pairs: pairs, threshold: threshold, seed: planned.test.seed,
                repository: places.repository, builds: places.builds)
            // Both ends have to run before the search writes a file.
            let ends = (
                good: try programs.built(good, option: "--good"), bad: try programs.built(bad, option: "--bad")
            )
            try requireEnds(ends.good, ends.bad, planned)
            try ComparisonOptions.requireRoom(
                [planned], Plan(name: name, file: "the command line"), registries, budget: nil,
                out: arguments.value("--out"))
            let claim = try RunCommand.claim(
                out: arguments.value("--out"), id: "\(RunCommand.timestamp(Int(time(nil))))-bisect-\(record.seed)",
                options: ["bisect": [good.commit, bad.commit]])
            try record.write(to: claim.directory.path)
            try RunManifest(cases: [planned], hangSeconds: 60, memoryMegabytes: 4_096, budgetSeconds: nil)
                .write(to: claim.directory)
            return try carryOut(
                record, planned, programs: programs, claim: claim, arguments: arguments, registries: registries)
        }
    }

    private func requireEnds(_ good: DescribedProgram, _ bad: DescribedProgram, _ planned: PlannedCase) throws {
        if let objection = ComparisonOptions.objection(good, bad) {
            throw UsageError("the ends cannot be compared: \(objection)", command: name)
        }
        let refused = WorkerDescription.compare([planned], a: good.description, b: bad.description).refused
        if let reason = refused.first?.reason {
            throw UsageError(
                "the ends cannot be compared (A is the good one, B the bad one): \(reason)", command: name)
        }
        guard good.description.build.digest != bad.description.build.digest else {
            throw UsageError(
                "the ends are the same program: no revision between them can have made it slower", command: name)
        }
    }

    // MARK: A resumed search

    private func resume(_ path: String, _ arguments: Arguments) throws -> Int32 {
        let given = options.map(\.name).filter { arguments.has($0) && !Self.free.contains($0) }
        guard given.isEmpty, arguments.positional.isEmpty else {
            let words = (arguments.positional + given).joined(separator: ", ")
            throw UsageError(
                "a resumed search keeps its options: leave out \(words), or begin a new one",
                command: name)
        }
        guard FileTree.exists(path + "/" + BisectRecord.file) else {
            throw UsageError("no search in \(path): there is no \(BisectRecord.file)", command: name)
        }
        let record: BisectRecord
        let planned: PlannedCase
        do {
            record = try BisectRecord.read(from: path)
            let cases = try RunManifest.read(from: RunDirectory(path: path)).cases
            guard let first = cases.first else { throw HarnessError("cases.json has no case") }
            planned = first
        } catch {
            throw UsageError("the search in \(path) cannot be read (\(error)): begin a new one", command: name)
        }
        let claim = try RunClaim.resume(path).claim
        return try ComparisonOptions.withScratch { scratch in
            let programs = ProgramOptions(
                arguments, scratch: scratch, repository: record.repository, builds: record.builds)
            return try carryOut(
                record, planned, programs: programs, claim: claim, arguments: arguments,
                registries: BuildRegistries.make())
        }
    }

    // MARK: Both

    private func carryOut(
        _ record: BisectRecord, _ planned: PlannedCase, programs: ProgramOptions, claim: RunClaim,
        arguments: Arguments, registries: Registries
    ) throws -> Int32 {
        let path = claim.directory.path
        do {
            let measuring = SessionMeasuring(
                planned: planned, registries: registries, claim: claim,
                known: try ComparisonOptions.known(arguments), pairs: record.pairs, threshold: record.threshold,
                seed: record.seed)
            var search = BisectSearch(
                record: record, programs: programs, measuring: measuring, steps: try BisectStep.read(from: path))
            let status = try search.run()
            try claim.end()
            return status
        } catch {
            do { try claim.end() } catch { Output.error("left behind: \(error)") }
            let command = "assay bisect --resume \(ShellWord.quoted(path))"
            guard error is WorkInterrupted || error is ComparisonInterrupted else {
                Output.error("assay has kept the decisions; continue with\n  \(command)")
                throw error
            }
            Output.error(
                "stopped; assay has kept the decisions. Repeat the interrupted step, and continue, with\n  \(command)")
            return Interruption.exitStatus
        }
    }
}
