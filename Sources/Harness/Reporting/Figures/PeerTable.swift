import RunRecords
import Statistics

/// Engines side by side: a row per main figure, with the ratio of Strata's engines to the best peer, and the machine's
/// limit.
///
/// It is only for runs with several peers: with a single peer, every other table shows the ratio.
struct PeerTable {
    struct Row {
        var figures: MeasureRow
        /// The machine's limit without an engine, in the unit of the figure.
        var limit: Double?
    }

    /// Strata's engines in the run, the storage engine first.
    let own: [String]
    /// The other engines, without the in-memory reference.
    let peers: [String]
    let rows: [Row]
    private let digest: RunDigest

    var engines: [String] { own + peers }

    static func isOwn(_ engine: String) -> Bool { engine == "strata" || engine.hasPrefix("strata-") }

    /// nil unless the run has Strata, at least two libraries of other engines, and figures that mean something.
    init?(_ digest: RunDigest) {
        guard digest.run.header.measures else { return nil }
        self.digest = digest
        (own, peers) = digest.sides
        // Two tunings of one engine count as one peer.
        let kinds = Set(peers.map { name in name.prefix { $0 != "-" } })
        guard own.contains(where: Self.isOwn), kinds.count >= 2 else { return nil }
        rows = digest.countedRows(own + peers).map {
            Row(figures: $0, limit: digest.rawLimit($0) ?? digest.memoryLimit($0))
        }
        if rows.isEmpty { return nil }
    }

    /// The ratio to the best peer; Strata's engines are never compared with each other.
    func ratio(_ row: Row, of engine: String) -> FigureRatio? {
        digest.ratio(row.figures, of: engine, among: peers)
    }

    /// The share of the machine's limit.
    func shareOfLimit(_ row: Row, of engine: String) -> Double? {
        guard let limit = row.limit, limit > 0, let value = row.figures.values[engine]?.sample.value else { return nil }
        return value / limit
    }
}

extension RunDigest {
    /// The memory's limit in rows per second, for cases that read as many bytes from memory beside their scan: the
    /// median over the engines of the row.
    func memoryLimit(_ row: MeasureRow) -> Double? {
        guard row.measure.metric.unit == "1/s", row.measure.label.isEmpty else { return nil }
        let beside = row.values.values.compactMap { entry in
            entry.result.samples.first { $0.label == "raw memory read" }?.value
        }
        return beside.isEmpty ? nil : MedianInterval.median(beside)
    }
}
