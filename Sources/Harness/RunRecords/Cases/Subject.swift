import Seeds

/// All of a case but its engine. Engines are compared on the same subject.
package struct Subject: Hashable, Sendable {
    package var family: Family
    package var scenario: String
    package var dataset: String
    package var size: Int
    package var parameters: [CaseParameter]
    package var seed: Seed
    package var durability: DurabilityClass

    package init(_ test: Case) {
        family = test.family
        scenario = test.scenario
        dataset = test.dataset
        size = test.size
        parameters = test.parameters
        seed = test.seed
        durability = test.durability
    }
}

extension Subject {
    /// The parameters that set how much data a scenario makes itself; a scenario has at most one of them.
    private static let extents = ["rows", "elements", "lists"]

    private var extentParameter: CaseParameter? {
        dataset.isEmpty ? parameters.first { Self.extents.contains($0.name) } : nil
    }

    /// The amount of data that the case works on; 0 if it is unknown.
    package var extent: Int { size > 0 ? size : extentParameter.flatMap { Int($0.value) } ?? 0 }

    /// The unit of `extent`, in the singular.
    package var extentUnit: String { extentParameter.map { String($0.name.dropLast()) } ?? "row" }

    /// The subject without its amount of data: equal for all sizes.
    package var withoutExtent: Subject {
        var subject = self
        subject.size = 0
        subject.parameters = parameters.map {
            $0 == extentParameter ? CaseParameter(name: $0.name, value: "") : $0
        }
        return subject
    }
}
