import Commands
import JSONText
import RunRecords
import Seeds

/// A name in a plan with its place in the file, for error messages.
package struct PlanName: Hashable, Sendable {
    package var text: String
    package var position: TextPosition?

    package init(_ text: String, at position: TextPosition? = nil) {
        self.text = text
        self.position = position
    }

    package static func == (a: PlanName, b: PlanName) -> Bool { a.text == b.text }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(text)
    }
}

/// One entry of a plan: a scenario with lists of values, of which every combination is a case.
package struct PlanEntry: Sendable {
    package var scenario: PlanName
    /// nil for the engines of the plan.
    package var engines: [PlanName]?
    /// Engines of the plan that the entry leaves out, if it names no engines of its own.
    package var except: [PlanName] = []
    /// nil for the scenario's own data set.
    package var datasets: [PlanName]?
    /// nil for the data set's own size.
    package var sizes: [Int]?
    package var durability: [DurabilityClass]?
    package var seeds: [Seed]?
    package var parameters: [PlanParameter] = []
    /// The weight of each of its cases when the time budget is divided.
    package var weight: Double = 1
    /// Whether its cases are compared between engines: they are measured in the plan's rounds, and one engine of each
    /// comparison is measured as two sides.
    package var isHeadline = false
    /// Whether an inconclusive case leaves the run undecided; nil for what the plan says.
    package var isRequired: Bool?

    package init(scenario: PlanName) {
        self.scenario = scenario
    }
}

package struct PlanParameter: Sendable {
    package var name: PlanName
    package var values: [PlanName]
}

/// What a run does: a JSON5 file in Benchmarks/Plans.
package struct Plan: Sendable {
    package var name: String
    package var file: String
    package var summary: String
    /// What a run of all of its cases answers, as one sentence; empty if the report chooses the question.
    package var question = ""
    package var seed = Seed(1)
    package var budgetSeconds: Double?
    /// A worker that holds more anonymous memory than this ends as `memory-limit`.
    package var memoryMegabytes = 3_072
    /// How long a case may run after the end of its share of the budget before it counts as hung.
    package var hangSeconds = 60.0
    package var engines: [PlanName] = []
    package var durability: [DurabilityClass] = [.full]
    package var entries: [PlanEntry] = []
    /// The most measurements of each headline case, each in a process of its own. If no entry is marked as headline,
    /// all cases are headline cases.
    package var rounds = 1
    /// If false, figures mean nothing and are not shown, and cases may run at the same time.
    package var measures = true
    /// Whether an inconclusive case leaves the run undecided, unless its entry says otherwise.
    package var isRequired = true
    /// Whether instructions are counted. That takes one more process per measurement, which runs some fifty times as
    /// long.
    package var countsInstructions = false
    /// The budgets of counters that `assay gate` checks beside a baseline.
    package var budgets: [PlanBudget] = []

    /// Up to 1 PiB.
    static let memoryMegabytesRange = 0...1 << 30
    static let roundsRange = 1...1_000

    package init(name: String, file: String, summary: String = "") {
        self.name = name
        self.file = file
        self.summary = summary
    }

    /// Whether only some cases are measured in rounds, and the others once.
    var marksHeadlines: Bool { entries.contains(where: \.isHeadline) }

    /// Throws: `PlanError` with the place of the mistake. Names of scenarios, engines and data sets are not checked
    /// here, but when the plan is expanded.
    package static func read(_ text: String, name: String, file: String) throws(PlanError) -> Plan {
        var plan = Plan(name: name, file: file)
        let root = try JSONNode.read(text, file: file)
        let reader = PlanObject(
            try root.members(file), file: file, what: "a plan",
            known: [
                "summary", "question", "seed", "budget_seconds", "memory_megabytes", "hang_seconds", "engines",
                "durability", "rounds", "measures", "required", "budgets", "instructions", "cases",
            ])
        try reader.checkNames()
        plan.summary = try reader.string("summary") ?? ""
        plan.question = try reader.string("question") ?? ""
        plan.seed = try reader.integer("seed").map { Seed(UInt64($0)) } ?? plan.seed
        plan.budgetSeconds = try reader.positive("budget_seconds")
        plan.memoryMegabytes =
            try reader.integer("memory_megabytes", memoryMegabytesRange) ?? plan.memoryMegabytes
        plan.hangSeconds = try reader.positive("hang_seconds") ?? plan.hangSeconds
        plan.engines = try reader.names("engines") ?? []
        plan.durability = try reader.durability("durability") ?? plan.durability
        plan.rounds = try reader.integer("rounds", roundsRange) ?? plan.rounds
        plan.measures = try reader.flag("measures") ?? plan.measures
        plan.isRequired = try reader.flag("required") ?? plan.isRequired
        plan.countsInstructions = try reader.flag("instructions") ?? plan.countsInstructions
        if let budgets = reader.member("budgets") { plan.budgets = try PlanBudget.read(budgets.value, file: file) }
        guard let cases = reader.member("cases") else {
            throw PlanError(file: file, "a plan needs cases", at: root.position)
        }
        for node in try cases.value.elements(file) {
            plan.entries.append(try readEntry(node, file: file))
        }
        return plan
    }

    private static func readEntry(_ node: JSONNode, file: String) throws(PlanError) -> PlanEntry {
        let reader = PlanObject(
            try node.members(file), file: file, what: "a case",
            known: [
                "scenario", "engines", "except", "datasets", "sizes", "durability", "seeds", "parameters", "weight",
                "headline", "required",
            ])
        try reader.checkNames()
        guard let scenario = reader.member("scenario") else {
            throw PlanError(file: file, "a case needs a scenario", at: node.position)
        }
        var entry = PlanEntry(scenario: try scenario.value.name(file))
        entry.engines = try reader.names("engines")
        entry.except = try reader.names("except") ?? []
        if entry.engines != nil, let except = reader.member("except") {
            let text = "a case has either engines, or all of the plan except some"
            throw PlanError(file: file, text, at: except.namePosition)
        }
        entry.datasets = try reader.names("datasets")
        entry.durability = try reader.durability("durability")
        entry.weight = try reader.positive("weight") ?? 1
        entry.isHeadline = try reader.flag("headline") ?? false
        entry.isRequired = try reader.flag("required")
        entry.sizes = try reader.integers("sizes")
        entry.seeds = try reader.integers("seeds")?.map { Seed(UInt64($0)) }
        if let parameters = reader.member("parameters") {
            for member in try parameters.value.members(file) {
                var values: [PlanName] = []
                for value in try member.value.list() { values.append(try value.scalar(file)) }
                entry.parameters.append(
                    PlanParameter(name: PlanName(member.name, at: member.namePosition), values: values))
            }
        }
        return entry
    }
}

