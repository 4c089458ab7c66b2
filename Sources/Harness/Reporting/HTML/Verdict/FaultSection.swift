import RunRecords

/// A table of engines and faults with the outcomes in counts and shares, and the engine's promises.
struct FaultSection: ReportPart {
    static let anchor = "faults"

    let page: ReportPage

    func write(_ main: inout Markup) {
        let rows = digest.faultRows
        if rows.isEmpty { return }
        section(Self.anchor, "Every fault, engine by engine", main: &main) { section in
            section.element("p", ["class": "sentence"], sentence(rows))
            // If the run is about faults, the map is in the answer above.
            if PageAnswer(digest: digest).planQuestion != .safe { FaultHeatMap(page: page).write(&section) }
            fold("Every fault and engine", Figure.count(rows.count, "row"), section: &section) { details in
                note(
                    "Trials of all cases of a fault together, and their share. The engine's promises "
                        + "decide whether an outcome is wrong. The verdict is that of the most serious case.",
                    &details)
                table(rows, &details)
            }
        }
    }

    /// The answer in a sentence: the share of trials in which each engine gave wrong data or lost some, the smallest
    /// first. It counts the faults that every engine met, so that harmless trials of one engine alone do not lower its
    /// share.
    func harm(_ section: inout Markup) {
        let rows = digest.faultRows
        let engines = digest.engines.filter { engine in rows.contains { $0.engine == engine && $0.trialCount > 0 } }
        let common = Dictionary(grouping: rows.filter { $0.trialCount > 0 }) { "\($0.fault) \($0.durability)" }.values
            .filter { $0.count == engines.count }
        if common.isEmpty { return }
        let counts = engines.map { engine -> (engine: String, harmed: Int, trials: Int) in
            let own = common.flatMap { $0 }.filter { $0.engine == engine }
            let harmed = own.reduce(0) { $0 + $1.count(of: .wrong) + $1.count(of: .lost) }
            return (engine, harmed, own.reduce(0) { $0 + $1.trialCount })
        }.sorted { $0.harmed * $1.trials < $1.harmed * $0.trials }
        let words = counts.map {
            "\(EngineName.words($0.engine)) \(Figure.grouped($0.harmed)) of \(Figure.grouped($0.trials)) "
                + "(\(Figure.percent(Double($0.harmed) / Double($0.trials))))"
        }
        section.element(
            "p", ["class": "sentence"],
            "Trials that gave wrong data or lost acknowledged data, in the \(Figure.count(common.count, "row")) of the "
                + "map that every engine has: \(words.joined(separator: ", ")).")
    }

    /// Which engines returned wrong data or silently lost data, or that none did.
    private func sentence(_ rows: [FaultRow]) -> String {
        let engines = RunDigest.unique(rows.map(\.engine))
        let harmed = engines.filter { engine in
            rows.contains { $0.engine == engine && $0.count(of: .wrong) + $0.count(of: .lost) > 0 }
        }
        let trials = Figure.count(rows.reduce(0) { $0 + $1.trialCount }, "trial")
        let faults = Figure.count(Set(rows.map(\.fault)).count, "fault")
        let all = "\(faults), \(Figure.count(engines.count, "engine")), \(trials): "
        if harmed.isEmpty { return all + "no engine gave wrong data, and none lost any in silence." }
        return all + "wrong or silently lost data with \(EngineName.list(harmed))"
            + (harmed.count == engines.count ? "." : ", with none of the others.")
    }

    private func table(_ rows: [FaultRow], _ section: inout Markup) {
        let columns = ShownOutcome.allCases
        let hasClasses = Set(rows.map(\.durability)).count > 1
        section.table("grid sort") { row in
            for words in ["engine", "fault"] + (hasClasses ? ["durability"] : []) + ["verdict"] {
                sortable(words, isNumber: false, &row)
            }
            for words in ["trials"] + columns.map(\.rawValue) { sortable(words, isNumber: true, &row) }
            sortable("promised", isNumber: false, &row)
        } rows: { body in
            for row in rows.prefix(detail.rows) { line(row, columns, hasClasses: hasClasses, body: &body) }
        }
        if rows.count > detail.rows {
            note("\(Figure.grouped(rows.count - detail.rows)) more rows are in faults.csv.", &section)
        }
    }

    private func line(
        _ row: FaultRow, _ columns: [ShownOutcome], hasClasses: Bool, body: inout Markup
    ) {
        body.element("tr") { line in
            line.element("th", ["scope": "row"], row.engine)
            line.element("td") { cell in
                let id = row.cases.first?.result.test.id
                cell.element("a", ["href": id.flatMap(place(of:))], row.fault)
                if row.isCut { cell.element("small", " cut by budget") }
            }
            if hasClasses { line.element("td", RunDigest.durabilityText(row.durability)) }
            line.element("td") { badge(row.standing, nil, &$0) }
            line.element("td", ["class": "n", "data-v": String(row.trialCount)], Figure.grouped(row.trialCount))
            for column in columns { cell(row, column, &line) }
            line.element("td", ["class": "words"], row.promise)
        }
        body.raw("\n")
    }

    private func cell(_ row: FaultRow, _ column: ShownOutcome, _ line: inout Markup) {
        let count = row.count(of: column)
        let style = count == 0 ? "n zero" : (column.isBad ? "n bad" : "n")
        line.element("td", ["class": style, "data-v": String(count)]) { cell in
            cell.add(Figure.grouped(count))
            if count > 0, let share = row.share(of: column) { cell.element("small", " \(Figure.percent(share))") }
        }
    }
}
