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
        var members = [
            JSONMember("hang_seconds", .real(hangSeconds)), JSONMember("memory_megabytes", .integer(memoryMegabytes)),
            JSONMember("rounds", .integer(rounds)), JSONMember("measures", .bool(measures)),
        ]
        if let budgetSeconds { members.append(JSONMember("budget_seconds", .real(budgetSeconds))) }
        if countsInstructions { members.append(JSONMember("instructions", .bool(true))) }
        if !budgets.isEmpty { members.append(JSONMember("budgets", .array(budgets.map(\.json)))) }
        members.append(JSONMember("cases", .array(cases.map(\.json))))
        try FileTree.createDirectory(directory.path)
        try FileTree.replaceText(Self.file(directory), JSONValue.object(members).text + "\n")
    }

    /// - Throws: `FileTreeError` if there is no file; the error of the reader for a text that is no JSON;
    ///   `JSONShapeError` for a missing member, or one of another type, with its path in `cases.json`.
    package static func read(from directory: RunDirectory) throws -> RunManifest {
        let value = try JSONReader.read(try FileTree.readBytes(file(directory)))
        let reader = try JSONObjectReader(value, path: "cases.json")
        var cases: [PlannedCase] = []
        for element in try reader.objects("cases") { cases.append(try PlannedCase(json: element)) }
        var manifest = RunManifest(
            cases: cases, hangSeconds: try reader.real("hang_seconds"),
            memoryMegabytes: try reader.integer("memory_megabytes"),
            budgetSeconds: reader.has("budget_seconds") ? try reader.real("budget_seconds") : nil)
        manifest.rounds = try reader.integer("rounds")
        manifest.measures = try reader.bool("measures")
        manifest.countsInstructions = reader.has("instructions") ? try reader.bool("instructions") : false
        if reader.has("budgets") {
            for budget in try reader.objects("budgets") { manifest.budgets.append(try Budget(json: budget)) }
        }
        return manifest
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

/// A planned case in `cases.json`. The member `verdict` is there only if the case does not run.
extension PlannedCase {
    var json: JSONValue {
        var members = [JSONMember("test", test.json), JSONMember("weight", .real(weight))]
        if let verdict { members.append(JSONMember("verdict", .string(verdict.rawValue))) }
        members.append(JSONMember("reason", .string(reason)))
        members.append(JSONMember("headline", .bool(isHeadline)))
        members.append(JSONMember("control", .bool(hasControl)))
        members.append(JSONMember("required", .bool(isRequired)))
        return .object(members)
    }

    init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            test: try Case(json: try json.object("test")), weight: try json.real("weight"),
            verdict: json.has("verdict") ? try json.choice("verdict", of: Verdict.self) : nil,
            reason: try json.string("reason"), isHeadline: try json.bool("headline"),
            hasControl: try json.bool("control"), isRequired: try json.bool("required"))
    }
}