/// Typed access to the members of an object in a file that people write: a plan, a case file.
package struct PlanObject {
    private let members: [JSONNode.Member]
    private let file: String
    private let what: String
    private let known: [String]

    package init(_ members: [JSONNode.Member], file: String, what: String, known: [String]) {
        self.members = members
        self.file = file
        self.what = what
        self.known = known
    }

    package func checkNames() throws(PlanError) {
        for member in members where !known.contains(member.name) {
            let text = NearestName.complaint("key", member.name, among: known)
            throw PlanError(file: file, "\(text) in \(what)", at: member.namePosition)
        }
    }

    package func member(_ name: String) -> JSONNode.Member? {
        members.first { $0.name == name }
    }

    package func string(_ name: String) throws(PlanError) -> String? {
        guard let member = member(name) else { return nil }
        return try member.value.name(file).text
    }

    package func names(_ name: String) throws(PlanError) -> [PlanName]? {
        guard let member = member(name) else { return nil }
        var names: [PlanName] = []
        for node in try member.value.list() { names.append(try node.name(file)) }
        return names
    }

    package func integers(_ name: String) throws(PlanError) -> [Int]? {
        guard let member = member(name) else { return nil }
        var numbers: [Int] = []
        for node in try member.value.list() { numbers.append(try node.integer(file)) }
        return numbers
    }

    package func integer(_ name: String) throws(PlanError) -> Int? {
        try member(name)?.value.integer(file)
    }

    package func integer(_ name: String, _ range: ClosedRange<Int>) throws(PlanError) -> Int? {
        guard let member = member(name) else { return nil }
        let number = try member.value.integer(file)
        guard range.contains(number) else {
            throw PlanError(
                file: file, "\(name) needs a number from \(range.lowerBound) to \(range.upperBound)",
                at: member.value.position)
        }
        return number
    }

    package func flag(_ name: String) throws(PlanError) -> Bool? {
        guard let member = member(name) else { return nil }
        guard case .bool(let flag) = member.value.content else {
            throw PlanError(file: file, "\(name) needs true or false", at: member.value.position)
        }
        return flag
    }

    package func positive(_ name: String) throws(PlanError) -> Double? {
        guard let member = member(name) else { return nil }
        guard let number = member.value.number, number > 0, number <= 1e9 else {
            throw PlanError(
                file: file, "\(name) needs a number above 0, up to 10^9", at: member.value.position)
        }
        return number
    }

    package func durability(_ name: String) throws(PlanError) -> [DurabilityClass]? {
        guard let names = try names(name) else { return nil }
        var classes: [DurabilityClass] = []
        for name in names {
            guard let durability = DurabilityClass(rawValue: name.text) else {
                let known = DurabilityClass.allCases.map(\.rawValue)
                throw PlanError(
                    file: file, NearestName.complaint("durability class", name.text, among: known), at: name.position)
            }
            classes.append(durability)
        }
        return classes
    }
}

extension JSONNode {
    package func members(_ file: String) throws(PlanError) -> [JSONNode.Member] {
        guard case .object(let members) = content else {
            throw PlanError(file: file, "expected an object", at: position)
        }
        return members
    }

    package func elements(_ file: String) throws(PlanError) -> [JSONNode] {
        guard case .array(let elements) = content else {
            throw PlanError(file: file, "expected a list", at: position)
        }
        return elements
    }

    /// The elements of a list; a single value counts as a list of one.
    package func list() throws(PlanError) -> [JSONNode] {
        guard case .array(let elements) = content else { return [self] }
        return elements
    }

    package func name(_ file: String) throws(PlanError) -> PlanName {
        guard case .string(let text) = content else { throw PlanError(file: file, "expected a text", at: position) }
        return PlanName(text, at: position)
    }

    package func integer(_ file: String) throws(PlanError) -> Int {
        guard let number, number >= 0, let integer = Int(exactly: number) else {
            throw PlanError(file: file, "expected a whole number from 0", at: position)
        }
        return integer
    }

    /// A text, a number or a boolean as text: the value of a parameter.
    package func scalar(_ file: String) throws(PlanError) -> PlanName {
        switch content {
        case .string(let text): return PlanName(text, at: position)
        case .bool(let flag): return PlanName(flag ? "true" : "false", at: position)
        case .integer(let number): return PlanName(String(number), at: position)
        case .real(let number):
            return PlanName(Int(exactly: number).map { String($0) } ?? number.description, at: position)
        default: throw PlanError(file: file, "expected a text or a number", at: position)
        }
    }
}
