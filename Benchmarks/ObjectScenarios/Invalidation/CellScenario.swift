import Harness
import RunRecords
import Strata

/// A scenario of small trials, each run with a class with a primary key and one without.
protocol CellScenario: Scenario {
    associatedtype Way: RawRepresentable, CaseIterable where Way.RawValue == String

    /// The message with which the process must end, under either policy, if the trial is a misuse that no `throws` can
    /// report; nil if it must continue.
    static func trapText(_ way: Way) -> String?
    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding
}

extension CellScenario {
    var family: Family { .invalidation }
    var requires: Set<Capability> { [.objects] }
    var expects: Promise.Kind? { .safeDeletedAccess }
    var parameters: [ScenarioParameter] { [PolicyTrials.parameter] }

    static func trapText(_ way: Way) -> String? { nil }

    /// All trials: class, way.
    static var names: [String] {
        ["keyed", "plain"].flatMap { kind in Way.allCases.map { "\(kind),\($0.rawValue)" } }
    }

    func run(_ context: CaseContext) throws {
        try PolicyTrials(context).run(
            Self.names, alwaysTrapText: { Self.way($0).flatMap(Self.trapText) }, trial: Self.trial)
    }

    static func trial(_ name: String, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        guard let way = way(name) else { throw HarnessError("no such trial: \(name)") }
        return name.hasPrefix("keyed,")
            ? try trial(way, KeyedCell.self, place) : try trial(way, PlainCell.self, place)
    }

    private static func way(_ name: String) -> Way? {
        Way(rawValue: String(name.drop { $0 != "," }.dropFirst()))
    }
}

extension TrialPlace {
    /// A database of `count` cells, numbered from 0.
    func cells<C: ShownObject>(_ type: C.Type, count: Int) throws -> Realm {
        let realm = try realm([C.self])
        try realm.write {
            for number in 0..<count { realm.add(C.make(number)) }
        }
        return realm
    }

    /// The cell of that number.
    func cell<C: ShownObject>(_ number: Int, _ realm: Realm) throws -> C {
        guard let cell = C.first(number, in: realm) else { throw EngineError(.refused, "cell \(number) is not there") }
        return cell
    }

    /// Runs the body on another thread, with a Realm of its own, and waits for its end.
    func elsewhere<Output: Sendable>(
        _ realm: Realm, _ body: @escaping @Sendable (Realm) throws -> Output
    ) throws -> Output {
        let configuration = realm.configuration
        return try OtherThread.run { try body(try Realm(configuration: configuration)) }
    }
}
