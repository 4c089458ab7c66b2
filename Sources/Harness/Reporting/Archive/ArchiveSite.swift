import RunRecords
import Seeds

/// The pages of an archive: an index, one per scenario with its trends, one per run. They link only to each other, and
/// work without scripts: the only script is the one that switches the theme.
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

/// The frame that all pages have in common.
struct SitePage {
    let title: String
    /// Links to the pages above this one; empty for the index.
    var path: [(title: String, name: String)] = []
    var facts: [String] = []

    func text(_ content: (inout Markup) -> Void) -> String {
        Markup.build { page in
            page.raw("<!DOCTYPE html>\n")
            page.element("html", ["lang": "en"]) { html in
                DocumentHead.write(title: "Assay: \(title)", &html)
                html.element("body") { body in
                    DocumentHead.skipLink(&body)
                    body.element("header", ["class": "top"]) { top in
                        if !path.isEmpty {
                            top.element("nav", ["aria-label": "Path"]) { nav in
                                for (title, name) in path { nav.element("a", ["href": name], title) }
                            }
                        }
                        top.element("h1", title)
                        DocumentHead.themeButton(&top)
                        for fact in facts { top.element("p", ["class": "facts"], fact) }
                    }
                    body.element("main", ["id": "main"], content: content)
                    body.element("script") { $0.raw(ThemeScript.text) }
                }
            }
            page.raw("\n")
        }
    }

    static func section(
        _ title: String, _ main: inout Markup, content: (inout Markup) -> Void
    ) {
        main.element("section") { section in
            section.element("h2", title)
            content(&section)
        }
        main.raw("\n")
    }

    /// A captioned table that scrolls in its own box.
    static func table(
        _ caption: String, _ head: [String], _ markup: inout Markup, rows: (inout Markup) -> Void
    ) {
        markup.table(
            caption: caption, head: { row in for name in head { row.element("th", ["scope": "col"], name) } },
            rows: rows)
    }

    static func link(_ words: String, _ name: String, _ cell: inout Markup) {
        cell.element("td") { $0.element("a", ["href": name], words) }
    }
}
