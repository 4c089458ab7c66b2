import Files
import RunRecords

/// The results of several engines on one subject: cases that differ only in the engine. Reports compare no other cases.
struct Comparison {
    var subject: Subject
    /// By engine.
    var results: [String: CaseResult]
}

/// Facts about a run that several parts of a report need, computed once.
struct RunDigest {
    /// The engine that keeps everything in memory. Reports show it, but never as a peer.
    static let reference = "model"

    let run: Run
    /// In the order of the header, with the in-memory reference last.
    let engines: [String]
    /// In plan order.
    let results: [CaseResult]
    /// The ids of the plan's cases that have no result, in plan order.
    let missing: [String]
    let comparisons: [Comparison]
    let durabilities: [DurabilityClass]
    let counts: [Standing: Int]
    /// Scenarios that measure the machine itself, and their cases.
    let rawScenarios: Set<String>
    let rawResults: [CaseResult]
    /// The parameters in which cases of a scenario differ; only these are named.
    private let telling: [String: Set<String>]
    /// The scenarios that run on several data sets or sizes.
    private let datasetsVary: Set<String>
    /// The pairs of scenario and data set that run in several sizes.
    private let sizesVary: Set<String>
    private let hasSeveralSeeds: Bool
    /// The shard of each case of a merged run, by case id.
    let shards: [String: MergedShard]
    let derived = DerivedValues()

    init(_ run: Run) {
        self.run = run
        let byID = Dictionary(run.results.map { ($0.test.id, $0) }) { _, last in last }
        results = (run.header.cases + Self.strangers(of: run)).compactMap { byID[$0] }
        missing = run.header.cases.filter { byID[$0] == nil }
        let named = run.header.engines.map(\.name) + results.map(\.test.engine)
        let unique = Self.unique(named)
        engines = unique.filter { $0 != Self.reference } + unique.filter { $0 == Self.reference }
        let used = Set(results.map(\.test.durability))
        durabilities = DurabilityClass.allCases.filter(used.contains)
        comparisons = Self.comparisons(results)
        var counts: [Standing: Int] = missing.isEmpty ? [:] : [.notRun: missing.count]
        for result in results {
            counts[.judged(result.verdict), default: 0] += 1
        }
        self.counts = counts
        let raw = Self.rawScenarios(results)
        rawScenarios = raw
        rawResults = raw.isEmpty ? [] : results.filter { raw.contains($0.test.scenario) }
        telling = Self.tellingParameters(results)
        datasetsVary = Self.varying(results, { $0.scenario }, { "\($0.dataset) \($0.size)" })
        sizesVary = Self.varying(results, { "\($0.scenario) \($0.dataset)" }, { "\($0.size)" })
        hasSeveralSeeds = Set(results.map(\.test.seed)).count > 1
        shards = run.header.shardsByCase
    }

    /// The ids of results that the header does not list, so that a run that was assembled by hand is shown completely.
    static func strangers(of run: Run) -> [String] {
        let listed = Set(run.header.cases)
        return Set(run.results.map(\.test.id)).subtracting(listed).sorted()
    }

    static func unique<Element: Hashable>(_ elements: [Element]) -> [Element] {
        var seen: Set<Element> = []
        return elements.filter { seen.insert($0).inserted }
    }

    private static func comparisons(_ results: [CaseResult]) -> [Comparison] {
        var list: [Comparison] = []
        var index: [Subject: Int] = [:]
        for result in results {
            let subject = Subject(result.test)
            if let place = index[subject] {
                list[place].results[result.test.engine] = result
            } else {
                index[subject] = list.count
                list.append(Comparison(subject: subject, results: [result.test.engine: result]))
            }
        }
        return list
    }

    /// The keys that occur with several values.
    private static func varying(
        _ results: [CaseResult], _ key: (Case) -> String, _ value: (Case) -> String
    ) -> Set<String> {
        let values = Dictionary(results.map { (key($0.test), Set([value($0.test)])) }) { $0.union($1) }
        return Set(values.filter { $0.value.count > 1 }.keys)
    }

