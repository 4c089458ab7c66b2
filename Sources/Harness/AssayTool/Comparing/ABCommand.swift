import Commands
import Files
import Harness
import JSONText
import Measuring
import Platform
import Reporting
import RunRecords
import Seeds

/// `assay ab`: measures two builds of this tool in pairs.
struct ABCommand: Command {
    let name = "ab"
    let summary = "measures two builds of assay in pairs, each by fresh processes side by side"
    let question = "is build B slower than build A?"
    let positional = ["[PLAN]"]
    let usageForms = [
        "ab --a OLD --b NEW (PLAN | --scenario NAME,..) [options]",
        "ab --a-ref OLD --b-ref NEW (PLAN | --scenario NAME,..) [options]",
        "ab --a-engine-library OLD --b-engine-library NEW (PLAN | --scenario NAME,..) [options]",
    ]
    let examples = [
        CommandExample("ab --a OLD --b NEW --scenario commit", "two programs, built before"),
        CommandExample(
            "ab --a-ref HEAD~20 --b-ref HEAD --scenario commit --engine strata",
            "two revisions, built and kept"),
    ]
    let exitStatus = "0 B is slower in no case, 2 B is slower, by two batches, 3 the machine was too unsteady to tell"
    let options =
        [
            OptionSpecification("--a", value: "BINARY", "the build to compare with"),
            OptionSpecification("--b", value: "BINARY", "the build in question"),
            OptionSpecification("--a-ref", value: "REV", "the same by a revision of git, which assay builds and keeps"),
            OptionSpecification("--b-ref", value: "REV", "the same by a revision of git, which assay builds and keeps"),
            OptionSpecification("--a-engine-library", value: "FILE", "an engine's library, on side A"),
            OptionSpecification("--b-engine-library", value: "FILE", "another build of it, on side B"),
            EngineLibraries.specification,
            PeerLibraryOption.specification,
            OptionSpecification("--scenario", value: "NAME,..", "only these; without a plan, these at their defaults"),
            OptionSpecification("--engine", value: "NAME,..", "only these engines"),
            OptionSpecification("--dataset", value: "NAME,..", "on these data sets"),
            OptionSpecification("--size", value: "N", "rows of the data sets that are generated"),
            OptionSpecification("--param", value: "K=V", "a parameter of the scenarios that have it; may be repeated"),
            OptionSpecification("--seed", value: "N", "of cases, of orders and of directories (the plan's: 1)"),
            OptionSpecification("--budget", value: "10m", "time for everything together"),
            OptionSpecification("--no-confirm", "decide by one batch; else a second batch repeats flagged cases"),
            OptionSpecification("--confirm", "repeat flagged cases in a second batch (the default)"),
            OptionSpecification("--out", value: "DIR", "the directory for raw measurements and reports (Reports/..)"),
        ] + ComparisonOptions.specifications + ProgramOptions.specifications

    /// The validated request. The command writes no file before it is complete.
    private struct Prepared {
        var plan: Plan
        var planned: [PlannedCase]
        /// The cases whose engine and scenario both sides have.
        var kept: [Case]
        var refused: [BuildComparison.Refused]
        var pairs: Int
        var threshold: Double
        var seed: Seed
        var a: DescribedProgram
        var b: DescribedProgram
        /// The registries of side B, which may load other builds of the libraries.
        var registriesOfB: Registries
    }

    func run(_ arguments: Arguments) throws -> Int32 {
        try ComparisonOptions.explained(name) { try compare(arguments) }
    }

