import RunRecords

/// Engines beside each other: a row per figure that counts, Strata's ratio to the best peer, the limit of the machine.
///
/// Made for runs with several peers; a run with one has its ratio in every other table.
struct PeerTable {
    struct Row {
        var figures: MeasureRow
        /// What the machine gives without an engine, in the unit of the figure.
        var limit: Double?
    }

    /// Strata's own engines that took part, in the order of the run.
    let own: [String]
    /// The others, without the reference in memory.
    let peers: [String]
    let rows: [Row]

    var engines: [String] { own + peers }

    static func isOwn(_ engine: String) -> Bool { engine == "strata" || engine.hasPrefix("strata-") }

    /// nil where the run has not both Strata and at least two other engines.
    init?(_ digest: RunDigest) {
        let present = digest.engines.filter { engine in
            engine != RunDigest.reference && digest.results(of: engine).contains { !$0.samples.isEmpty }
        }
        // What is about storage alone comes first: it is what peers are compared with.
        let storageFirst = present.filter(Self.isOwn).sorted { $0.count > $1.count }
        let others = present.filter { !Self.isOwn($0) }
        // Two tunings of one engine are one peer.
        let kinds = Set(others.map { name in name.prefix { $0 != "-" } })
        guard !storageFirst.isEmpty, kinds.count >= 2 else { return nil }
        own = storageFirst
        peers = others
        let limits = digest.rawScenarios
        rows = digest.comparisons.filter { !limits.contains($0.subject.scenario) }
            .flatMap { Self.rows($0, digest, present) }
        if rows.isEmpty { return nil }
    }

    // MARK: Rows

    private static func rows(_ comparison: Comparison, _ digest: RunDigest, _ engines: [String]) -> [Row] {
        let results = engines.compactMap { comparison.results[$0] }
        let samples = results.map { result in (result, result.samples.filter { counts($0, result) } + shares(result)) }
        let measures = RunDigest.unique(samples.flatMap { $0.1.map(Measure.init) })
        return measures.compactMap { measure in
            var figures = MeasureRow(subject: comparison.subject, measure: measure, values: [:])
            for (result, list) in samples {
                if let sample = list.first(where: { Measure($0) == measure }) {
                    figures.values[result.test.engine] = (sample, result)
                }
            }
            // A figure that one engine has alone compares with nothing.
            guard figures.values.count > 1 else { return nil }
            return Row(figures: figures, limit: digest.rawLimit(figures) ?? digest.memoryLimit(figures))
        }
    }

    private static let always: Set<String> = [
        "rows_per_second", "commits_per_second", "updates_per_second", "objects_per_second", "links_per_second",
        "operation_ns", "open_us", "file_bytes_per_row", "disk_bytes_per_update", "disk_bytes_per_commit",
        "growth_ratio",
    ]

    private static func counts(_ sample: Sample, _ result: CaseResult) -> Bool {
        let measure = Measure(sample)
        if measure.isLimit { return false }
        switch sample.metric.name {
        case "duration_ms": return sample.label.isEmpty
        // Without syncs the bytes are written when the system likes.
        case "disk_bytes_per_commit": return result.test.durability == .full
        case "file_bytes": return sample.label == "after"
        case "latency_ns":
            let hasRate = result.samples.contains { always.contains($0.metric.name) && Measure($0).isRate }
            let isTimed = result.samples.contains { $0.metric.name == "operation_ns" || $0.metric.name == "open_us" }
            if isTimed { return false }
            return hasRate ? sample.statistic == "p99" : ["p50", "p99", "p99.9"].contains(sample.statistic)
        default: return always.contains(sample.metric.name)
        }
    }

    private static let silentlyWrong = Metric("silently_wrong", unit: "%", .lowerIsBetter, .measured)
    private static let killed = Metric("killed_by_a_signal", unit: "%", .lowerIsBetter, .measured)

    /// Of a sweep: how many of its trials gave wrong data without a word, and how many ended the process.
    private static func shares(_ result: CaseResult) -> [Sample] {
        let trials = result.trialCount
        guard result.test.family == .corruption, trials > 1 else { return [] }
        func share(_ outcomes: Set<Outcome>) -> Double {
            let count = result.outcomes.filter { outcomes.contains($0.outcome) }.reduce(0) { $0 + $1.count }
            return Double(count) / Double(trials) * 100
        }
        return [
            Sample(silentlyWrong, share([.silentlyWrong, .lostCommit]), count: trials),
            Sample(killed, share([.crashed]), count: trials),
        ]
    }

    // MARK: Ratios

    /// How many times as good as the best peer: above 1 is better. nil where either has no figure. Two zeros are equal;
    /// a zero where less is better cannot be beaten, and has no ratio.
    func ratio(_ row: Row, of engine: String) -> (value: Double, peer: String)? {
        guard let value = row.figures.values[engine]?.sample.value else { return nil }
        let higher = row.figures.measure.metric.direction == .higherIsBetter
        let others = peers.compactMap { peer in row.figures.values[peer].map { (peer, $0.sample.value) } }
        let best = others.min { first, second in higher ? first.1 > second.1 : first.1 < second.1 }
        guard let best else { return nil }
        if value == best.1 { return (1, best.0) }
        guard value > 0, best.1 > 0 else {
            return !higher && best.1 == 0 ? (0, best.0) : nil
        }
        return (higher ? value / best.1 : best.1 / value, best.0)
    }

    /// The share of what the machine gives.
    func shareOfLimit(_ row: Row, of engine: String) -> Double? {
        guard let limit = row.limit, limit > 0, let value = row.figures.values[engine]?.sample.value else { return nil }
        return value / limit
    }

    /// Whether and where an engine of ours is behind, the worst first; at most `limit` places are named.
    func standing(of engine: String, _ digest: RunDigest, limit: Int = .max) -> String {
        let compared = rows.compactMap { row in ratio(row, of: engine).map { (row, $0) } }
        let behind = compared.filter { $0.1.value < 1 }.sorted { $0.1.value < $1.1.value }
        let total = Figure.count(compared.count, "row")
        guard !behind.isEmpty else {
            return "\(engine) is ahead of every peer, or equal, in all of \(total)"
        }
        let places = behind.prefix(limit).map { row, ratio in
            "\(digest.name(row.figures.subject)), \(row.figures.measure.words) (\(Figure.ratio(ratio.value)) "
                + "\(ratio.peer))"
        }
        let rest = behind.count > places.count ? "; and \(behind.count - places.count) more" : ""
        return "\(engine) is behind in \(behind.count) of \(total): " + places.joined(separator: "; ") + rest
    }
}

extension RunDigest {
    /// How many rows per second the memory gives, where a figure says how many bytes it would read of each row.
    func memoryLimit(_ row: MeasureRow) -> Double? {
        guard row.measure.metric.unit == "1/s", row.measure.label.isEmpty else { return nil }
        let bytes = row.values.values.lazy.compactMap { entry -> Double? in
            let gigabytes = entry.result.samples.first { $0.metric.unit == "GB/s" && $0.label.isEmpty }
            return gigabytes.map { $0.value * 1e9 / entry.sample.value }
        }.first
        guard let bytes, bytes.isFinite else { return nil }
        let label = "memory read, \(Int(bytes.rounded())) bytes a row"
        return rawResults.lazy.flatMap(\.samples)
            .first { $0.label == label && $0.metric.name == Metric.rowsPerSecond.name }?.value
    }
}