    private static func tellingParameters(_ results: [CaseResult]) -> [String: Set<String>] {
        // If only some cases of a scenario have a condition, its absence counts as a value.
        Dictionary(grouping: results.map(\.test), by: \.scenario).mapValues { tests in
            let names = Set(tests.flatMap { $0.parameters.map(\.name) })
            return names.filter { name in Set(tests.map { $0.parameter(name) }).count > 1 }
        }
    }

    // MARK: Names

    var title: String { "Assay \(run.header.plan)" }

    /// The parameters that distinguish the subject within its scenario: `threads 8`, `dpkg 3 412`. May be empty.
    func variant(_ subject: Subject) -> String {
        var parts: [String] = []
        if datasetsVary.contains(subject.scenario), !subject.dataset.isEmpty {
            parts.append(datasetVariant(subject))
        }
        let names = telling[subject.scenario] ?? []
        parts += subject.parameters.filter { names.contains($0.name) }.map { "\($0.name) \($0.value)" }
        if hasSeveralSeeds {
            parts.append("seed \(subject.seed)")
        }
        return parts.joined(separator: ", ")
    }

    /// The data set, with its size if the scenario runs on several sizes.
    private func datasetVariant(_ subject: Subject) -> String {
        sizesVary.contains("\(subject.scenario) \(subject.dataset)")
            ? "\(subject.dataset) \(Figure.grouped(subject.size))" : subject.dataset
    }

    /// Whether cases of the scenario differ in the parameter.
    func isTelling(_ parameter: CaseParameter, _ subject: Subject) -> Bool {
        telling[subject.scenario]?.contains(parameter.name) == true
    }

    /// The values of these parameters without their names, for narrow places: `never`.
    func shortVariant(_ subject: Subject) -> String {
        let names = telling[subject.scenario] ?? []
        return subject.parameters.filter { names.contains($0.name) }.map(\.value).joined(separator: " ")
    }

