import Commands
import JSONText
import RunRecords

/// A figure that a program without the harness measures as well.
package struct ControlledFigure: Sendable {
    /// A sample of the scenario, and the member of the control's output line that has the same meaning.
    package struct Value: Sendable {
        package var metric: String
        package var label: String
        package var member: String
    }

    package var name: String
    /// The slug of the scenario, which is also the control's name for it.
    package var workload: String
    package var parameters: [CaseParameter]
    package var controlArguments: [String]
    /// The engines to compare on; nil for all engines that have a control.
    package var engines: [String]?
    /// The runs of the control for one figure.
    package var repeats: Int
    /// Whether the control makes its database in a run of its own before the measured one.
    package var isPrepared: Bool
    /// The rows of the data on both sides; nil for those of the command.
    package var rows: Int?
    package var values: [Value]
}

/// The control programs and the figures that they check: `figures.json5` of Benchmarks/Controls.
package struct ControlList: Sendable {
    /// By engine: the program, and the options that make it use this engine.
    package var programs: [(engine: String, words: [String])] = []
    package var figures: [ControlledFigure] = []

    /// Throws: `PlanError` with the place of the mistake.
    package static func read(_ text: String, file: String) throws(PlanError) -> ControlList {
        let root = try JSONNode.read(text, file: file)
        let reader = PlanObject(
            try root.members(file), file: file, what: "a list of controls", known: ["programs", "figures"])
        try reader.checkNames()
        guard let programs = reader.member("programs"), let figures = reader.member("figures") else {
            throw PlanError(file: file, "a list of controls needs programs and figures", at: root.position)
        }
        var list = ControlList()
        for program in try programs.value.members(file) {
            var words: [String] = []
            for word in try program.value.elements(file) { words.append(try word.name(file).text) }
            guard !words.isEmpty else { throw PlanError(file: file, "no program", at: program.value.position) }
            list.programs.append((program.name, words))
        }
        for node in try figures.value.elements(file) { list.figures.append(try readFigure(node, file)) }
        return list
    }

    private static func readFigure(_ node: JSONNode, _ file: String) throws(PlanError) -> ControlledFigure {
        let reader = PlanObject(
            try node.members(file), file: file, what: "a figure",
            known: ["workload", "name", "parameters", "control", "engines", "repeats", "prepares", "rows", "values"])
        try reader.checkNames()
        guard let workload = try reader.string("workload"), let values = reader.member("values") else {
            throw PlanError(file: file, "a figure needs a workload and values", at: node.position)
        }
        var parameters: [CaseParameter] = []
        if let member = reader.member("parameters") {
            for member in try member.value.members(file) {
                parameters.append(CaseParameter(name: member.name, value: try member.value.scalar(file).text))
            }
        }
        var figure = ControlledFigure(
            name: try reader.string("name") ?? workload, workload: workload, parameters: parameters,
            controlArguments: (try reader.names("control") ?? []).map(\.text),
            engines: try reader.names("engines")?.map(\.text), repeats: max(1, try reader.integer("repeats") ?? 1),
            isPrepared: reader.member("prepares") != nil, rows: try reader.integer("rows"), values: [])
        if let rows = figure.rows, rows < 1 { throw PlanError(file: file, "rows is 1 at the least", at: node.position) }
        for node in try values.value.elements(file) { figure.values.append(try readValue(node, file)) }
        return figure
    }

    private static func readValue(_ node: JSONNode, _ file: String) throws(PlanError) -> ControlledFigure.Value {
        let reader = PlanObject(
            try node.members(file), file: file, what: "a value", known: ["metric", "label", "member"])
        try reader.checkNames()
        guard let metric = try reader.string("metric"), let member = try reader.string("member") else {
            throw PlanError(file: file, "a value needs a metric and a member", at: node.position)
        }
        return ControlledFigure.Value(metric: metric, label: try reader.string("label") ?? "", member: member)
    }
}
