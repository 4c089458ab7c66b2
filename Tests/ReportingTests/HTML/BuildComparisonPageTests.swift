import RunRecords
import Seeds
import Testing

@testable import Reporting

@Suite struct BuildComparisonPageTests {
    private static func result(_ test: Case, _ rate: Double, _ round: Int) -> CaseResult {
        var result = CaseResult(test: test, verdict: .pass, turn: Turn(round: round))
        result.samples = [
            Sample(.commitsPerSecond, rate), Sample(.processorMilliseconds, 1e6 / rate, label: "whole case"),
        ]
        return result
    }

    /// - Parameters:
    ///   - factor: of side B.
    ///   - batches: 1 or 2.
    static func compared(
        _ scenario: String, factor: Double, batches: Int = 2, failure: SideMeasurement? = nil
    ) throws -> ComparedCase {
        let test = PlausibleRun.test(scenario, .workload, "strata")
        let list = try (0..<batches).map { batch in
            let measurements = (0..<20).flatMap { round in
                BuildSide.allCases.enumerated().map { index, side in
                    let noise = 1 + 0.001 * Double((round * 7 + index * 3) % 10)
                    return SideMeasurement(
                        batch: batch, round: round, side: side, position: index, place: "place-1",
                        result: result(test, 1_000 * noise * (side == .b ? factor : 1), round))
                }
            }
            return try #require(ComparedBatch(measurements, threshold: 0.03, seed: Seed(4)))
        }
        return ComparedCase(test: test, batches: list, failure: failure, confirms: true)
    }

    static func comparison(
        _ cases: [ComparedCase], refused: [BuildComparison.Refused] = [], path: String = "old", threshold: Double = 0.03
    ) -> BuildComparison {
        let build = BuildDescription(version: "0", isRelease: true, traits: [], digest: "d1")
        var header = RunHeader(id: "run", plan: "ab", seed: Seed(1), machine: PlausibleRun.machine)
        header.command = "assay ab --a \(path) --b new"
        header.warnings = ["busy machine: <load> 9"]
        return BuildComparison(
            header: header, a: .init(path: path, build: build),
            b: .init(path: "new", build: build, revision: "v2 (abc Rows: \"faster\" & <better>)"), pairs: 20,
            threshold: threshold, confirms: true, cases: cases, refused: refused, directory: "Reports/x")
    }

    private func headline(_ html: String) -> Substring {
        html.firstMatch(of: /class="headline ([a-z]+)">.*?<span>(.*?)<\/span>/).map { "\($0.output.1): \($0.output.2)" }
            ?? ""
    }

    @Test("the headline names the gravest finding, green only if every case was decided")
    func verdicts() throws {
        let slow = try Self.compared("commit", factor: 0.8)
        let same = try Self.compared("point-read", factor: 1)
        let fast = try Self.compared("bulk-insert", factor: 1.3)
        let alone = try Self.compared("update-batch", factor: 0.8, batches: 1)
        #expect([slow, same, fast, alone].map(\.finding) == [.slower, .same, .faster, .inconclusive])
        func words(_ cases: [ComparedCase]) -> Substring { headline(Reporting.html(Self.comparison(cases))) }
        #expect(words([slow, same, fast]).hasPrefix("bad: B is slower in 1 of 3"))
        #expect(words([same, fast]).hasPrefix("good: B is not slower, and faster in 1"))
        #expect(words([same]) == "good: B is not slower")
        #expect(words([same, alone]) == "doubt: Nothing is shown to be slower, and 1 case is not decided")
        #expect(words([alone]) == "doubt: Nothing was decided")
        #expect(words([]) == "doubt: Nothing was compared")
        var wrong = Self.result(same.test, 1, 0)
        wrong.verdict = .violation
        let failure = SideMeasurement(batch: 0, round: 0, side: .b, position: 0, place: "place-1", result: wrong)
        let broken = try Self.compared("point-read", factor: 1, failure: failure)
        #expect(words([broken, slow]).hasPrefix("bad: B breaks a promise in 1"))
    }

    @Test("in the drawing, cases of one scenario and engine are told apart by their parameters")
    func names() throws {
        func read(_ snapshot: String) throws -> ComparedCase {
            var compared = try Self.compared("point-read", factor: 1.3)
            let parameters = [("rows", "5"), ("snapshot", snapshot)].map { CaseParameter(name: $0, value: $1) }
            compared.test = Case(
                scenario: "point-read", family: .workload, engine: "strata", dataset: "people", size: 5,
                parameters: parameters, seed: Seed(1), durability: .full)
            return compared
        }
        let (each, held) = (try read("each"), try read("held"))
        let html = Reporting.html(Self.comparison([each, held, try Self.compared("commit", factor: 1)]))
        for name in ["point-read each strata", "point-read held strata", "commit strata"] {
            #expect(html.contains(">\(name)</text>"), "\(name)")
        }
    }

