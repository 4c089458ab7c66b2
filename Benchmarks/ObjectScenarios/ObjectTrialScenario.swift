import Harness
import RunRecords
import Strata

/// A scenario of small trials, each in a database of its own, that no policy decides about.
protocol ObjectTrialScenario: Scenario {
    associatedtype Way: RawRepresentable, CaseIterable where Way.RawValue == String

    /// A trial that is right when the process ends with a text: misuse that no signature can report.
    static func alwaysTraps(_ way: Way) -> Bool
    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding
}

extension ObjectTrialScenario {
    var requires: Set<Capability> { [.objects] }

    static func alwaysTraps(_ way: Way) -> Bool { false }
    static var names: [String] { Way.allCases.map(\.rawValue) }

    func run(_ context: CaseContext) throws {
        try PolicyTrials(context, policy: .substitute).run(
            Self.names, mayTrap: { _ in false }, alwaysTraps: { Way(rawValue: $0).map(Self.alwaysTraps) ?? false },
            trial: Self.trial)
    }

    static func trial(_ name: String, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        guard let way = Way(rawValue: name) else { throw HarnessError("no such trial: \(name)") }
        return try trial(way, place)
    }
}
