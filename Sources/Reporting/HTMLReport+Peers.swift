import RunRecords

extension HTMLReport {
    /// A row per figure that counts, a column per engine; Strata's ratio to the best peer under its own figures.
    func peers(_ main: inout Markup) {
        guard let peers = PeerTable(digest) else { return }
        section("peers", "Where does Strata stand beside its peers?", &main) { section in
            for engine in peers.own { section.element("p", peers.standing(of: engine, digest, limit: 8)) }
            note(
                "Under each figure of Strata: how many times as good as the best of "
                    + "\(peers.peers.joined(separator: ", ")), all on the same data in this run. The raw limit is what "
                    + "the disk or the memory gives without an engine.", &section)
            let hasLimit = peers.rows.contains { $0.limit != nil }
            filter("t-peers", &section)
            section.element("div", ["class": "scroll"]) { scroll in
                scroll.element("table", ["class": "grid sort", "id": "t-peers"]) { table in
                    table.element("thead") { head in
                        head.element("tr") { row in
                            for words in ["scenario", "what"] { sortable(words, isNumber: false, &row) }
                            for engine in peers.engines { sortable(engine, isNumber: true, &row) }
                            if hasLimit { sortable("raw limit", isNumber: true, &row) }
                        }
                    }
                    table.element("tbody") { body in
                        for row in peers.rows.prefix(detail.rows) { line(row, peers, hasLimit, &body) }
                    }
                }
            }
        }
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
                let ratio = PeerTable.isOwn(engine) ? peers.ratio(row, of: engine) : nil
                line.element("td", ["class": "n", "data-v": Figure.exact(sample.value)]) { cell in
                    cell.element(
                        "a", ["href": place(of: result.test.id), "title": exactText(sample, ratio)],
                        figures.measure.text(sample.value) + (result.isCut ? "\u{2020}" : ""))
                    if let ratio {
                        let standing = ratio.value < 1 ? "down" : ratio.value >= 1.05 ? "up" : nil
                        cell.element("small", ["class": standing], Figure.ratio(ratio.value))
                    }
                }
            }
            if hasLimit {
                line.element("td", ["class": "n", "data-v": row.limit.map(Figure.exact) ?? ""]) { cell in
                    guard let limit = row.limit else { return }
                    cell.add(figures.measure.text(limit))
                    let share = peers.own.lazy.compactMap { peers.shareOfLimit(row, of: $0) }.first
                    if let share { cell.element("small", Figure.percent(share)) }
                }
            }
        }
        body.raw("\n")
    }
}
