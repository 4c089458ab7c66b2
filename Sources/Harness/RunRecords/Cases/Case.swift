import JSONText
import Seeds

/// The family of a scenario: the kind of question that it answers.
package enum Family: String, JSONForm, Sendable, CaseIterable {
    case workload, concurrency, growth, corruption, crash, invalidation, migration, relations, queries
    /// Scenarios that break the harness on purpose. They are in no list, and run only if they are named.
    case planted
}

/// Which committed transactions survive a power failure. Results of different durability classes are never compared.
package enum DurabilityClass: String, JSONForm, Sendable, CaseIterable {
    /// Every commit that returned survives.
    case full
    /// A prefix of the commits survives, and no transaction is torn.
    case periodic
    /// Nothing is promised after a power failure.
    case none
}

/// A named value that changes what a scenario does.
package struct CaseParameter: NamedText, Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// One combination of a plan's values: what a worker process runs.
package struct Case: Hashable, Sendable {
    package var scenario: String
    package var family: Family
    package var engine: String
    /// Empty if the scenario makes its own data.
    package var dataset: String
    /// Rows of the data set's main table; 0 if there is no data set.
    package var size: Int
    /// Ascending by name. All parameters of the scenario, also those with default values.
    package private(set) var parameters: [CaseParameter]
    package var seed: Seed
    package var durability: DurabilityClass

    package init(
        scenario: String, family: Family, engine: String, dataset: String, size: Int, parameters: [CaseParameter],
        seed: Seed, durability: DurabilityClass
    ) {
        self.scenario = scenario
        self.family = family
        self.engine = engine
        self.dataset = dataset
        self.size = size
        self.parameters = parameters.sorted { $0.name < $1.name }
        self.seed = seed
        self.durability = durability
    }

    /// 12 hexadecimal digits that depend on this case alone: they stay the same when a plan gets other cases.
    package var id: String {
        StableHash.identifier(of: canonicalText)
    }

    /// Everything that the id depends on, in one line. Each field has its name, so that no two cases have the same
    /// text.
    package var canonicalText: String {
        let list = parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        return "scenario=\(scenario);family=\(family.rawValue);engine=\(engine);dataset=\(dataset);size=\(size);"
            + "durability=\(durability.rawValue);seed=\(seed);parameters=\(list)"
    }

    /// The parameters for people, and for the CSV column `params`: `threads=4 policy=never`.
    package var parameterText: String {
        parameters.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    }

    package func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }
}

extension Case: JSONRecord {
    package static let blank = Case(
        scenario: "", family: .workload, engine: "", dataset: "", size: 0, parameters: [], seed: Seed(0),
        durability: .full)

    package static let fields: [JSONField<Case>] = [
        .member("scenario", \.scenario), .member("family", \.family), .member("engine", \.engine),
        .member("dataset", \.dataset), .member("size", \.size), .member("durability", \.durability),
        .member("seed", \.seed.rawValue), .texts("parameters", \.storedParameters),
    ]

    private var storedParameters: [CaseParameter] {
        get { parameters }
        set { parameters = newValue.sorted { $0.name < $1.name } }
    }
}
