import Harness
import RunRecords
import Strata

/// A scenario of small trials, each in a database of its own, to which no policy applies.
protocol ObjectTrialScenario: Scenario {
    associatedtype Way: RawRepresentable, CaseIterable where Way.RawValue == String

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding
}

extension ObjectTrialScenario {
    var requires: Set<Capability> { [.objects] }

    static var names: [String] { Way.allCases.map(\.rawValue) }

    func run(_ context: CaseContext) throws {
        try PolicyTrials(context, policy: .substitute).run(Self.names, trial: Self.trial)
    }

    static func trial(_ name: String, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        guard let way = Way(rawValue: name) else { throw HarnessError("no such trial: \(name)") }
        return try trial(way, place)
    }
}
