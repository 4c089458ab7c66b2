import RunRecords

/// Memory, processor time, bytes written and system calls: per operation if the metric names one, otherwise of the
/// whole process of a case.
struct CostSection: ReportPart {
    let page: ReportPage

    func write(_ main: inout Markup) {
        if !header.measures { return }
        if digest.durabilities.allSatisfy({ digest.rows(of: .resource, $0).isEmpty }) { return }
        section("cost", "What does it cost?", main: &main) { section in
            for headline in digest.headlines.map(\.costs) where !headline.lines.isEmpty {
                let name = EngineName.words(headline.engine)
                section.element("p", ["class": "sentence"], "\(name) is \(headline.sentence()).")
            }
            for durability in digest.durabilities {
                let rows = digest.rows(of: .resource, durability)
                if rows.isEmpty { continue }
                section.element("h3", capitalized(RunDigest.durabilityText(durability)))
                let ofCase = rows.filter(\.measure.isOfWholeCase)
                MeasureTable(
                    page: page, rows: rows.filter { !$0.measure.isOfWholeCase }, durability: durability, name: "cost",
                    title: "Memory, processor, bytes written and syncs, every figure"
                ).write(&section)
                MeasureTable(
                    page: page, rows: ofCase, durability: durability, name: "case-cost",
                    title: "Of the whole process of a case, preparation and checks included"
                ).write(&section)
            }
        }
    }
}
