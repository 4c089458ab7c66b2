import RunRecords
import Seeds
import Testing

@testable import Reporting

@Suite struct ArchiveSiteTests {
    private static let time = Metric("operation_ns", unit: "ns", .lowerIsBetter, .measured)
    private static let evil = "<script>alert(\"1\")</script>&'"

    /// Twenty-four runs with a step at the thirteenth, and adversarial texts.
    private static func site(_ evil: String = evil) -> ArchiveSite {
        let test = PlausibleRun.test("point-read", .workload, "strata", dataset: evil, size: 10)
        let figure = FigureName(Sample(time, 1, statistic: "median"))
        var runs: [RecordedRun] = []
        let points = (0..<24).map { index -> TrendPoint in
            var header = RunHeader(id: "r\(index)\(evil)", plan: evil, seed: Seed(1), machine: PlausibleRun.machine)
            header.startTime = 1_795_000_000 + index * 86_400
            (header.commit, header.branch, header.machine.host) = ("c\(index)\(evil)", evil, evil)
            let value = index < 12 ? 2.0 : 1.5
            let ratio = RecordedRatio(
                reference: evil, version: evil, value: value, low: value * 0.95, high: value * 1.05, pairCount: 7)
            var run = RecordedRun(header: header, digest: index == 0 ? "../\(evil)" : "digest-\(index)")
            let point = TrendPoint(run: run, engineVersion: evil, value: 100, low: 90, high: 110, ratio: ratio)
            let recorded = RecordedFigure(Sample(time, 100, statistic: "median"), ratios: [ratio])
            run.cases = [RecordedCase(test: test, engineVersion: evil, verdict: .pass, figures: [recorded])]
            runs.append(run)
            return point
        }
        let trend = Trend(test: test, figure: figure, basis: .ratio(reference: evil), points: points)
        return ArchiveSite(runs: runs, trends: [trend])
    }

