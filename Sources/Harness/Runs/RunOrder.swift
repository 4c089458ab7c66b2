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
/// order that the seed gives, so that what disturbs one disturbs the others. Then come the cases that are measured
/// once, in the order of the plan.
package enum RunOrder {
    package static func turns(_ cases: [PlannedCase], rounds: Int, seed: Seed) -> [PlannedTurn] {
        var random = RandomStream(seed.derived("order of the rounds"))
        var turns: [PlannedTurn] = []
        let comparisons = comparisons(cases)
        for round in 0..<rounds {
            for place in random.permutation(of: comparisons.count) {
                let sides = comparisons[place].flatMap { index -> [PlannedTurn] in
                    let measured = PlannedTurn(index: index, turn: Turn(round: round))
                    let control = PlannedTurn(index: index, turn: Turn(round: round, side: .control))
                    return cases[index].hasControl ? [measured, control] : [measured]
                }
                turns += random.permutation(of: sides.count).map { sides[$0] }
            }
        }
        let once = cases.indices.filter { !(cases[$0].isHeadline && cases[$0].verdict == nil) }
        return turns + once.map { PlannedTurn(index: $0) }
    }

    /// Chooses, by the seed, the engine of each comparison that runs as two sides.
    package static func chooseControls(_ cases: inout [PlannedCase], seed: Seed) {
        var random = RandomStream(seed.derived("controls"))
        for comparison in comparisons(cases) {
            cases[comparison[random.below(comparison.count)]].hasControl = true
        }
    }

    /// Indexes of the cases that are compared with one another: what differs between them is the engine alone.
    private static func comparisons(_ cases: [PlannedCase]) -> [[Int]] {
        var order: [String] = []
        var members: [String: [Int]] = [:]
        for (index, planned) in cases.enumerated() where planned.isHeadline && planned.verdict == nil {
            var subject = planned.test
            subject.engine = ""
            let key = subject.canonicalText
            if members[key] == nil { order.append(key) }
            members[key, default: []].append(index)
        }
        return order.compactMap { members[$0] }
    }
}
