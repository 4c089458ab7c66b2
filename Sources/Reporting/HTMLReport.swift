import RunRecords

/// The report as one document. Parts write themselves into a `Markup`, in the order in which they are read.
struct HTMLReport {
    let digest: RunDigest
    let detail: Detail
    /// In plan order. Where not all fit, those that did not pass come first.
    let listed: [CaseResult]
    private let listedIDs: Set<String>

    init(digest: RunDigest, detail: Detail) {
        self.digest = digest
        self.detail = detail
        if digest.results.count <= detail.cases {
            listed = digest.results
        } else {
            let grave = digest.results.filter { $0.verdict != .pass }
            let passed = digest.results.filter { $0.verdict == .pass }
            listed = Array((grave + passed).prefix(detail.cases))
        }
        listedIDs = Set(listed.map(\.test.id))
    }

    /// Where the numbers of a case stand; nil where there was no room for them.
    func place(of id: String) -> String? {
        listedIDs.contains(id) ? "#c-\(id)" : nil
    }

    /// How much of a large run fits. Each step leaves out what is missed least.
    struct Detail {
        var charts: Int
        /// Figures of cases that passed.
        var showsPassed: Bool
        /// Cases in the list; the rest is in the CSV.
        var cases: Int
        /// Rows of one table.
        var rows: Int

        static let steps = [
            Detail(charts: 80, showsPassed: true, cases: 1_000, rows: 1_000),
            Detail(charts: 40, showsPassed: true, cases: 1_000, rows: 600),
            Detail(charts: 24, showsPassed: false, cases: 1_200, rows: 400),
            Detail(charts: 12, showsPassed: false, cases: 500, rows: 200),
            Detail(charts: 0, showsPassed: false, cases: 200, rows: 100),
        ]
    }

    /// Bytes that a report stays under.
    static let sizeLimit = 1_950_000

    static func text(_ digest: RunDigest) -> String {
        var text = ""
        for detail in Detail.steps {
            text = HTMLReport(digest: digest, detail: detail).document
            if text.utf8.count < sizeLimit { break }
        }
        return text
    }

    var run: Run { digest.run }
    var header: RunHeader { digest.run.header }

    private var document: String {
        Markup.build { page in
            page.raw("<!DOCTYPE html>\n")
            page.element("html", ["lang": "en"]) { html in
                head(&html)
                html.element("body", ["data-run": RunDigest.shellWord(run.directory)]) { body in
                    masthead(&body)
                    body.element("main") { main in
                        warnings(&main)
                        verdict(&main)
                        peers(&main)
                        matrix(&main)
                        safety(&main)
                        speed(&main)
                        size(&main)
                        resources(&main)
                        promises(.deleted, &main)
                        promises(.migrations, &main)
                        cases(&main)
                        settings(&main)
                        environment(&main)
                    }
                    body.element("script") { $0.raw(ReportScript.text) }
                }
            }
            page.raw("\n")
        }
    }

    private func head(_ html: inout Markup) {
        html.element("head") { head in
            head.open("meta", ["charset": "utf-8"])
            head.open("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
            // A browser enforces what the report promises: nothing is fetched.
            head.open(
                "meta",
                [
                    "http-equiv": "Content-Security-Policy",
                    "content":
                        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:",
                ])
            head.open("link", ["rel": "icon", "href": "data:,"])
            head.element("title", "Assay report: \(header.plan), seed \(header.seed)")
            head.element("style") { $0.raw(ReportStyle.text) }
        }
        html.raw("\n")
    }

    private func masthead(_ body: inout Markup) {
        body.element("header", ["class": "top"]) { top in
            top.element("div", ["class": "brand"]) { brand in
                brand.element("h1") { title in
                    title.element("span", ["class": "faint"], "Assay")
                    title.add(" \(header.plan)")
                }
                brand.element(
                    "button", ["id": "theme", "type": "button", "title": "Light, dark, or as the system"], "Theme")
            }
            top.element("p", ["class": "facts"]) { facts in
                let parts = [
                    Figure.time(header.startTime).split(separator: "T").joined(separator: " ").filter { $0 != "Z" }
                        + " UTC",
                    "seed \(header.seed)", Figure.count(header.cases.count, "case"),
                    Figure.count(digest.trialCount, "trial"),
                    header.commit.isEmpty ? "" : "commit \(header.commit.prefix(12))",
                    header.isReleaseBuild ? "release build" : "DEBUG BUILD",
                ].filter { !$0.isEmpty }
                for (index, part) in parts.enumerated() {
                    if index > 0 { facts.raw(" <i>\u{B7}</i> ") }
                    facts.element("span", part)
                }
            }
            top.element("nav", ["aria-label": "Sections"]) { nav in
                for (anchor, words) in sections {
                    nav.element("a", ["href": "#\(anchor)"], words)
                }
            }
        }
    }

    private var sections: [(String, String)] {
        [("verdict", "Verdict")] + (PeerTable(digest) == nil ? [] : [("peers", "Peers")]) + [
            ("matrix", "Matrix"), ("safe", "Safety"), ("fast", "Speed"), ("large", "Size"),
        ] + (header.measures ? [("cost", "Cost")] : []) + [
            ("deleted", "Deleted objects"), ("migrations", "Migrations"), ("cases", "All cases"),
            ("settings", "Settings"), ("environment", "Environment"),
        ]
    }

    private func warnings(_ main: inout Markup) {
        if digest.warnings.isEmpty { return }
        main.element("section", ["class": "warnings", "role": "alert", "aria-label": "Warnings"]) { section in
            section.element("ul") { list in
                for warning in digest.warnings {
                    list.element("li") { item in
                        item.element("strong", "WARNING")
                        item.add(" \(warning)")
                    }
                }
            }
        }
    }

    // MARK: Parts that others use

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
}
