import RunRecords

/// The peer table for a spreadsheet: a row per figure, a column per engine. RFC 4180.
enum PeerCSV {
    /// Empty where the run has no such table.
    static func text(_ digest: RunDigest) -> String {
        guard let peers = PeerTable(digest) else { return "" }
        var text = CSVReport.line(
            [
                "scenario", "variant", "dataset", "rows", "durability", "metric", "statistic", "label", "unit",
                "direction",
            ]
                + peers.engines + ["raw_limit"] + peers.own.flatMap { ["\($0)_ratio", "\($0)_best_peer"] })
        for row in peers.rows {
            let (subject, measure) = (row.figures.subject, row.figures.measure)
            var fields = [
                subject.scenario, digest.variant(subject).filter { $0 != "\u{A0}" }, subject.dataset,
                subject.size > 0 ? "\(subject.size)" : "", subject.durability.rawValue, measure.metric.name,
                measure.statistic, measure.label, measure.metric.unit, measure.metric.direction.rawValue,
            ]
            fields += peers.engines.map { row.figures.values[$0].map { Figure.exact($0.sample.value) } ?? "" }
            fields.append(row.limit.map(Figure.exact) ?? "")
            for engine in peers.own {
                let ratio = peers.ratio(row, of: engine)
                fields += [ratio.map { Figure.exact($0.value) } ?? "", ratio?.peer ?? ""]
            }
            text += CSVReport.line(fields)
        }
        return text
    }
}
