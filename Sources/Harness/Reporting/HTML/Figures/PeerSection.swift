import RunRecords

/// A row per main figure, a column per engine. Below each figure of Strata is its ratio to the best peer.
struct PeerSection: ReportPart {
    let page: ReportPage

    func write(_ main: inout Markup) {
        let (headlines, peers) = (digest.headlines, PeerTable(digest))
        if headlines.isEmpty && peers == nil { return }
        let name = EngineName.words(String((digest.sides.own.first ?? "").prefix { $0 != "-" }))
        section("peers", "Where does \(name) stand beside its peers?", main: &main) { section in
            for headline in headlines {
                section.element("p", ["class": "sentence"]) { text in
                    text.element("strong", headline.engine)
                    text.add(": ")
                    DecisionCounts(headline: headline).write(&text)
                }
            }
            RatioPlots(page: page).write(&section)
            guard let peers else { return }
            fold("Every figure of every engine", Figure.count(peers.rows.count, "row"), section: &section) { details in
                table(peers, &details)
            }
        }
    }

    private func table(_ peers: PeerTable, _ section: inout Markup) {
        note(
            "Under each figure of Strata: how it compares with the best of \(peers.peers.joined(separator: ", ")), all "
                + "on the same data in this run; in colour where the rounds decide, in grey where they do not, and "
                + "where there was one measurement alone. A column of Strata sorts by these ratios, that of a peer by "
                + "how near its figures come to the best of their row. The raw limit is what the disk or the memory "
                + "gives without an engine.", &section)
        withheld(&section)
        let rows = Array(peers.rows.prefix(detail.rows))
        let hasLimit = peers.rows.contains { $0.limit != nil }
        FigureRows(part: self, id: "t-peers", engines: peers.engines, hasLimit: hasLimit).write(
            rows.map(\.figures), &section
        ) { index, engine, line in
            let (row, figures) = (rows[index], rows[index].figures)
            let ratio = peers.own.contains(engine) ? peers.ratio(row, of: engine) : nil
            let order = ratio?.value ?? (figures.values[engine]?.sample.value).map { goodness($0, figures) }
            figureCell(figures, engine, ratio: ratio, order: order, line: &line)
        } limit: { index, line in
            let row = rows[index]
            let share = peers.own.lazy.compactMap { peers.shareOfLimit(row, of: $0) }.first
            limitCell(row.figures, row.limit, share: share, line: &line)
        }
    }

    /// Says why some rows have no claim.
    private func withheld(_ section: inout Markup) {
        guard let warning = header.assertionWarning else { return }
        note("\(FigureRatio.withheld.prefix(1).uppercased() + FigureRatio.withheld.dropFirst()). \(warning).", &section)
    }
}
