import RunRecords

/// Memory, processor time, bytes written and system calls: of operations where they are named so, else of a case's
/// whole process.
struct CostSection: ReportPart {
    let page: ReportPage

    func write(_ main: inout Markup) {
        if !header.measures { return }
        section("cost", "What does it cost?", &main) { section in
            var isEmpty = true
            for durability in digest.durabilities {
                let rows = digest.rows(of: .resource, durability)
                if rows.isEmpty { continue }
                isEmpty = false
                section.element("h3", capitalized(RunDigest.durabilityText(durability)))
                let ofCase = rows.filter(\.measure.isOfWholeCase)
                MeasureTable(
                    page: page, rows: rows.filter { !$0.measure.isOfWholeCase }, durability: durability, name: "cost",
                    title: "Memory, processor, bytes written and syncs, every figure"
                ).write(&section)
                MeasureTable(
                    page: page, rows: ofCase, durability: durability, name: "case-cost",
                    title: "Of the whole process of a case, preparation and checks included", isOpen: false
                ).write(&section)
            }
            if isEmpty { note("This run counted no resources.", &section) }
        }
    }
}