    private func compare(_ arguments: Arguments) throws -> Int32 {
        let (registries, registriesOfB) = try SideLibraries.registries(arguments)
        let prepared = try prepare(arguments, registries, registriesOfB)
        let budget = try arguments.seconds("--budget")
        let ids = Set(prepared.kept.map(\.id))
        try ComparisonOptions.requireRoom(
            prepared.planned.filter { ids.contains($0.test.id) }, prepared.plan, registries, budget: budget,
            out: arguments.value("--out"))
        let startTime = Int(time(nil))
        let id = "\(RunCommand.timestamp(startTime))-ab-\(prepared.seed)"
        let claim = try RunCommand.claim(
            out: arguments.value("--out"), id: id, options: ["ab": [prepared.plan.name]])
        do {
            let comparison = try measure(
                prepared, registries, claim: claim, startTime: startTime, budget: budget, arguments: arguments)
            try claim.end()
            try Output.write(
                Reporting.terminal(comparison, width: min(80, Output.width), colour: Output.wantsColour))
            return comparison.exitStatus
        } catch {
            do { try claim.end() } catch { Output.error("left behind: \(error)") }
            guard error is ComparisonInterrupted else { throw error }
            Output.error("stopped: the measurements are in \(claim.directory.path)/measurements.jsonl; assay draws")
            Output.error("no conclusion from a part of them, and cannot continue a comparison: start it again")
            return Interruption.exitStatus
        }
    }

    private func prepare(
        _ arguments: Arguments, _ registries: Registries, _ registriesOfB: Registries
    ) throws -> Prepared {
        let (pairs, threshold) = (try ComparisonOptions.pairs(arguments), try ComparisonOptions.threshold(arguments))
        let (plan, planned) = try cases(arguments, registries)
        let seed = try arguments.unsigned("--seed").map { Seed($0) } ?? plan.seed
        let (a, b) = try ComparisonOptions.withScratch { scratch in
            var programs = ProgramOptions(arguments, scratch: scratch)
            return try programs.sides()
        }
        if let objection = ComparisonOptions.objection(a, b) { throw UsageError(objection, command: name) }
        let (kept, refused) = WorkerDescription.compare(planned, a: a.description, b: b.description)
        guard !kept.isEmpty else {
            let list = refused.map { "  \($0.test.scenario) \($0.test.engine): \($0.reason)" }
            throw UsageError("the sides have no case in common\n" + list.joined(separator: "\n"), command: name)
        }
        return Prepared(
            plan: plan, planned: planned, kept: kept, refused: refused, pairs: pairs, threshold: threshold, seed: seed,
            a: a, b: b, registriesOfB: registriesOfB)
    }

    private func measure(
        _ prepared: Prepared, _ registries: Registries, claim: RunClaim, startTime: Int, budget: Double?,
        arguments: Arguments
    ) throws -> BuildComparison {
        let directory = claim.directory.path
        var header = try header(
            claim, prepared.plan, seed: prepared.seed, startTime: startTime, a: prepared.a, b: prepared.b)
        for index in header.engines.indices {
            guard let engine = registries.engines.engine(named: header.engines[index].name) else { continue }
            header.engines[index].take(engine)
        }
        header.cases = prepared.kept.map(\.id)
        header.budgetSeconds = budget
        for warning in header.warnings { Output.error("WARNING  \(warning)") }
        let session = PairedSession(
            cases: prepared.kept, pairs: prepared.pairs, threshold: prepared.threshold, seed: prepared.seed,
            budgetSeconds: budget, confirms: !arguments.has("--no-confirm"))
        var work = try SidePrograms(
            a: prepared.a, b: prepared.b, planned: prepared.planned,
            registries: (registries, prepared.registriesOfB),
            directory: claim.directory.workDirectory, plan: prepared.plan, known: try ComparisonOptions.known(arguments)
        )
        var measurements: [SideMeasurement] = []
        let raw = directory + "/measurements.jsonl"
        let compared = try session.run(
            measure: { side, test, place in
                try work.measure(side, test, place: place, seconds: ComparisonOptions.secondsPerCase)
            },
            record: { measurement in
                measurements.append(measurement)
                try FileTree.append(raw, measurement.json.bytes + [UInt8(ascii: "\n")])
            }, renew: { test in try work.renew(test) }, observer: SessionProgress())
        let comparison = BuildComparison(
            header: header, a: prepared.a.side(registries), b: prepared.b.side(prepared.registriesOfB),
            pairs: session.pairs,
            threshold: session.threshold, confirms: session.confirms, cases: compared.cases,
            refused: prepared.refused + compared.refused, directory: directory)
        try RunClaim.write(Reporting.csv(measurements, of: comparison), to: "ab.csv", in: directory)
        try RunClaim.write(Reporting.json(comparison).text + "\n", to: "ab.json", in: directory)
        try RunClaim.write(Reporting.html(comparison), to: "ab.html", in: directory)
        return comparison
    }

