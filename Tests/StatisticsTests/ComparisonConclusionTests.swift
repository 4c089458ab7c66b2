import Seeds
import Statistics
import Testing

@Suite struct ComparisonConclusionTests {
    private func batch(_ finding: SideComparison.Finding) throws -> SideComparison {
        let factor: Double =
            switch finding {
            case .slower: 0.8
            case .faster: 1.2
            case .same, .inconclusive: 1
            }
        var random = RandomStream(Seed(9))
        let pairs = (0..<20).map { index in
            (a: 100.0, b: 100 * factor * (finding == .inconclusive ? (index.isMultiple(of: 2) ? 0.8 : 1.25) : 1))
        }
        let batch = try #require(SideComparison(pairs, higherIsBetter: true, threshold: 0.03, random: &random))
        try #require(batch.finding == finding)
        return batch
    }

    @Test("every pair of batches: a difference needs two equal findings")
    func pairs() throws {
        for first in SideComparison.Finding.allCases {
            for second in SideComparison.Finding.allCases {
                let conclusion = ComparisonConclusion([try batch(first), try batch(second)], confirms: true)
                let isFlagged = first == .slower || first == .faster
                let expected = isFlagged && first != second ? .inconclusive : first
                #expect(conclusion.finding == expected, "\(first), then \(second)")
                #expect(conclusion.isDifference == (isFlagged && first == second))
                #expect(ComparisonConclusion([try batch(first)], confirms: false).finding == first)
            }
            let alone = ComparisonConclusion([try batch(first)], confirms: true)
            #expect(!alone.isDifference, "\(first) alone")
            #expect(ComparisonConclusion([try batch(first), nil], confirms: true) == alone)
        }
        #expect(ComparisonConclusion([], confirms: true).reason == "fewer than 10 pairs")
        #expect(ComparisonConclusion([nil], confirms: false).finding == .inconclusive)
    }

    @Test("with a differing control nothing is claimed, with any other every finding stands")
    func control() throws {
        for finding in SideComparison.Finding.allCases {
            let conclusion = ComparisonConclusion([try batch(finding), try batch(finding)], confirms: true)
            for other in SideComparison.Finding.allCases {
                let control = ComparisonConclusion([try batch(other), try batch(other)], confirms: true)
                let said = conclusion.beside(control: control, of: "commit")
                if control.isDifference {
                    #expect(said.finding == .inconclusive)
                    #expect(finding == .inconclusive || said.reason.hasSuffix("A against itself differs in commit"))
                } else {
                    #expect(said == conclusion)
                }
            }
        }
    }
}
