import RunRecords

extension HTMLReport {
    /// Outcomes of every fault and every check, by engine.
    func safety(_ main: inout Markup) {
        section(Question.safe.rawValue, Question.safe.text, &main) { section in
            outcomes(.safe, &section)
            strips(&section)
        }
    }

    /// A question that outcomes alone answer: deleted objects, migrations.
    func promises(_ question: Question, _ main: inout Markup) {
        section(question.rawValue, question.text, &main) { section in
            outcomes(question, &section)
        }
    }

    func outcomes(_ question: Question, _ section: inout Markup) {
        let rows = digest.outcomeRows(question)
        if rows.isEmpty {
            note("This run has no case that answers the question.", &section)
            return
        }
        section.element("ul", ["class": "answers"]) { list in
            for engine in digest.engines {
                let own = rows.filter { $0.engine == engine }
                if !own.isEmpty { list.element("li") { answer(engine, own, &$0) } }
            }
        }
        grids(question, &section)
        outcomeTables(rows.filter { !$0.isInGrid }, &section)
    }

    /// A table per durability class.
    func outcomeTables(_ rows: [OutcomeRow], _ section: inout Markup) {
        for durability in digest.durabilities {
            let shown = rows.filter { $0.subject.durability == durability }
            if shown.isEmpty { continue }
            section.element("h4", capitalized(RunDigest.durabilityText(durability)))
            outcomeTable(shown, &section)
        }
    }

    /// One sentence per engine: what it went through, and what of it went wrong.
    func answer(_ engine: String, _ rows: [OutcomeRow], _ item: inout Markup) {
        let trials = rows.reduce(0) { $0 + $1.trialCount }
        item.element("strong", engine)
        if trials == 0 {
            item.add(": nothing was tried")
            return
        }
        item.add(": \(Figure.count(trials, "trial")), ")
        let parts: [(Verdict, String)] = [
            (.violation, "a promise broken"), (.known, "a known violation"), (.unpromised, "not promised"),
            (.inconclusive, "inconclusive"), (.harnessError, "the harness failed"), (.pass, "allowed"),
        ]
        var isFirst = true
        for (verdict, words) in parts {
            let judged = rows.filter { $0.standing == .judged(verdict) }
            let bad = OutcomeRow.Group.allCases.filter(\.isBad).compactMap { group -> String? in
                let count = judged.reduce(0) { $0 + $1.count(group) }
                return count == 0 ? nil : "\(Figure.grouped(count)) \(group.words)"
            }
            if bad.isEmpty { continue }
            item.add(isFirst ? "" : "; ")
            item.element("span", ["class": verdict == .pass ? nil : "bad"], bad.joined(separator: ", "))
            item.add(" (\(words))")
            isFirst = false
        }
        if isFirst { item.add("none silently wrong, lost, crashed or hung") }
    }

    private func outcomeTable(_ rows: [OutcomeRow], _ section: inout Markup) {
        let columns = RunDigest.columns(rows)
        section.element("div", ["class": "scroll"]) { scroll in
            scroll.element("table", ["class": "grid sort"]) { table in
                table.element("thead") { head in
                    head.element("tr") { row in
                        for words in ["scenario", "engine", "verdict"] { sortable(words, isNumber: false, &row) }
                        row.element("th", ["scope": "col"], "shares")
                        for words in ["trials"] + columns.map(\.words) { sortable(words, isNumber: true, &row) }
                        sortable("promise", isNumber: false, &row)
                    }
                }
                table.element("tbody") { body in
                    for row in rows.prefix(detail.rows) { outcomeLine(row, columns, &body) }
                }
            }
        }
        leftOut(rows.count, &section)
    }

    private func outcomeLine(_ row: OutcomeRow, _ columns: [OutcomeRow.Group], _ body: inout Markup) {
        let id = row.result.test.id
        body.element("tr") { line in
            line.element("th", ["scope": "row"]) { cell in
                cell.element("a", ["href": place(of: id), "title": digest.replayCommand(id)], digest.name(row.subject))
                if row.result.isCut { cell.element("small", " cut by budget") }
            }
            line.element("td", row.engine)
            line.element("td") { badge(row.standing, nil, &$0) }
            line.element("td") { OutcomeStrip.bar(row, &$0) }
            number(row.trialCount, "n", nil, &line)
            for column in columns {
                let count = row.count(column)
                let parts =
                    column.outcomes.count > 1 && count > 0
                    ? column.outcomes.map { "\(row.count($0)) \(Self.words($0))" }.joined(separator: ", ") : nil
                number(count, count == 0 ? "n zero" : (column.isBad ? "n bad" : "n"), parts, &line)
            }
            line.element("td", row.promise)
        }
        body.raw("\n")
    }

    private func number(_ value: Int, _ style: String, _ title: String?, _ line: inout Markup) {
        line.element(
            "td", ["class": style, "data-v": value < 1_000 ? nil : String(value), "title": title],
            Figure.grouped(value))
    }

    /// Sweeps by file offset. Cases whose trials all ended alike have nothing to show there.
    private func strips(_ section: inout Markup) {
        let sweeps = digest.results.filter { result in
            guard let codes = digest.run.details[result.test.id]?.trialCodes, codes.count >= 64 else { return false }
            return Question.safe.families.contains(result.test.family) && Set(codes).count > 1
        }
        if sweeps.isEmpty || detail.charts == 0 { return }
        section.element("h3", "Where in the file")
        outcomeLegend(&section)
        section.element("div", ["class": "charts"]) { grid in
            for result in sweeps.prefix(max(4, detail.charts / 4)) {
                let subject = Subject(result.test)
                let title = "\(result.test.engine), \(digest.name(subject))"
                grid.element("figure") { figure in
                    caption(title, RunDigest.durabilityText(subject.durability), result.test.id, &figure)
                    OutcomeStrip(title: title, codes: digest.run.details[result.test.id]?.trialCodes ?? [])
                        .draw(&figure)
                }
            }
        }
    }

    private func outcomeLegend(_ section: inout Markup) {
        section.element("p", ["class": "key"]) { key in
            for group in OutcomeRow.Group.allCases {
                key.element("span") { entry in
                    entry.open("i", ["class": "o-\(group.rawValue)"])
                    entry.close("i")
                    entry.add(group.words)
                }
                key.add(" ")
            }
            key.element("span", "(empty: not tried)")
        }
    }

    // MARK: Tables and charts

    func sortable(_ words: String, isNumber: Bool, _ row: inout Markup) {
        row.element("th", ["scope": "col", "class": isNumber ? "n" : nil]) { cell in
            cell.element("button", ["type": "button"], words)
        }
    }

    func leftOut(_ count: Int, _ section: inout Markup) {
        if count > detail.rows {
            note("\(Figure.grouped(count - detail.rows)) more rows are in results.csv.", &section)
        }
    }

    func caption(_ title: String, _ rest: String, _ id: String?, _ figure: inout Markup) {
        figure.element("figcaption") { caption in
            if let id {
                caption.element("a", ["href": place(of: id)], title)
            } else {
                caption.element("b", title)
            }
            if !rest.isEmpty { caption.element("span", rest) }
        }
    }

    func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }
}
