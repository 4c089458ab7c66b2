import RunRecords
import Seeds

/// One measurement of a run: its case, its round, and its side.
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
/// the machine at different times. Within a round, the measurements of a comparison follow one another directly, in an
/// order that the seed draws, so that a disturbance affects all of them. Cases that are measured once follow the rounds
/// of the first look, in the order of the plan; further rounds take the remaining time.
package enum RunOrder {
    /// The measurements of some rounds.
    /// - Parameter comparisons: those to measure, each as the indexes of its cases.
    package static func turns(
        _ cases: [PlannedCase], _ comparisons: [[Int]], rounds: Range<Int>, seed: Seed
    ) -> [PlannedTurn] {
        rounds.flatMap { round -> [PlannedTurn] in
            // Each round has a random stream of its own, since earlier results decide which comparisons a round has.
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

    /// The measurements of the cases that are measured once.
    package static func once(_ cases: [PlannedCase]) -> [PlannedTurn] {
        cases.indices.filter { !cases[$0].isCompared }.map { PlannedTurn(index: $0) }
    }

    /// Chooses, by the seed, the engine of each comparison that is measured as two sides.
    package static func chooseControls(_ cases: inout [PlannedCase], seed: Seed) {
        var random = RandomStream(seed.derived("controls"))
        for comparison in comparisons(cases) {
            cases[comparison[random.below(comparison.count)]].hasControl = true
        }
    }

    /// The comparisons, each as the indexes of its cases, which differ only in the engine.
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
