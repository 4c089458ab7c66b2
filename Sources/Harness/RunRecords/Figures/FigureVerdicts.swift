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
package struct FigureVerdicts: JSONRecord, Equatable {
    /// Version of this format.
    package static let format = "assay-figures/1"

    /// The file, beside the directories of runs, relative to the working directory.
    package static let file = "Reports/verified-figures.json"

    package static let blank = FigureVerdicts()
    package static let fields: [JSONField<FigureVerdicts>] = [
        .constant("format", format), .member("builds", \.entries),
    ]

    private struct Entry: JSONRecord, Equatable {
        var build: String
        var machine: Machine
        var figures: [FigureVerdict]

        static let blank = Entry(build: "", machine: .blank, figures: [])
        static let fields: [JSONField<Entry>] = [
            .member("build", \.build), .member("machine", \.machine), .member("figures", \.figures),
        ]
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
        return try FigureVerdicts(document: try FileTree.readBytes(path), named: path)
    }

    package func write(_ path: String) throws(FileTreeError) { try FileTree.replaceText(path, json.text + "\n") }
}

extension FigureVerdict: JSONRecord {
    package static let blank = FigureVerdict(
        name: "", workload: "", engine: "", parameters: [], metric: "", label: "", ratio: 1)

    package static let fields: [JSONField<FigureVerdict>] = [
        .member("name", \.name), .member("workload", \.workload), .member("engine", \.engine),
        .texts("parameters", \.parameters), .member("metric", \.metric), .member("label", \.label),
        .member("ratio", \.ratio),
    ]
}