    @Test("an index, a page per scenario and per run, which link only to one another")
    func links() throws {
        let pages = Self.site().pages
        #expect(pages.count == 26)
        let names = Set(pages.map(\.name))
        #expect(names.count == 26 && names.isSuperset(of: ["index.html", "workload-point-read.html"]))
        #expect(names.allSatisfy { $0.wholeMatch(of: /[a-z0-9.-]+\.html/) != nil && !$0.contains("..") })
        var linked: Set<String> = []
        for page in pages {
            let ids = page.text.matches(of: /\sid="([^"]+)"/).map { "#\($0.output.1)" }
            #expect(Set(ids).count == ids.count, "\(page.name)")
            for match in page.text.matches(of: /href="([^"]*)"/) where match.output.1 != "data:," {
                let place = String(match.output.1)
                if place.hasPrefix("#") {
                    #expect(ids.contains(place), "\(place) of \(page.name)")
                } else {
                    linked.insert(place)
                }
            }
            for outside in ["http:", "https:", "src=", "@import", "url("] {
                #expect(!page.text.contains(outside), "\(outside) in \(page.name)")
            }
            #expect(
                page.text.contains("default-src &#39;none&#39;") && page.text.contains("prefers-color-scheme: dark"))
            #expect(
                page.text.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">") && page.text.contains("<main id=\"main\">"))
            // One script; the theme is kept as on every page.
            #expect(page.text.matches(of: /<script/).count == 1 && page.text.contains("<button id=\"theme\""))
            #expect(page.text.contains("assay-theme"))
        }
        #expect(linked == names, "\(linked.symmetricDifference(names))")
    }

    @Test("every text of a run is escaped")
    func escapes() {
        for (bad, plain) in zip(Self.site().pages, Self.site("plain").pages) {
            #expect(!bad.text.contains("alert(\"") && bad.text.contains("&lt;script&gt;alert(&quot;1&quot;)"))
            // As many elements as with harmless texts.
            #expect(bad.text.count { $0 == "<" } == plain.text.count { $0 == "<" }, "\(bad.name)")
        }
    }

    @Test("a change is shown in the list, the chart and the table, also for screen readers")
    func changes() throws {
        let pages = Self.site("plain").pages
        let step = "25\u{A0}% worse"
        #expect(pages[0].text.contains("<span class=\"t-behind\">\(step)</span>"))
        let workload = try #require(pages.first { $0.name.hasPrefix("workload") }).text
        #expect(workload.contains("<text class=\"t-behind\"") && workload.contains("<td>\(step)</td>"))
        #expect(workload.matches(of: /<circle/).count == 24)
        // A whisker for each run, a line for each level, and a vertical line at the change.
        #expect(workload.matches(of: /class="wh s0"/).count == 24 && workload.matches(of: /class="lv s0"/).count == 2)
        #expect(workload.matches(of: /class="wh d2 w-behind"/).count == 1)
        let described = try #require(workload.firstMatch(of: /<desc>([^<]*)<\/desc>/)).output.1
        #expect(described.contains("\(step) from r12plain on (c12plain)"))
        #expect(workload.contains("role=\"img\"") && workload.contains("<th scope=\"col\">run</th>"))
    }

    @Test("beside the text are a search and links to the sections, with counts; what is folded unfolds on paper")
    func frame() throws {
        let pages = Self.site("plain").pages
        func links(_ page: ArchiveSite.Page) throws -> [String] {
            let nav = try #require(page.text.firstMatch(of: /<nav aria-label="Sections">.*?<\/nav>/)).output
            return nav.matches(of: /href="#([a-z0-9-]+)">([^<]*)(?:<small>([0-9]+)<\/small>)?/).map { link in
                "\(link.output.1): \(link.output.2) \(link.output.3 ?? "")"
            }
        }
        let workload = try #require(pages.first { $0.name.hasPrefix("workload") })
        let index = ["verdict: Answer ", "changes: Changes 1", "scenarios: Scenarios 1", "runs: Runs 24"]
        #expect(try links(pages[0]) == index)
        #expect(
            try links(workload) == [
                "verdict: Answer ", "s-1: plain, \(Figure.count(10, "row")); full durability 1",
            ])
        #expect(try links(try #require(pages.last)) == ["workload: Workload 1"])
        for page in pages {
            #expect(page.text.contains("id=\"search\"") && page.text.contains("beforeprint"), "\(page.name)")
        }
    }

    @Test("the first cell of each row names it and stays in view, and tables are sorted by the reader")
    func tables() throws {
        for page in Self.site("plain").pages {
            #expect(!page.text.contains(/<tr[^>]*><td/), "\(page.name)")
            // The rows below a chart have the order of the chart.
            let sorted = page.text.matches(of: /<table class="sort" id="t-[a-z]+">/).count
            #expect(sorted == (page.name == "index.html" ? 3 : page.name.hasPrefix("workload") ? 0 : 1), "\(page.name)")
        }
        let index = Self.site("plain").pages[0].text
        #expect(index.contains("<th scope=\"col\" class=\"n\"><button type=\"button\">cases</button></th>"))
        // The list of changes is sorted by their size, and not by the digits of the words.
        #expect(index.contains(/<td data-v="0\.75[0-9]*"><span class="t-behind">/))
    }

    @Test("charts of one subject and one basis share their vertical axis")
    func axis() throws {
        let lmdb = Trend.Basis.ratio(reference: "lmdb")
        let trends = [("strata", 2.0), ("sqlite", 0.5), ("rocksdb", 8)].map { engine, level in
            Self.trend(Self.step(level, level), Self.time, basis: lmdb, scenario: "walk", engine: engine)
        }
        let count = Self.trend(Self.step(30, 30), .syncsPerCommit, basis: .count, scenario: "walk")
        func axes(_ trends: [Trend]) throws -> [[Substring]] {
            let page = try #require(ArchiveSite(runs: [], trends: trends).pages.last).text
            return page.matches(of: /<svg .*?<\/svg>/).map { drawing in
                drawing.output.matches(of: /<text class="ax"[^>]*text-anchor="end">([^<]*)</).map(\.output.1).prefix(3)
                    .map { $0 }
            }
        }
        let shared = try axes(trends + [count])
        #expect(shared.count == 4 && Set(shared.prefix(3)).count == 1 && shared[3] != shared[0], "\(shared)")
        let alone = try trends.map { try axes([$0])[0] }
        #expect(shared[0].count == 3 && Set(alone).count == 3, "\(alone)")
    }

    private static func trend(
        _ values: [Double], _ metric: Metric, basis: Trend.Basis, scenario: String, engine: String = "strata"
    ) -> Trend {
        let test = PlausibleRun.test(scenario, .workload, engine, dataset: "people", size: 10)
        let points = values.enumerated().map { index, value -> TrendPoint in
            var header = RunHeader(id: "r\(index)", plan: "p", seed: Seed(1), machine: PlausibleRun.machine)
            (header.startTime, header.commit) = (1_795_000_000 + index * 86_400, "c\(index)")
            let ratio = RecordedRatio(
                reference: "lmdb", version: "1", value: value, low: value * 0.95, high: value * 1.05, pairCount: 7)
            return TrendPoint(
                run: RecordedRun(header: header, digest: "d\(index)"), engineVersion: "1", value: value,
                ratio: basis == .ratio(reference: "lmdb") ? ratio : nil)
        }
        return Trend(test: test, figure: FigureName(Sample(metric, 1)), basis: basis, points: points)
    }

    private static func step(_ before: Double, _ after: Double) -> [Double] {
        (0..<24).map { index in
            let noise = 1 + 0.001 * Double(index % 3)
            return index < 12 ? before * noise : after * noise
        }
    }

    @Test("the index begins with a sentence: how many figures became worse, and which most; then what to do next")
    func answer() throws {
        let lmdb = Trend.Basis.ratio(reference: "lmdb")
        let (worse, much) = (
            Self.trend(Self.step(2, 1.8), Self.time, basis: lmdb, scenario: "walk"),
            Self.trend(Self.step(0.4, 0.2), .commitsPerSecond, basis: lmdb, scenario: "commit")
        )
        let better = Self.trend(Self.step(1, 1.5), Self.time, basis: lmdb, scenario: "open")
        let flat = Self.trend(Self.step(1, 1), Self.time, basis: lmdb, scenario: "scan")
        let alone = Self.trend(Self.step(1, 9), Self.time, basis: .nothing, scenario: "sort")
        func index(_ trends: [Trend]) -> String { ArchiveSite(runs: [], trends: trends).pages[0].text }
        func headline(_ trends: [Trend]) throws -> String {
            let first = /<main id="main">.*?class="headline ([a-z]+)">.*?<\/p>/
            let match = try #require(index(trends).firstMatch(of: first))
            return "\(match.output.1): \(match.output.0.replacing(/<[^>]+>/, with: " "))"
        }
        let bad = try headline([worse, much, better, flat, alone])
        #expect(bad.hasPrefix("bad:") && bad.contains("2 of 5 figures became worse at their last change"), "\(bad)")
        #expect(bad.contains("most of all: commits/s of strata in commit, people, 10"), "\(bad)")
        #expect(bad.contains("50\u{A0}% worse") && bad.contains("1 better than before, 1 without a change"), "\(bad)")
        let page = index([worse, much, better, flat, alone])
        let main = try #require(page.firstMatch(of: /<main id="main">.*?<\/section>/)).output
        #expect(main.contains("assay bisect --good c11 --bad c12 commit --engine strata"))
        #expect(!page.contains("operation_ns") && !page.contains("commits_per_second"), "code words on a page")
        #expect(try headline([better, flat, alone]).hasPrefix("good:"))
        #expect(try headline([alone]).hasPrefix("doubt:") && headline([]).hasPrefix("doubt:"))
        // A figure that became worse and then as good again is not counted as worse.
        let back = Self.trend(Self.step(2, 1) + Self.step(2, 2), Self.time, basis: lmdb, scenario: "back")
        #expect(try headline([back]).hasPrefix("good:"))
        // The page of a scenario begins with the answer for that scenario.
        let pages = ArchiveSite(runs: [], trends: [worse, much]).pages
        #expect(pages.dropFirst().allSatisfy { $0.text.contains("1 of 1 figure became worse at its last change") })
    }

    @Test("a ratio below one is shown inverted, in tables and tooltips")
    func ratios() throws {
        let trend = Self.trend(Self.step(0.4, 0.2), .commitsPerSecond, basis: .ratio(reference: "lmdb"), scenario: "c")
        let page = try #require(ArchiveSite(runs: [], trends: [trend]).pages.last).text
        #expect(page.contains("2.5\u{D7} as slow as lmdb, 2.4") && page.contains("5.0\u{D7} as slow as lmdb"))
        #expect(!page.contains(/<td[^>]*>0\.[0-9]+\u{D7}/))
    }

    @Test("an archive without runs, and a figure without numbers, are pages too")
    func empty() {
        #expect(ArchiveSite(runs: [], trends: []).pages.map(\.name) == ["index.html"])
        let test = PlausibleRun.test("commit", .workload, "strata")
        let figure = FigureName(Sample(Metric("file_syncs", unit: "count", .neutral, .measured), 0))
        let point = TrendPoint(
            run: RecordedRun(header: HTMLTests.emptyRun().header, digest: "d"), engineVersion: "1", value: 0)
        let trend = Trend(test: test, figure: figure, basis: .count, points: [point])
        let page = ArchiveSite(runs: [], trends: [trend]).pages[1]
        #expect(page.text.contains("No run has a number above zero here."))
    }

    @Test("charts show the judged figure, and counts per operation")
    func figures() {
        let samples = [
            Sample(.peakResidentBytes, 1, label: "whole case"), Sample(.latencyNanoseconds, 1, statistic: "p99"),
            Sample(Self.time, 1, statistic: "median"), Sample(.syncsPerCommit, 1), Sample(.fileBytes, 1),
            Sample(Metric("file_syncs", unit: "count", .neutral, .measured), 1, label: "whole case"),
        ]
        #expect(
            ArchiveSite.figures(of: samples.map { FigureName($0) }).map(\.metric.name)
                == ["operation_ns", "syncs_per_commit", "file_bytes"])
        #expect(ArchiveSite.figures(of: []).isEmpty)
    }
}