    @Test("the page has every batch, its control, both figures and the parameters left out; texts are escaped")
    func content() throws {
        let slow = try Self.compared("commit", factor: 0.8)
        let refused = BuildComparison.Refused(
            test: PlausibleRun.test("open", .workload, "strata"), reason: "side A has no parameter <x> of open")
        let html = Reporting.html(
            Self.comparison([slow], refused: [refused], path: "\"><script>alert(1)</script>"))
        #expect(!html.contains("<script>alert") && !html.contains("<x>") && !html.contains("<load>"))
        #expect(html.contains("side A has no parameter &lt;x&gt; of open"))
        #expect(html.contains("Rows: &quot;faster&quot; &amp; &lt;better&gt;"))
        // B takes 1.25 times as long: the words and the drawing have that ratio, and not its inverse.
        #expect(html.matches(of: /1\.2[45]?[0-9]*\u{D7} as slow/).count >= 3)
        let ticks = html.matches(of: /0\.[0-9]+\u{D7}/).map(\.output)
        #expect(ticks.allSatisfy { $0.count <= 5 } && !html.contains(/<td class="n"[^>]*>0\.[0-9]+<\/td>/), "\(ticks)")
        #expect(html.contains("again: commits/s"))
        #expect(html.matches(of: /<td>A2<\/td>/).count == 2 && html.matches(of: /<td>B<\/td>/).count == 2)
        // Processor time differs as well, but decides nothing.
        #expect(html.contains("Not judged") && html.contains("on A and"))
        #expect(
            html.matches(of: /<svg class="fluid wide"/).count == 1 && html.matches(of: /class="wh w-behind"/).count > 1)
        let none = Reporting.html(Self.comparison([try Self.compared("commit", factor: 1)]))
        #expect(none.contains("No other figure was flagged"))
    }

    @Test("beside the text are a search and links with counts; figures are sorted by the reader, and name their case")
    func frame() throws {
        let slow = try Self.compared("commit", factor: 0.8)
        let none = ComparedCase(
            test: PlausibleRun.test("open", .workload, "strata"), batches: [], failure: nil, confirms: true)
        let html = Reporting.html(Self.comparison([slow, none]))
        #expect(html.contains("<div class=\"frame\"><div class=\"side\">") && html.contains("id=\"search\""))
        let nav = try #require(html.firstMatch(of: /<nav aria-label="Sections">.*?<\/nav>/)).output
        let links = nav.matches(of: /href="#([a-z]+)">[^<]*(?:<small>([0-9]+)<\/small>)?/).map { link in
            "\(link.output.1) \(link.output.2 ?? "")"
        }
        #expect(links == ["verdict ", "cases 2", "others 1", "environment "])
        let table = try #require(html.firstMatch(of: /<table class="grid sort" id="t-cases">(?s:.*?)<\/table>/)).output
        // All columns but the two of figures, whose units differ by row.
        #expect(table.matches(of: /<th scope="col"[^>]*><button/).count == 7)
        // Two batches with B and A2, and a row for the case without a figure; each has a head, which stays in view.
        #expect(table.matches(of: /<tr[^>]*><th scope="row">/).count == 5 && !table.contains(/<tr[^>]*><td/))
        #expect(table.matches(of: /<span class="of">[^<]*commit/).count == 4)
        #expect(table.contains("no figure") && table.matches(of: /class="group"/).count == 2)
    }

    @Test("the table is folded if it has many cases, and a link to a case leads to a row that no sort hides")
    func fold() throws {
        func html(_ count: Int) throws -> String {
            let cases = try (0..<count).map { try Self.compared("commit-\($0)", factor: 1, batches: 1) }
            return Reporting.html(Self.comparison(cases))
        }
        #expect(try html(1).contains("<details class=\"fold\" open>"))
        let many = try html(11)
        #expect(many.contains("<details class=\"fold\">") && !many.contains("<details class=\"fold\" open>"))
        #expect(many.matches(of: /<tr id="c-[^"]+"><th scope="row">/).count == 11)
    }

    @Test("the shaded band is as wide as the threshold, even below any dead band")
    func band() throws {
        func width(_ threshold: Double) throws -> Double {
            let html = Reporting.html(
                Self.comparison([try Self.compared("commit", factor: 0.8)], threshold: threshold))
            let match = try #require(html.firstMatch(of: /class="band" x="[0-9.]+%" y="[0-9.]+" width="([0-9.]+)%"/))
            return try #require(Double(match.output.1))
        }
        #expect(try width(0.01) < width(0.03) && width(0.03) < width(0.1))
    }

    @Test("the page is self-contained, its elements are closed, and its links resolve")
    func sound() throws {
        let html = Reporting.html(
            Self.comparison([try Self.compared("commit", factor: 0.8), try Self.compared("open", factor: 1)]))
        for reference in ["http:", "https:", "src=", "@import", "url("] { #expect(!html.contains(reference)) }
        let ids = html.matches(of: /\sid="([^"]+)"/).map { $0.output.1 }
        #expect(Set(ids).count == ids.count)
        #expect(Set(html.matches(of: /href="#([^"]+)"/).map { $0.output.1 }).subtracting(ids) == [])
        let style = try #require(html.firstRange(of: "<style>")),
            styleEnd = try #require(html.firstRange(of: "</style>"))
        let script = try #require(html.firstRange(of: "<script>")), end = try #require(html.firstRange(of: "</script>"))
        let markup =
            html[..<style.lowerBound] + html[styleEnd.upperBound..<script.lowerBound] + html[end.upperBound...]
        var open: [Substring] = []
        for tag in markup.matches(of: /<(\/?)([a-z0-9]+)[^>]*>/)
        where !["meta", "link", "input"].contains(tag.output.2) {
            if tag.output.1.isEmpty { open.append(tag.output.2) } else { #expect(open.popLast() == tag.output.2) }
        }
        #expect(open.isEmpty)
    }
}
