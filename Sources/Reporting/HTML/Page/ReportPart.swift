import RunRecords

/// A part of the document. It has what it alone needs, and takes from the page what all parts need.
protocol ReportPart {
    var page: ReportPage { get }
    /// Writes the part where it is read. A part that has nothing to say writes nothing.
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

    func section(_ anchor: String, _ title: String, _ main: inout Markup, _ content: (inout Markup) -> Void) {
        main.element("section", ["id": anchor, "aria-labelledby": "\(anchor)-title"]) { section in
            section.element("h2", ["id": "\(anchor)-title"], title)
            content(&section)
        }
        main.raw("\n")
    }

    /// A verdict in words, symbol and colour; a link to its numbers where there is a case.
    func badge(_ standing: Standing, _ words: String? = nil, _ markup: inout Markup) {
        markup.element("span", ["class": "v v-\(standing.name)"]) { badge in
            badge.element("b", ["aria-hidden": "true"], standing.symbol)
            badge.add(words ?? standing.words)
        }
    }

    /// A button that copies the command; its text is the command, so that it can be read and copied by hand too.
    func command(_ command: String, _ markup: inout Markup) {
        markup.element("button", ["class": "cmd", "type": "button", "title": "Click to copy"]) { button in
            button.element("code", command)
        }
    }

    func note(_ words: String, _ markup: inout Markup) {
        markup.element("p", ["class": "note"], words)
    }

    /// Of a plan whose cases run side by side or too briefly: its outcomes count, its figures do not.
    func measuresNothing(_ section: inout Markup) {
        note("This plan measures nothing: only the outcomes of its cases count.", &section)
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

    func filter(_ table: String, _ markup: inout Markup) {
        markup.open(
            "input",
            [
                "type": "search", "class": "filter", "data-for": table, "placeholder": "Filter",
                "aria-label": "Filter rows",
            ])
    }
}
