import RunRecords
import Seeds

/// One measurement that a run makes: a case, which of its rounds, and which side.
package struct PlannedTurn: Sendable, Hashable {
    /// Into the cases of the run.
    package var index: Int
    package var turn: Turn

    package init(index: Int, turn: Turn = Turn()) {
        self.index = index
        self.turn = turn
    }
}

/// In which order the cases of a run are measured.
///
/// Cases of a comparison (a plan marks them as headline) are measured in rounds. A round measures each of them once,
/// in a process of its own, and one engine of each comparison twice. All rounds are spread over the run, so that they
/// see the machine at different times; within a round the engines of a comparison follow one another directly, in an
/// order that the seed gives, so that what disturbs one disturbs the others. The cases that are measured once, in the
/// order of the plan, come after the rounds of the first look: further rounds take what time they leave.
package enum RunOrder {
    /// The turns of some rounds.
    /// - Parameter comparisons: those that are measured, each by the indexes of its cases.
    package static func turns(
        _ cases: [PlannedCase], _ comparisons: [[Int]], rounds: Range<Int>, seed: Seed
    ) -> [PlannedTurn] {
        rounds.flatMap { round -> [PlannedTurn] in
            // Of each round alone: which comparisons it has depends on what was decided before.
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

    /// Indexes of the cases that are compared with one another: what differs between them is the engine alone.
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