    // MARK: The request

    private func cases(_ arguments: Arguments, _ registries: Registries) throws -> (Plan, [PlannedCase]) {
        let filter = try PlanFilter(arguments)
        var plan = Plan(name: "ab", file: "the command line")
        if let named = arguments.positional.first {
            let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
            plan = try Checkout.find(given: arguments.value("--plans"), executable: executable).plan(named)
        } else if filter.scenarios.isEmpty {
            throw UsageError("no case to compare: name a plan, or scenarios with --scenario", command: name)
        }
        EngineLibraries.add(registries, to: &plan)
        let expansion = PlanExpansion(plan: plan, filter: filter, registries: registries)
        try expansion.checkParameters()
        let cases = try expansion.cases()
        guard !cases.isEmpty else {
            throw UsageError("plan \(plan.name) has no case with these options", command: name)
        }
        try EngineLibraries.check(registries, are: cases, command: name)
        return (plan, cases)
    }

    private func header(
        _ claim: RunClaim, _ plan: Plan, seed: Seed, startTime: Int, a: DescribedProgram, b: DescribedProgram
    ) throws -> RunHeader {
        var header = RunHeader(
            id: claim.id, plan: plan.name, seed: seed,
            machine: try MachineInspection.inspect(directory: claim.directory.workDirectory))
        header.assayVersion = assayVersion
        header.startTime = startTime
        header.command = (["assay"] + CommandLine.arguments.dropFirst()).joined(separator: " ")
        let sides = [("A", a.description), ("B", b.description)]
        header.isReleaseBuild = sides.allSatisfy { $0.1.build.isRelease }
        header.buildDigest = a.description.build.digest
        header.engines = a.description.engines.map { EngineVersion(name: $0.name, version: $0.version) }
        // The check of each side below notes a debug build.
        header.warnings = MachineInspection.warnings(header.machine, isReleaseBuild: true)
        if a.description.build.digest == b.description.build.digest {
            header.warnings.insert("A and B are the same program: any difference is noise", at: 0)
        }
        if a.description.build.traits != b.description.build.traits {
            let traits = sides.map { "\($0.0) with \($0.1.build.traits.joined(separator: ", "))" }
            header.warnings.insert("built differently: \(traits.joined(separator: "; "))", at: 0)
        }
        for (side, description) in sides {
            if !description.build.isRelease { header.warnings.insert("DEBUG BUILD ON SIDE \(side)", at: 0) }
            if description.build.hasZoo {
                header.warnings.insert("PLANTED BUGS ON SIDE \(side): built with the trait Zoo", at: 0)
            }
        }
        return header
    }
}

extension DescribedProgram {
    /// - Parameter registries: the side's engines, those of libraries included.
    fileprivate func side(_ registries: Registries) -> BuildComparison.Side {
        let files = registries.engines.engines.compactMap { engine in
            engine.file.map { "\(engine.name) \(engine.version) from \($0.path) (\($0.digest))" }
        }
        return BuildComparison.Side(
            path: ([path] + files).joined(separator: ", "), build: description.build,
            revision: ([revision?.text].compactMap { $0 } + (revision == nil ? [] : files)).joined(separator: ", "))
    }
}
