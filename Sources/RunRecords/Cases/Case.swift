import Seeds

/// What question a scenario belongs to.
package enum Family: String, Sendable, CaseIterable {
    case workload, concurrency, growth, corruption, crash, invalidation, migration, relations, queries
    /// Scenarios that break the harness on purpose. Not listed, and run only when named.
    case planted
}

/// How much of what was committed survives a power cut. Results of different classes are never compared.
package enum DurabilityClass: String, Sendable, CaseIterable {
    /// Every commit that returned survives.
    case full
    /// A prefix of the commits survives, and nothing is torn.
    case periodic
    /// Nothing is promised after a power cut.
    case none
}

/// A named value that changes what a scenario does.
package struct CaseParameter: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// One line of a plan worked out: what a worker process runs.
package struct Case: Hashable, Sendable {
    package var scenario: String
    package var family: Family
    package var engine: String
    /// Empty when the scenario makes its own data.
    package var dataset: String
    /// Rows of the data set's main table; 0 when there is no data set.
    package var size: Int
    /// Ascending by name. All parameters of the scenario, those left at their default too.
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

    /// 12 hexadecimal digits that depend on this case alone, so that they stay when other cases are added to a plan.
    package var id: String {
        StableHash.identifier(of: canonicalText)
    }

    /// Everything the id depends on, in one line. The fields stand with their names, so that no two cases share it.
    package var canonicalText: String {
        let list = parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        return "scenario=\(scenario);family=\(family.rawValue);engine=\(engine);dataset=\(dataset);size=\(size);"
            + "durability=\(durability.rawValue);seed=\(seed);parameters=\(list)"
    }

    /// The parameters as people and the CSV column `params` read them: `threads=4 policy=never`.
    package var parameterText: String {
        parameters.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    }

    package func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }
}
