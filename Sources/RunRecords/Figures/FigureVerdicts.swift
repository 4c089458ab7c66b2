import Files
import JSONText

/// The comparison of one figure with a control, which is a program without the harness: `assay verify-figures`.
package struct FigureVerdict: Hashable, Sendable {
    /// The ratios that are allowed: a figure of the harness may differ from the control's by a tenth.
    package static let bounds = 0.9...1.1

    /// The name in the list of controls.
    package var name: String
    /// The scenario's slug.
    package var workload: String
    package var engine: String
    /// The parameters of the case that was measured.
    package var parameters: [CaseParameter]
    package var metric: String
    package var label: String
    /// The harness's figure as a multiple of the control's; above 1 is better.
    package var ratio: Double

    package init(
        name: String, workload: String, engine: String, parameters: [CaseParameter], metric: String, label: String,
        ratio: Double
    ) {
        self.name = name
        self.workload = workload
        self.engine = engine
        self.parameters = parameters
        self.metric = metric
        self.label = label
        self.ratio = ratio
    }

    package var isOff: Bool { !Self.bounds.contains(ratio) }

    /// What a verdict is about: a later verdict about the same replaces an earlier one.
    private var subject: [String] { [name, engine, metric, label] }

    fileprivate func replaces(_ other: FigureVerdict) -> Bool { subject == other.subject }
}

/// Verdicts on figures, by build and machine: they say nothing about other builds and machines.
package struct FigureVerdicts: Equatable, Sendable {
    /// Version of this format.
    package static let format = "assay-figures/1"

    /// The file, beside the directories of runs, relative to the working directory.
    package static let file = "Reports/verified-figures.json"

    private struct Entry: Equatable, Sendable {
        var build: String
        var machine: Machine
        var figures: [FigureVerdict]
    }

    private var entries: [Entry] = []

    package init() {}

    /// The latest verdicts for this build on this machine.
    package func figures(build: String, machine: Machine) -> [FigureVerdict] {
        entries.first { $0.build == build && $0.machine.isSame(as: machine) }?.figures ?? []
    }

    /// Replaces earlier verdicts on the same figures.
    package mutating func note(_ figures: [FigureVerdict], build: String, machine: Machine) {
        guard let place = entries.firstIndex(where: { $0.build == build && $0.machine.isSame(as: machine) }) else {
            entries.append(Entry(build: build, machine: machine, figures: figures))
            return
        }
        entries[place].figures.removeAll { old in figures.contains { $0.replaces(old) } }
        entries[place].figures += figures
    }

    /// Empty if there is no such file. Throws: `JSONError` and `JSONShapeError` if the file has other contents.
    package static func read(_ path: String) throws -> FigureVerdicts {
        guard FileTree.exists(path) else { return FigureVerdicts() }
        let json = try JSONObjectReader(try JSONReader.read(try FileTree.readBytes(path)), path: path)
        guard try json.string("format") == format else {
            throw JSONShapeError(path: path + ".format", expected: format)
        }
        var verdicts = FigureVerdicts()
        for entry in try json.objects("builds") {
            var figures: [FigureVerdict] = []
            for figure in try entry.objects("figures") { figures.append(try FigureVerdict(json: figure)) }
            verdicts.entries.append(
                Entry(
                    build: try entry.string("build"), machine: try Machine(json: try entry.object("machine")),
                    figures: figures))
        }
        return verdicts
    }

    package func write(_ path: String) throws(FileTreeError) {
        let builds = entries.map { entry in
            JSONValue.object([
                JSONMember("build", .string(entry.build)), JSONMember("machine", entry.machine.json),
                JSONMember("figures", .array(entry.figures.map(\.json))),
            ])
        }
        let value = JSONValue.object([
            JSONMember("format", .string(Self.format)), JSONMember("builds", .array(builds)),
        ])
        try FileTree.replaceText(path, value.text + "\n")
    }
}

extension FigureVerdict {
    fileprivate var json: JSONValue {
        .object([
            JSONMember("name", .string(name)), JSONMember("workload", .string(workload)),
            JSONMember("engine", .string(engine)),
            JSONMember("parameters", .object(parameters.map { JSONMember($0.name, .string($0.value)) })),
            JSONMember("metric", .string(metric)), JSONMember("label", .string(label)),
            JSONMember("ratio", .real(ratio)),
        ])
    }

    fileprivate init(json: JSONObjectReader) throws(JSONShapeError) {
        let reader = try json.object("parameters")
        var parameters: [CaseParameter] = []
        if case .object(let members) = reader.value {
            for member in members {
                parameters.append(CaseParameter(name: member.name, value: try reader.string(member.name)))
            }
        }
        self.init(
            name: try json.string("name"), workload: try json.string("workload"), engine: try json.string("engine"),
            parameters: parameters, metric: try json.string("metric"), label: try json.string("label"),
            ratio: try json.real("ratio"))
    }
}
