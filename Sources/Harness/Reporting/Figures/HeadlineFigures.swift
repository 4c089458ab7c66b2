import RunRecords
import Statistics

/// The first statement of a report about one engine: its figures of rounds, each as a ratio to the best peer.
struct HeadlineFigures {
    struct Line {
        var name: String
        /// The name without the names of parameters, for narrow places.
        var shortName: String
        var figures: MeasureRow
        var ratio: FigureRatio
    }

    let engine: String
    /// The best ratio first; never empty. Without doubtful figures.
    let lines: [Line]
    /// Figures that were measured once, and claim nothing, the worst ratio last.
    let once: [Line]
    /// The number of doubtful figures: those that differ from their control program's.
    let doubtfulCount: Int
    /// The number of figures of rounds beside an engine whose speed the report makes no claim about.
    let withheldCount: Int

    /// The number of figures of which the report claims nothing: measured once, doubtful, or withheld.
    var unclaimedCount: Int { once.count + doubtfulCount + withheldCount }

    func count(_ decision: Decision) -> Int {
        lines.filter { $0.ratio.decision == decision }.count
    }

    /// `; 2 figures are doubtful`; may be empty.
    func doubtfulWords(gap: String = Figure.gap) -> String {
        if doubtfulCount == 0 { return "" }
        return "; \(Figure.count(doubtfulCount, "figure", gap: gap)) \(doubtfulCount == 1 ? "is" : "are") doubtful"
    }

    /// `ahead in 40, behind in 12, same in 3, open in 5 of 60 figures`.
    func standing(gap: String = Figure.gap) -> String {
        let parts = Decision.allCases.map { "\($0.rawValue) in \(Figure.grouped(count($0), gap: gap))" }
        return parts.joined(separator: ", ") + " of " + Figure.count(lines.count, "figure", gap: gap)
            + doubtfulWords(gap: gap) + withheldWords(gap: gap)
    }

    /// `; 40 figures, measured once, claim nothing; the worst is commit: 9.2 times as slow as LMDB`; may be empty.
    func onceWords(gap: String = Figure.gap) -> String {
        guard let worst = once.last else { return "" }
        let claim = once.count == 1 ? "claims nothing; it is" : "claim nothing; the worst is"
        return "; \(Figure.count(once.count, "figure", gap: gap)), measured once, \(claim) "
            + "\(worst.name): \(worst.ratio.sentence(worst.figures.measure))"
    }

    /// `; no claim in 4 figures beside a library with assertions`; may be empty.
    func withheldWords(gap: String = Figure.gap) -> String {
        if withheldCount == 0 { return "" }
        return "; no claim in \(Figure.count(withheldCount, "figure", gap: gap)) beside a library with assertions"
    }

    /// The best and the worst figure. The worst is named whatever the others are.
    func range(gap: String = Figure.gap) -> String {
        guard let best = lines.first, let worst = lines.last else { return "" }
        func place(_ line: Line) -> String { "\(line.ratio.sentence(line.figures.measure)) (\(line.name))" }
        return "best \(place(best)), worst \(place(worst))"
    }
}

extension RunDigest {
    /// The engines with figures, without the reference in memory: `own` are Strata's, the storage engine first, and
    /// `peers` the others in the order of the run. A run without Strata is about its first engine.
    var sides: (own: [String], peers: [String]) {
        let present = engines.filter { engine in
            engine != Self.reference && results(of: engine).contains { !$0.samples.isEmpty }
        }
        // The storage engine has the longer name. It comes first, since it is the one that peers compare with.
        let strata = present.filter(PeerTable.isOwn).sorted { $0.count > $1.count }
        let own = strata.isEmpty ? Array(present.prefix(1)) : strata
        return (own, present.filter { !own.contains($0) })
    }

    /// The figures that were measured in rounds, for each engine that the run is about; empty if there are none, or if
    /// the plan takes no times.
    var headlines: [HeadlineFigures] {
        once {
            guard run.header.measures, !run.rounds.isEmpty else { return [] }
            let (own, peers) = sides
            let rows = countedRows(own + peers)
            return own.compactMap { engine in
                let all = rows.compactMap { row -> HeadlineFigures.Line? in
                    guard let ratio = ratio(row, of: engine, among: peers) else { return nil }
                    return HeadlineFigures.Line(
                        name: lineName(row, name(row.subject)), shortName: lineName(row, shortName(row.subject)),
                        figures: row, ratio: ratio)
                }.sorted { $0.ratio.value == $1.ratio.value ? $0.name < $1.name : $0.ratio.value > $1.ratio.value }
                let decided = all.filter { $0.ratio.decision != nil }
                let claimed = decided.filter { !$0.ratio.isDoubtful }
                if claimed.isEmpty { return nil }
                return HeadlineFigures(
                    engine: engine, lines: claimed,
                    once: all.filter { !$0.ratio.isRepeated && !$0.ratio.isWithheld && !$0.ratio.isDoubtful },
                    doubtfulCount: all.count { $0.ratio.isDoubtful && !$0.ratio.isWithheld },
                    withheldCount: all.count { $0.ratio.isWithheld })
            }
        }
    }

    /// `commit, threads 8, commits/s`, with the durability class unless it is the strictest.
    private func lineName(_ row: MeasureRow, _ subject: String) -> String {
        let words = "\(subject), \(row.measure.words)"
        return row.subject.durability == .full ? words : "\(words), \(RunDigest.durabilityText(row.subject.durability))"
    }
}

extension Reporting {
    /// How many headline figures of a comparison are undecided, so that they need further rounds.
    /// - Parameter cases: the ids of the cases of the comparison.
    package static func openFigures(_ run: Run, of cases: Set<String>) -> Int {
        RunDigest(run).headlines.reduce(0) { total, headline in
            total
                + headline.lines.count {
                    $0.ratio.decision == .open
                        && $0.figures.values[headline.engine].map { cases.contains($0.result.test.id) } == true
                }
        }
    }
}