    /// The name of a subject for a terminal: `commit-threads 8`.
    func shortName(_ subject: Subject) -> String {
        let dataset = datasetsVary.contains(subject.scenario) ? datasetVariant(subject) : ""
        let seed = hasSeveralSeeds ? "seed \(subject.seed)" : ""
        return [subject.scenario, dataset, shortVariant(subject), seed].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// `commit, threads 8`.
    func name(_ subject: Subject) -> String {
        let variant = variant(subject)
        return variant.isEmpty ? subject.scenario : "\(subject.scenario), \(variant)"
    }

    /// The question that a scenario answers, by its slug; nil for a run that does not record it.
    func question(ofScenario slug: String) -> String? { run.header.scenarioQuestions[slug] }

    static func datasetText(_ subject: Subject) -> String {
        if subject.dataset.isEmpty { return "" }
        return subject.size > 0 ? "\(subject.dataset), \(Figure.count(subject.size, "row"))" : subject.dataset
    }

    static func durabilityText(_ durability: DurabilityClass) -> String {
        switch durability {
        case .full: "full durability"
        case .periodic: "periodic durability"
        case .none: "no durability"
        }
    }

    /// The command that repeats a case, ready for a shell.
    func replayCommand(_ id: String, trial: String = "") -> String {
        let words =
            ["assay", "replay", Self.shellWord(run.directory), id] + (trial.isEmpty ? [] : [Self.shellWord(trial)])
        return words.joined(separator: " ")
    }

    /// The command that replays a failure from its case file; nil if there is no such file.
    func caseFileCommand(_ id: String, _ outcome: Outcome?, _ address: FaultAddress?) -> String? {
        guard let outcome, let address else { return nil }
        let name = KeptCaseName.of(id, outcome, address)
        guard run.caseFiles.contains(name) else { return nil }
        let engine = results.first { $0.test.id == id }?.test.engine
        let library = run.header.engines.first { $0.name == engine }?.file
        return "assay replay " + Self.shellWord("\(run.directory)/\(KeptCaseName.directory)/\(name)")
            + (library.map { " --engine-library \(Self.shellWord($0))" } ?? "")
    }

    /// The command that finishes the run; for a merged run, that of its first missing shard.
    var resumeCommand: String {
        if let shard = run.header.missingShards.first { return "\(run.header.command) --shard \(shard)" }
        return "assay run --resume \(Self.shellWord(run.directory))"
    }

    static func shellWord(_ text: String) -> String {
        ShellWord.quoted(text)
    }

    // MARK: Shards

    /// Whether one run measured both on one machine. Otherwise their figures have no ratio.
    func isMeasuredTogether(_ first: CaseResult, _ second: CaseResult) -> Bool {
        shards[first.test.id]?.shard == shards[second.test.id]?.shard
    }

    /// The machine that measured the case.
    func machine(of id: String) -> Machine { shards[id]?.machine ?? run.header.machine }

    /// `shard 2/5`, or of a merged run `merged of 5 shards on 2 machines`. Empty for the run of a whole plan.
    var shardWords: String {
        if let part = run.header.part { return "shard \(part.shard)" }
        let merged = run.header.merged.filter { !$0.cases.isEmpty }
        guard !run.header.merged.isEmpty else { return "" }
        var machines: [Machine] = []
        for shard in merged where !machines.contains(where: { $0.isSame(as: shard.machine) }) {
            machines.append(shard.machine)
        }
        return "merged of \(Figure.count(run.header.merged.count, "shard")) on "
            + Figure.count(machines.count, "machine")
    }

    /// The reason for cases without a result.
    var stopWords: String { run.header.merged.isEmpty ? "The run stopped early" : "Shards are missing" }

    // MARK: Counts

    func count(_ verdict: Verdict) -> Int { counts[.judged(verdict)] ?? 0 }

    func results(of engine: String) -> [CaseResult] {
        results.filter { $0.test.engine == engine }
    }

    func results(for question: Question) -> [CaseResult] {
        results.filter { question.families.contains($0.test.family) }
    }

    /// The number of the question's cases that did not run; 0 for an older run, which does not say.
    func missingCount(of question: Question) -> Int {
        missing.count { id in run.header.families[id].map(question.families.contains) ?? false }
    }

    var trialCount: Int { results.reduce(0) { $0 + $1.trialCount } }

    /// The sum of the times of all cases, also of those that ran at the same time.
    var workedNanoseconds: UInt64 { results.reduce(0) { $0 &+ $1.durationNanoseconds } }

    /// The command that best reproduces a failed case: that of its gravest trial.
    func replayCommand(_ result: CaseResult) -> String {
        let trial = result.causes.first?.example ?? result.trials.first?.address
        let isWhole = result.trialCount <= 1 || trial?.isWholeCase == true
        return replayCommand(result.test.id, trial: isWhole ? "" : trial?.text ?? "")
    }

    /// Warnings about other load on the machine, and about figures of which the report claims nothing. A page shows
    /// them below the verdict, and not above it.
    var notes: [String] { warnings.filter(Self.isOfSurroundings) }

    /// The other warnings, which cast doubt on the whole report.
    var doubts: [String] { warnings.filter { !Self.isOfSurroundings($0) } }

    private static func isOfSurroundings(_ warning: String) -> Bool {
        let topics = ["BUSY MACHINE", "SWAPPED MEMORY", RunHeader.assertionTopic, "DOUBTFUL FIGURES"]
        return topics.contains { warning.hasPrefix($0) }
    }

    /// Warnings that concern every figure, with the topic in capitals.
    var warnings: [String] {
        var list = run.header.shownWarnings
        func add(_ word: String, _ text: String) {
            if !list.contains(where: { $0.uppercased().contains(word) }) { list.append(text) }
        }
        list += run.unreadable.map { "UNREADABLE: \($0)" }
        if let busy = run.loadWarning { add("BUSY", "BUSY MACHINE" + busy.dropFirst("busy machine".count)) }
        if !run.header.isReleaseBuild {
            add("DEBUG BUILD", "DEBUG BUILD: no time in this report is close to that of a release build")
        }
        switch run.header.machine.fsync {
        case .yes: break
        case .no: add("FSYNC", "FSYNC NOT HONEST: the file system is in memory, full durability means nothing here")
        case .suspicious:
            add("FSYNC", "FSYNC NOT HONEST: fsync returns sooner than a disk can write, so commits look too fast")
        }
        return list
    }
}
