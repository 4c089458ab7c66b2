import RunRecords

/// A part of the document. It holds its own data, and finds shared data in the page.
protocol ReportPart {
    var page: ReportPage { get }
    /// Writes the part. A part without content writes nothing.
    func write(_ main: inout Markup)
}

extension ReportPart {
    var markup: String { Markup.build(write) }

    var digest: RunDigest { page.digest }
    var detail: ReportPage.Detail { page.detail }
    var run: Run { page.digest.run }
    var header: RunHeader { page.digest.run.header }

    func place(of id: String) -> String? { page.place(of: id) }

    // MARK: Words

    func section(_ anchor: String, _ title: String, main: inout Markup, content: (inout Markup) -> Void) {
        main.element("section", ["id": anchor, "aria-labelledby": "\(anchor)-title"]) { section in
            section.element("h2", ["id": "\(anchor)-title"], title)
            content(&section)
        }
        main.raw("\n")
    }

    /// A folded block. Its head shows the number of entries.
    func fold(
        _ title: String, _ count: String?, isOpen: Bool = false, section: inout Markup,
        content: (inout Markup) -> Void
    ) {
        let body = Markup.build(content)
        if body.isEmpty { return }
        section.element("details", ["class": "fold", "open": isOpen ? "" : nil]) { details in
            details.element("summary") { summary in
                summary.add(title)
                if let count { summary.element("small", " \(count)") }
            }
            details.raw(body)
        }
    }

    /// A verdict as a word, a symbol and a colour. A tooltip explains it.
    func badge(_ standing: Standing, _ words: String? = nil, _ markup: inout Markup) {
        let isPlain = [.judged(.pass), .judged(.notApplicable)].contains(standing)
        badge(standing.shown, words, title: isPlain ? nil : standing.explanation, &markup)
    }

    func badge(_ verdict: ShownVerdict, _ words: String? = nil, title: String? = nil, _ markup: inout Markup) {
        markup.element("span", ["class": "v v-\(verdict.rawValue)", "title": title]) { badge in
            badge.element("b", ["aria-hidden": "true"], verdict.symbol)
            badge.add(words ?? verdict.rawValue)
        }
    }

    /// A button with a command as its text, which copies the command.
    func command(_ command: String, _ markup: inout Markup) {
        markup.element("button", ["class": "cmd", "type": "button", "title": "Click to copy"]) { button in
            button.element("code", command)
        }
    }

    func note(_ words: String, _ markup: inout Markup) {
        markup.element("p", ["class": "note"], words)
    }

    /// The note for a plan whose cases run in parallel or too briefly: only its outcomes count.
    func measuresNothing(_ section: inout Markup) {
        note("This plan measures nothing: only the outcomes of its cases count.", &section)
    }

    // MARK: Tables and charts

    func sortable(_ words: String, isNumber: Bool, _ row: inout Markup) {
        row.element("th", ["scope": "col", "class": isNumber ? "n" : nil]) { cell in
            cell.element("button", ["type": "button"], words)
        }
    }

    /// What the colours of outcomes mean.
    func outcomeKey(classPrefix: String, note: String, _ section: inout Markup) {
        section.element("p", ["class": "key"]) { key in
            for outcome in ShownOutcome.allCases {
                key.element("span") { entry in
                    entry.open("i", ["class": "\(classPrefix)-\(outcome.rawValue)"])
                    entry.close("i")
                    entry.add(outcome.rawValue)
                }
                key.add(" ")
            }
            key.element("span", note)
        }
    }

    func leftOut(_ count: Int, _ section: inout Markup) {
        if count > detail.rows {
            note("\(Figure.grouped(count - detail.rows)) more rows are in results.csv.", &section)
        }
    }

    /// - Parameter scenario: its question becomes the tooltip.
    func caption(_ title: String, _ rest: String, id: String?, scenario: String, figure: inout Markup) {
        figure.element("figcaption", ["title": digest.question(ofScenario: scenario)]) { caption in
            if let id {
                caption.element("a", ["href": place(of: id)], title)
            } else {
                caption.element("b", title)
            }
            if !rest.isEmpty { caption.element("span", rest) }
        }
    }

    /// A row of drawings, of which the first ones are visible and the others folded.
    func gallery(_ drawings: [(inout Markup) -> Void], shown: Int, _ section: inout Markup) {
        func grid(_ part: ArraySlice<(inout Markup) -> Void>, _ markup: inout Markup) {
            markup.element("div", ["class": "charts"]) { grid in for draw in part { draw(&grid) } }
        }
        if drawings.isEmpty { return }
        grid(drawings.prefix(shown), &section)
        let rest = drawings.dropFirst(shown)
        if !rest.isEmpty { fold("More drawings", "\(rest.count)", section: &section) { grid(rest, &$0) } }
    }

    func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }
}
