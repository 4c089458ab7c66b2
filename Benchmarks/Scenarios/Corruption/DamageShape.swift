import Harness
import RunRecords

/// The history of a database before it is damaged.
enum DamageShape: String, CaseIterable {
    /// Loaded and closed.
    case clean
    /// Loaded and closed, then opened again; one-row transactions were committed, and the files were copied while they
    /// were open, as a kill leaves them: an open must replay the log.
    case log
    /// Loaded and closed, then half of the rows deleted, in contiguous runs, and closed: it has free pages.
    case deleted
    /// Loaded and closed, then half of the rows deleted, and compacted.
    case compacted

    static let parameter = ScenarioParameter(
        "shape", default: DamageShape.clean.rawValue, allowed: allCases.map(\.rawValue),
        summary: "closed; killed with its log present; half of the rows deleted; the same and compacted")

    /// The parameters of a scenario that damages one place per trial. 0 trials stand for every place.
    static func parameters(trials summary: String) -> [ScenarioParameter] {
        [
            parameter,
            ScenarioParameter("trials", .effort, default: 200, range: 0...1_000_000, summary: summary),
        ]
    }

    init(of test: Case) throws {
        guard let shape = test.parameter("shape").flatMap(DamageShape.init) else {
            throw HarnessError("scenario \(test.scenario) has no such shape")
        }
        self = shape
    }

    /// Why the engine cannot make this shape; nil where it can.
    func reasonToDecline(_ engine: any Engine) -> String? {
        let needed: Set<Capability> =
            switch self {
            case .clean, .log: []
            case .deleted: [.deletions]
            case .compacted: [.deletions, .compaction]
            }
        let missing = needed.subtracting(engine.capabilities).map(\.rawValue).sorted()
        return missing.isEmpty ? nil : "\(engine.name) lacks \(missing.joined(separator: ", ")) for this shape"
    }
}
