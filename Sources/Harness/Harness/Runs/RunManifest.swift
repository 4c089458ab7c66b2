import Files
import JSONText
import RunRecords
import Seeds

/// `cases.json` of a run's directory: the expanded plan. With it a run can be resumed, and a case repeated, without the
/// plan's file and the options.
///
/// `assay run` writes it before the header; `assay bisect` and the merge of shards write one, too. No command changes
/// it afterwards. `assay run --resume`, the replay of a case, the merge and `assay gate` read it. Members without a
/// comment are as in ``Plan``.
package struct RunManifest: Sendable {
    /// All cases of the run in the order of the plan, with those that do not run.
    package var cases: [PlannedCase]
    package var hangSeconds: Double
    package var memoryMegabytes: Int
    /// The time budget of the whole run in seconds: that of the option `--budget`, otherwise that of the plan.
    package var budgetSeconds: Double?
    package var rounds = 1
    package var measures = true
    package var countsInstructions = false
    /// The counter budgets that `assay gate` checks.
    package var budgets: [Budget] = []

    /// From the parts of the plan that resuming a run needs.
    package init(plan: Plan, cases: [PlannedCase], budgetSeconds: Double?, budgets: [Budget] = []) {
        self.init(
            cases: cases, hangSeconds: plan.hangSeconds, memoryMegabytes: plan.memoryMegabytes,
            budgetSeconds: budgetSeconds)
        rounds = plan.rounds
        measures = plan.measures
        countsInstructions = plan.countsInstructions
        self.budgets = budgets
    }

    package init(cases: [PlannedCase], hangSeconds: Double, memoryMegabytes: Int, budgetSeconds: Double?) {
        self.cases = cases
        self.hangSeconds = hangSeconds
        self.memoryMegabytes = memoryMegabytes
        self.budgetSeconds = budgetSeconds
    }

    private static func file(_ directory: RunDirectory) -> String {
        directory.path + "/cases.json"
    }

    /// Makes the directory if there is none, and replaces the file by a rename. The file has no member for an absent
    /// time budget, for instructions that are not counted, and for an empty list of counter budgets.
    package func write(to directory: RunDirectory) throws {
        try FileTree.createDirectory(directory.path)
        try FileTree.replaceText(Self.file(directory), json.text + "\n")
    }

    /// - Throws: `FileTreeError` if there is no file; the error of the reader for a text that is no JSON;
    ///   `JSONShapeError` for a missing member, or one of another type, with its path in `cases.json`.
    package static func read(from directory: RunDirectory) throws -> RunManifest {
        try RunManifest(document: try FileTree.readBytes(file(directory)), named: "cases.json")
    }

    /// A plan with the manifest's limits, for running its cases. It has no entries, engines and counter budgets: the
    /// cases are expanded already.
    package func plan(name: String, seed: Seed) -> Plan {
        var plan = Plan(name: name, file: "cases.json")
        plan.seed = seed
        plan.hangSeconds = hangSeconds
        plan.memoryMegabytes = memoryMegabytes
        plan.budgetSeconds = budgetSeconds
        plan.rounds = rounds
        plan.measures = measures
        plan.countsInstructions = countsInstructions
        return plan
    }
}

extension RunManifest: JSONRecord {
    package static let blank = RunManifest(cases: [], hangSeconds: 0, memoryMegabytes: 0, budgetSeconds: nil)

    package static let fields: [JSONField<RunManifest>] = [
        .member("hang_seconds", \.hangSeconds, in: .seconds),
        .member("memory_megabytes", \.memoryMegabytes, in: Plan.memoryMegabytesRange),
        .member("rounds", \.rounds, in: Plan.roundsRange), .member("measures", \.measures),
        .member("budget_seconds", \.budgetSeconds, in: .seconds),
        .sparse("instructions", \.countsInstructions), .sparse("budgets", \.budgets),
        .member("cases", \.cases),
    ]
}

/// A planned case in `cases.json`. The member `verdict` is there only if the case does not run.
extension PlannedCase: JSONRecord {
    package static let blank = PlannedCase(.blank)

    package static let fields: [JSONField<PlannedCase>] = [
        .member("test", \.test), .member("weight", \.weight, in: 0...1e9),
        .member("verdict", \.verdict),
        .member("reason", \.reason), .member("headline", \.isHeadline),
        .member("control", \.hasControl),
        .member("required", \.isRequired),
    ]
}
