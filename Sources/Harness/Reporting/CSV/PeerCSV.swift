import RunRecords

/// The peer table for a spreadsheet: a row per figure, a column per engine. RFC 4180.
///
/// Each Strata engine has the columns `_ratio` to the best peer (above 1 is better) with the bounds of its interval,
/// `_decision`, and `_best_peer`. `_decision` is empty for a figure that was measured once, and for a figure of speed
/// beside a library built with assertions; it is `doubtful` if a control differs. `dead_band` is the factor within
/// which two sides count as equal, `n` the number of rounds behind the ratio.
enum PeerCSV {
    /// Empty if the run has no peer table.
    static func text(_ digest: RunDigest) -> String {
        guard let peers = PeerTable(digest) else { return "" }
        var text = CSVReport.line(
            [
                "scenario", "variant", "dataset", "rows", "durability", "metric", "statistic", "label", "unit",
                "direction",
            ]
                + peers.engines + ["raw_limit"]
                + peers.own.flatMap { engine in
                    ["ratio", "ratio_low", "ratio_high", "decision", "best_peer"].map { "\(engine)_\($0)" }
                } + ["dead_band", "n"])
        for row in peers.rows {
            let (subject, measure) = (row.figures.subject, row.figures.measure)
            var fields = [
                subject.scenario, digest.variant(subject).filter { $0 != "\u{A0}" }, subject.dataset,
                subject.size > 0 ? "\(subject.size)" : "", subject.durability.rawValue, measure.metric.name,
                measure.statistic, measure.label, measure.metric.unit, measure.metric.direction.rawValue,
            ]
            fields += peers.engines.map { row.figures.values[$0].map { Figure.exact($0.sample.value) } ?? "" }
            fields.append(row.limit.map(Figure.exact) ?? "")
            let ratios = peers.own.map { peers.ratio(row, of: $0) }
            for ratio in ratios {
                fields += [
                    ratio.map { Figure.exact($0.value) } ?? "", (ratio?.low).map(Figure.exact) ?? "",
                    (ratio?.high).map(Figure.exact) ?? "", ratio?.decisionWord ?? "", ratio?.peer ?? "",
                ]
            }
            let decided = ratios.lazy.compactMap { $0 }.first { $0.isRepeated }
            fields += [
                decided.map { Figure.exact($0.band.factor) } ?? "", decided.map { String($0.pairCount) } ?? "1",
            ]
            text += CSVReport.line(fields)
        }
        return text
    }
}

extension Reporting {
    /// Engines side by side, a row per figure and a column per engine; empty if the run does not have several peers.
    package static func peersCSV(_ run: Run) -> String {
        PeerCSV.text(RunDigest(run))
    }
}
