import RunRecords

/// A row per figure that counts, a column per engine; Strata's ratio to the best peer under its own figures.
struct PeerSection: ReportPart {
    let page: ReportPage

    func write(_ main: inout Markup) {
        guard let peers = PeerTable(digest) else { return }
        section("peers", "Where does Strata stand beside its peers?", &main) { section in
            let headlines = digest.headlines
            for headline in headlines {
                section.element("p") { text in
                    text.element("strong", headline.engine)
                    text.add(": ")
                    DecisionCounts(headline: headline).write(&text)
                }
            }
            note(
                "Under each figure of Strata: how many times as good as the best of "
                    + "\(peers.peers.joined(separator: ", ")), all on the same data in this run; in colour where the "
                    + "rounds decide, in grey where they do not, and where there was one measurement alone. The raw "
                    + "limit is what the disk or the memory gives without an engine.", &section)
            withheld(&section)
            let hasLimit = peers.rows.contains { $0.limit != nil }
            filter("t-peers", &section)
            section.element("div", ["class": "scroll"]) { scroll in
                scroll.element("table", ["class": "grid sort", "id": "t-peers"]) { table in
                    table.element("thead") { head in
                        head.element("tr") { row in
                            for words in ["scenario", "what"] { sortable(words, isNumber: false, &row) }
                            for engine in peers.engines { sortable(engine, isNumber: true, &row) }
                            if hasLimit { sortable("raw limit", isNumber: true, &row) }
                            sortable("n", isNumber: true, &row)
                        }
                    }
                    table.element("tbody") { body in
                        for row in peers.rows.prefix(detail.rows) { line(row, peers, hasLimit, &body) }
                    }
                }
            }
        }
    }

    /// Why rows stand without a claim.
    private func withheld(_ section: inout Markup) {
        guard let warning = header.assertionWarning else { return }
        note("\(FigureRatio.withheld.prefix(1).uppercased() + FigureRatio.withheld.dropFirst()). \(warning).", &section)
    }

    private func line(_ row: PeerTable.Row, _ peers: PeerTable, _ hasLimit: Bool, _ body: inout Markup) {
        let figures = row.figures
        body.element("tr") { line in
            line.element("th", ["scope": "row"]) { cell in
                cell.add(digest.name(figures.subject))
                let words = [
                    RunDigest.datasetText(figures.subject),
                    figures.subject.durability == .full ? "" : RunDigest.durabilityText(figures.subject.durability),
                ].filter { !$0.isEmpty }
                if !words.isEmpty { cell.element("small", " " + words.joined(separator: ", ")) }
            }
            line.element("td", figures.measure.words)
            for engine in peers.engines {
                guard let (sample, result) = figures.values[engine] else {
                    line.element("td", ["class": "n zero"], "\u{B7}")
                    continue
                }
                let ratio = peers.own.contains(engine) ? peers.ratio(row, of: engine) : nil
                figureCell(figures, sample, result, ratio, &line)
            }
            if hasLimit {
                line.element("td", ["class": "n", "data-v": row.limit.map(Figure.exact) ?? ""]) { cell in
                    guard let limit = row.limit else { return }
                    cell.add(figures.measure.text(limit))
                    let share = peers.own.lazy.compactMap { peers.shareOfLimit(row, of: $0) }.first
                    if let share { cell.element("small", Figure.percent(share)) }
                }
            }
            countCell(figures, &line)
        }
        body.raw("\n")
    }
}
