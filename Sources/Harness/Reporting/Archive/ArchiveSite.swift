import RunRecords
import Seeds

/// The pages of an archive: an index, one per scenario with its trends, one per run. They link only to each other.
/// Their script searches, sorts, switches the theme and unfolds what is printed; without it all contents are there.
package struct ArchiveSite: Sendable {
    package struct Page: Sendable, Equatable {
        /// The name of its file, without a directory.
        package var name: String
        package var text: String
    }

    /// Runs with their cases, in the order of their start.
    let runs: [RecordedRun]
    /// The trends of each scenario; scenarios in alphabetical order.
    let workloads: [(scenario: String, trends: [Trend])]
    let palette: EnginePalette

    /// - Parameter trends: those of the figures that `figures(of:)` chose.
    package init(runs: [RecordedRun], trends: [Trend]) {
        self.runs = runs
        let groups = Dictionary(grouping: trends) { $0.test.scenario }
        workloads = groups.keys.sorted().map { ($0, groups[$0] ?? []) }
        palette = EnginePalette(Set(trends.map(\.test.engine)).sorted())
    }

    package var pages: [Page] {
        [Page(name: Self.index, text: ArchiveIndexPage(site: self).text)]
            + workloads.map {
                Page(
                    name: Self.name(ofWorkload: $0.scenario),
                    text: WorkloadPage(scenario: $0.scenario, trends: $0.trends, palette: palette).text)
            }
            + runs.map { Page(name: Self.name(of: $0), text: RecordedRunPage(run: $0).text) }
    }

    /// The figures of a case that get charts: the one by which `assay ab` judges, and counts per operation or commit.
    package static func figures(of names: [FigureName]) -> [FigureName] {
        let test = Case(
            scenario: "", family: .workload, engine: "", dataset: "", size: 0, parameters: [], seed: Seed(0),
            durability: .full)
        var result = CaseResult(test: test, verdict: .pass)
        result.samples = names.map { Sample($0.metric, 0, statistic: $0.statistic, label: $0.label) }
        let counts = names.filter { name in
            name.label.isEmpty && Counter(metric: name.metric.name) != nil
                && (name.metric.name.contains("_per_") || name.metric.name == Metric.fileBytes.name)
        }
        return RunDigest.unique([result.judgedFigure].compactMap { $0 } + counts)
    }

    // MARK: Names of files

    static let index = "index.html"

    static func name(ofWorkload scenario: String) -> String { "workload-\(plain(scenario)).html" }

    static func name(of run: RecordedRun) -> String { "run-\(plain(run.digest)).html" }

    /// The name if every file system and URL accepts it; otherwise a digest of it.
    private static func plain(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        return isPlain && (1...80).contains(text.utf8.count) ? text : "x" + StableHash.identifier(of: text)
    }
}

/// A section of a page, with its link in the column beside the text.
struct SiteSection {
    var anchor: String
    var title: String
    /// The words of the link; nil for those of the title.
    var words: String?
    /// How many entries the section has, shown beside the link. May be empty.
    var count = ""
    var content: (inout Markup) -> Void

    func write(_ main: inout Markup) {
        main.element("section", ["id": anchor, "aria-labelledby": "\(anchor)-title"]) { section in
            section.element("h2", ["id": "\(anchor)-title"], title)
            content(&section)
        }
        main.raw("\n")
    }
}

/// The frame that all pages have in common.
struct SitePage {
    let title: String
    /// Links to the pages above this one; empty for the index.
    var path: [(title: String, name: String)] = []
    var facts: [String] = []
    let sections: [SiteSection]

    /// A table below a chart is no wider than the chart.
    private static let style = "figure .scroll tbody th { min-width: 0; max-width: 150px; overflow-wrap: anywhere }"

    var text: String {
        Markup.build { page in
            page.raw("<!DOCTYPE html>\n")
            page.element("html", ["lang": "en"]) { html in
                DocumentHead.write(title: "Assay: \(title)", style: Self.style, &html)
                html.element("body") { body in
                    DocumentHead.skipLink(&body)
                    masthead(&body)
                    body.element("div", ["class": "frame"]) { frame in
                        navigation.write(&frame)
                        frame.element("main", ["id": "main"]) { main in
                            for section in sections { section.write(&main) }
                        }
                    }
                    body.element("script") { $0.raw(ReportScript.text) }
                }
            }
            page.raw("\n")
        }
    }

    private var navigation: PageNavigation {
        PageNavigation(
            entries: sections.map { PageNavigation.Entry($0.anchor, $0.words ?? $0.title, count: $0.count) },
            subject: "page")
    }

    private func masthead(_ body: inout Markup) {
        body.element("header", ["class": "top"]) { top in
            if !path.isEmpty {
                top.element("nav", ["aria-label": "Path"]) { nav in
                    for (title, name) in path { nav.element("a", ["href": name], title) }
                }
            }
            top.element("h1", title)
            for fact in facts { top.element("p", ["class": "facts"], fact) }
        }
    }
}

/// A captioned table that scrolls in its own box. The first cell of a row names it, and stays in view.
struct SiteTable {
    /// The id of a table that the reader sorts; nil if its rows have one order.
    var id: String?
    var caption: String
    var columns: [SortHead.Column]

    func write(_ markup: inout Markup, rows: (inout Markup) -> Void) {
        markup.table(
            id == nil ? nil : "sort", id: id, caption: caption, isFocusable: true,
            head: SortHead(columns: columns).write, rows: rows)
    }

    /// The first cell of a row, which leads to a page if it has one.
    static func name(_ words: String, _ page: String?, row: inout Markup) {
        row.element("th", ["scope": "row"]) { cell in
            if let page {
                cell.element("a", ["href": page], words)
            } else {
                cell.add(words)
            }
        }
    }

    static func number(_ count: Int, _ row: inout Markup) {
        row.element("td", ["class": "n", "data-v": String(count)], Figure.grouped(count))
    }
}
