import RunRecords
import Seeds

/// One measurement of a run: a case, the round, and the side.
package struct PlannedTurn: Sendable, Hashable {
    /// Index of the case in the run.
    package var index: Int
    package var turn: Turn

    package init(index: Int, turn: Turn = Turn()) {
        self.index = index
        self.turn = turn
    }
}

/// The order in which the cases of a run are measured.
///
/// The cases of a comparison (headlines of the plan) are measured in rounds. A round measures each of them once, in a
/// process of its own, and one engine of each comparison twice. The rounds are spread over the run, so that they sample
/// the machine at different times. Within a round the engines of a comparison directly follow one another, in a random
/// order by the seed, so that a disturbance affects all of them. Cases that are measured once follow the rounds of the
/// first look, in the order of the plan; further rounds take the remaining time.
package enum RunOrder {
    /// The turns of some rounds.
    /// - Parameter comparisons: the measured ones, each as the indexes of its cases.
    package static func turns(
        _ cases: [PlannedCase], _ comparisons: [[Int]], rounds: Range<Int>, seed: Seed
    ) -> [PlannedTurn] {
        rounds.flatMap { round -> [PlannedTurn] in
            // Seeded per round: which comparisons a round has depends on earlier results.
            var random = RandomStream(seed.derived("order of round \(round)"))
            return random.permutation(of: comparisons.count).flatMap { place -> [PlannedTurn] in
                let sides = comparisons[place].flatMap { index -> [PlannedTurn] in
                    let measured = PlannedTurn(index: index, turn: Turn(round: round))
                    let control = PlannedTurn(index: index, turn: Turn(round: round, side: .control))
                    return cases[index].hasControl ? [measured, control] : [measured]
                }
                return random.permutation(of: sides.count).map { sides[$0] }
            }
        }
    }

    /// The turns of the cases that are measured once.
    package static func once(_ cases: [PlannedCase]) -> [PlannedTurn] {
        cases.indices.filter { !cases[$0].isCompared }.map { PlannedTurn(index: $0) }
    }

    /// Chooses, by the seed, the engine of each comparison that runs as two sides.
    package static func chooseControls(_ cases: inout [PlannedCase], seed: Seed) {
        var random = RandomStream(seed.derived("controls"))
        for comparison in comparisons(cases) {
            cases[comparison[random.below(comparison.count)]].hasControl = true
        }
    }

    /// Indexes of the cases that are compared with one another: they differ only in the engine.
    package static func comparisons(_ cases: [PlannedCase]) -> [[Int]] {
        var order: [String] = []
        var members: [String: [Int]] = [:]
        for (index, planned) in cases.enumerated() where planned.isCompared {
            var subject = planned.test
            subject.engine = ""
            let key = subject.canonicalText
            if members[key] == nil { order.append(key) }
            members[key, default: []].append(index)
        }
        return order.compactMap { members[$0] }
    }
}

extension PlannedCase {
    /// Whether it is measured in rounds.
    package var isCompared: Bool { isHeadline && verdict == nil }
}
