import RunRecords
import Statistics

/// Engines beside each other: a row per figure that counts, Strata's ratio to the best peer, the limit of the machine.
///
/// Made for runs with several peers; a run with one has its ratio in every other table.
struct PeerTable {
    struct Row {
        var figures: MeasureRow
        /// What the machine gives without an engine, in the unit of the figure.
        var limit: Double?
    }

    /// Strata's own engines that took part, storage alone first.
    let own: [String]
    /// The others, without the reference in memory.
    let peers: [String]
    let rows: [Row]
    private let digest: RunDigest

    var engines: [String] { own + peers }

    static func isOwn(_ engine: String) -> Bool { engine == "strata" || engine.hasPrefix("strata-") }

    /// nil where the run has not both Strata and at least two other engines, and where its figures mean nothing.
    init?(_ digest: RunDigest) {
        guard digest.run.header.measures else { return nil }
        self.digest = digest
        (own, peers) = digest.sides
        // Two tunings of one engine are one peer.
        let kinds = Set(peers.map { name in name.prefix { $0 != "-" } })
        guard own.contains(where: Self.isOwn), kinds.count >= 2 else { return nil }
        rows = digest.countedRows(own + peers).map {
            Row(figures: $0, limit: digest.rawLimit($0) ?? digest.memoryLimit($0))
        }
        if rows.isEmpty { return nil }
    }

    /// To the best peer; an engine of ours is never beside its own kind.
    func ratio(_ row: Row, of engine: String) -> FigureRatio? {
        digest.ratio(row.figures, of: engine, among: peers)
    }

    /// The share of what the machine gives.
    func shareOfLimit(_ row: Row, of engine: String) -> Double? {
        guard let limit = row.limit, limit > 0, let value = row.figures.values[engine]?.sample.value else { return nil }
        return value / limit
    }
}

extension RunDigest {
    /// How many rows per second the memory gives, where the case read as much of it beside its scan: the middle of what
    /// the engines of the row found.
    func memoryLimit(_ row: MeasureRow) -> Double? {
        guard row.measure.metric.unit == "1/s", row.measure.label.isEmpty else { return nil }
        let beside = row.values.values.compactMap { entry in
            entry.result.samples.first { $0.label == "raw memory read" }?.value
        }
        return beside.isEmpty ? nil : MedianInterval.median(beside)
    }
}
