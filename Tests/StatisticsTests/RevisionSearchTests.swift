import Seeds
import Statistics
import Testing

@Suite struct RevisionSearchTests {
    /// Searches a line with a known first bad revision. Returns the conclusion, and the number of measured revisions.
    private func search(
        count: Int, first: Int, skipped: Set<Int> = []
    ) throws -> (conclusion: RevisionSearch.Conclusion, steps: Int) {
        var search = RevisionSearch(count: count)
        var steps = 0
        while let place = search.next {
            #expect(place < count - 1, "the end is known")
            let bound = search.stepsLeft
            search.mark(place, skipped.contains(place) ? .skipped : place >= first ? .bad : .good)
            steps += 1
            if skipped.isEmpty { #expect(search.stepsLeft < bound) }
            try #require(steps <= count)
        }
        return (try #require(search.conclusion), steps)
    }

    @Test("every place of every short line is found, in the steps of a binary search")
    func everyPlace() throws {
        for count in 1...40 {
            let bound = RevisionSearch(count: count).stepsLeft
            #expect(1 << bound >= count && (bound == 0 || 1 << (bound - 1) < count))
            for first in 0..<count {
                let found = try search(count: count, first: first)
                #expect(found.conclusion == .first(first))
                #expect(found.steps <= bound, "\(count) \(first)")
            }
        }
    }

    @Test("with undecidable places the range is the smallest that the others allow")
    func skipped() throws {
        var random = RandomStream(Seed(5))
        for _ in 0..<2_000 {
            let count = 1 + random.below(20)
            let first = random.below(count)
            let silent = Set((0..<count - 1).filter { _ in random.chance(1, in: 3) })
            let (conclusion, _) = try search(count: count, first: first, skipped: silent)
            let low = (0..<first).last { !silent.contains($0) }.map { $0 + 1 } ?? 0
            let high = (first..<count).first { !silent.contains($0) } ?? count - 1
            #expect(conclusion == (low == high ? .first(low) : .among(low...high)), "\(count) \(first) \(silent)")
        }
    }

    @Test("the marks alone determine the next step, so a resumed search continues identically")
    func restarted() {
        var search = RevisionSearch(count: 30)
        var marks: [(Int, RevisionMark)] = []
        while let place = search.next {
            var again = RevisionSearch(count: 30)
            for (place, mark) in marks { again.mark(place, mark) }
            #expect(again == search && again.next == place)
            marks.append((place, place.isMultiple(of: 7) ? .skipped : place > 17 ? .bad : .good))
            search.mark(place, marks[marks.count - 1].1)
        }
        #expect(search.conclusion == .first(18))
    }

    @Test("a revision gets the mark of its finding beside either end, and none if the finding is inconclusive")
    func marks() throws {
        #expect(SideComparison.Finding.allCases.map { RevisionMark(besideGood: $0) } == [.bad, .good, .good, nil])
        func ends(_ factor: Double) throws -> SideComparison {
            var random = RandomStream(Seed(1))
            let pairs = [(a: Double, b: Double)](repeating: (a: 100, b: 100 * factor), count: 20)
            return try #require(SideComparison(pairs, higherIsBetter: true, threshold: 0.03, random: &random))
        }
        let (far, near) = (try ends(0.8), try ends(0.95))
        #expect(
            SideComparison.Finding.allCases.map { RevisionMark(besideBad: $0, ends: far) } == [.good, .bad, .bad, nil])
        // A revision as slow as a bad end that is barely slower than the good one may be on either side.
        #expect(RevisionMark(besideBad: .same, ends: near) == nil)
        #expect(RevisionMark(besideBad: .slower, ends: near) == .good)
    }
}

/// Whole searches on a machine with known noise, by sessions of `assay ab`.
@Suite struct SimulatedSearchTests {
    struct Outcome {
        var right = 0
        /// A range that contains the right revision.
        var ranges = 0
        var wrong = 0
        var endless = 0
    }

    /// - Parameter slowdown: from the first bad revision on.
    static func searches(spread: Double, slowdown: Double, tries: Int) throws -> Outcome {
        var outcome = Outcome()
        var session = SimulatedSession(spread: spread)
        var random = RandomStream(Seed(8))
        for _ in 0..<tries {
            let count = 16
            let first = random.below(count)
            func time(_ place: Int) -> Double { place >= first ? slowdown : 1 }
            let ends = try session.run(slowdown: slowdown)
            guard ends.said.finding == .slower else {
                outcome.endless += 1
                continue
            }
            var search = RevisionSearch(count: count)
            while let place = search.next {
                let good = try session.run(slowdown: time(place))
                if let mark = RevisionMark(besideGood: good.said.finding) {
                    search.mark(place, mark)
                    continue
                }
                let bad = try session.run(slowdown: slowdown / time(place))
                let mark = RevisionMark(besideBad: bad.said.finding, ends: ends.firstBatch)
                search.mark(place, mark ?? .skipped)
            }
            switch search.conclusion {
            case .first(first): outcome.right += 1
            case .among(let range) where range.contains(first): outcome.ranges += 1
            default: outcome.wrong += 1
            }
        }
        return outcome
    }

    @Test(
        "the first slower revision is found, and a wrong one hardly ever named",
        .enabled(if: isRelease, "thousands of batches take minutes in debug"),
        arguments: [(0.05, 1.1, 97), (0.1, 1.25, 97), (0.1, 1.1, 75)])
    func found(spread: Double, slowdown: Double, least: Int) throws {
        let outcome = try Self.searches(spread: spread, slowdown: slowdown, tries: 100)
        #expect(outcome.right >= least, "\(outcome)")
        #expect(outcome.wrong <= 1, "\(outcome)")
    }

    @Test(
        "without a slowdown the search does not begin",
        .enabled(if: isRelease, "thousands of batches take minutes in debug"))
    func nothing() throws {
        let outcome = try Self.searches(spread: 0.1, slowdown: 1, tries: 100)
        #expect(outcome.endless == 100, "\(outcome)")
    }
}
