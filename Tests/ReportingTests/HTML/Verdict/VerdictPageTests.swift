import RunRecords
import Testing

@testable import Reporting

@Suite struct VerdictPageTests {
    private static func violation(
        _ scenario: String, _ family: Family, _ engine: String, outcome: Outcome = .refused,
        concern: Concern = .safety
    ) -> CaseResult {
        var result = PlausibleRun.passed(PlausibleRun.test(scenario, family, engine))
        result.verdict = .violation
        result.outcome = outcome
        result.outcomes = [OutcomeCount(outcome: outcome, count: 1)]
        result.promises = [JudgedPromise(kind: "durability", concern: concern, state: .broken)]
        result.causes = [
            FailureCause(Trial(address: FaultAddress(text: "rows"), outcome: outcome, detail: "the database is locked"))
        ]
        return result
    }

    private static func passed(_ scenario: String, _ family: Family, _ engine: String) -> CaseResult {
        PlausibleRun.passed(PlausibleRun.test(scenario, family, engine))
    }

    private static func headline(_ html: String) -> String {
        String(html.firstMatch(of: /class=.headline.*?<\/p>/)?.output ?? "")
    }

    private static func text(_ run: Run) -> String { Reporting.terminal(run, width: 100, colour: false) }

    @Test("violations of every family are counted, and never stand above \"none\"", arguments: Family.allCases)
    func everyFamily(family: Family) {
        let run = HTMLTests.run([
            Self.violation("odd-one", family, "sqlite"), Self.passed("bit-flip", .corruption, "sqlite"),
            Self.passed("read-deleted", .invalidation, "sqlite"), Self.passed("bit-flip", .corruption, "strata"),
        ])
        let html = Reporting.html(run)
        #expect(Self.headline(html).contains("SQLite broke a promise"))
        #expect(Self.headline(html).contains("1 violation (of safety): 1 new, 0 listed as known"))
        let verdict = HTMLTests.section("verdict", of: html)
        let glance = verdict.firstMatch(of: /<dl class="glance">.*?<\/dl>/)?.output ?? ""
        #expect(!glance.isEmpty)
        for line in glance.split(separator: "<div>") where line.contains("<strong>sqlite</strong>") {
            #expect(!line.contains("none wrong"), "\(line)")
        }
        #expect(glance.contains("<strong>strata</strong>: 1 trial, none wrong, lost or stopped"), "\(glance)")
        let text = Self.text(run)
        #expect(text.contains("sqlite: 1 violation (of safety)"))
        #expect(text.contains("\(family.rawValue) 1 of "), "\(text)")
    }

    @Test("safety and progress are counted apart")
    func concerns() {
        let run = HTMLTests.run([
            Self.violation("kill-mid-write", .crash, "sqlite"),
            Self.violation("dead-writer", .crash, "sqlite", outcome: .hung, concern: .progress),
            Self.violation("writer-starvation", .concurrency, "lmdb", outcome: .hung, concern: .progress),
        ])
        let headline = Self.headline(Reporting.html(run))
        #expect(headline.contains("3 violations (1 of safety, 2 of progress): 3 new, 0 listed as known"), "\(headline)")
        let text = Self.text(run)
        #expect(text.contains("sqlite: 2 violations (1 of safety, 1 of progress)"), "\(text)")
        #expect(text.contains("lmdb: 1 violation (of progress)"))
        let family = HTMLTests.section("verdict", of: Reporting.html(run)).firstMatch(
            of: /<th scope="row">crash<\/th>.*?<\/tr>/)
        let numbers = family?.output.matches(of: />(\d+)<\/td>/).map { String($0.output.1) }
        #expect(numbers?.prefix(5) == ["2", "2", "0", "1", "1"])
    }

    @Test("a known violation counts in the headline like others, and is listed with its cause")
    func known() {
        var listed = Self.violation("zero-page", .corruption, "strata", outcome: .lostCommit)
        listed.verdict = .known
        listed.promises[0].state = .known
        let run = HTMLTests.run([listed, Self.violation("kill-mid-write", .crash, "sqlite")])
        let html = Reporting.html(run)
        let headline = "SQLite broke a promise; Strata broke a promise in a way that is listed as known"
        #expect(Self.headline(html).contains(headline))
        #expect(Self.headline(html).contains("2 violations (of safety): 1 new, 1 listed as known"))
        #expect(html.contains("headline bad\"") && html.contains("<h3>Broken, and listed as known</h3>"))
        let alone = Reporting.html(HTMLTests.run([listed]))
        #expect(Self.headline(alone).contains("1 violation (of safety): 0 new, 1 listed as known"))
        #expect(alone.contains("headline bad\""))
        let text = Self.text(run)
        #expect(text.contains("strata: 1 violation (of safety, 1 known) in 1 case"), "\(text)")
        #expect(text.contains("corruption 1 of 1 (of safety, 1 known)"), "\(text)")
        #expect(text.contains("\n  \u{25C6} Strata: acknowledged data was gone, and the engine"), "\(text)")
    }

    @Test("a compaction without effect breaks progress, and has its own column")
    func overSize() {
        var idle = Self.violation("compact-crash", .crash, "sqlite", outcome: .overSize, concern: .progress)
        idle.promises[0].kind = ""
        let run = HTMLTests.run([idle])
        #expect(Self.headline(Reporting.html(run)).contains("1 violation (of progress): 1 new"))
        #expect(HTMLTests.section("verdict", of: Reporting.html(run)).contains("the files took more room"))
        #expect(Self.text(run).contains("the files took more room") && Self.text(run).contains("  excess  "))
        let columns = CSVTests.parse(Reporting.faultsCSV(run))
        let record = Dictionary(uniqueKeysWithValues: zip(columns[0], columns[1]))
        #expect(record["over_size"] == "1" && record["over_limit"] == "0")
        idle.promises = []
        #expect(idle.brokenConcern == .progress)
    }

    @Test("the headline counts cut, inconclusive and suspected-harness cases")
    func open() {
        var cut = Self.passed("a", .corruption, "strata")
        cut.isCut = true
        cut.verdict = .inconclusive
        var suspected = Self.violation("b", .growth, "strata")
        suspected.verdict = .suspectedHarness
        var broken = Self.passed("c", .growth, "strata")
        broken.verdict = .harnessError
        let run = HTMLTests.run([cut, suspected, suspected.on("sqlite"), broken])
        let html = Reporting.html(run)
        #expect(Self.headline(html).contains("No case came to a conclusion"), "\(Self.headline(html))")
        #expect(Self.headline(html).contains("4 of 4 cases have no answer"))
        #expect(html.contains("headline doubt\"") && !Self.headline(html).contains("violations"))
        let text = Self.text(run)
        #expect(text.contains("2 cases in which the harness is suspected"), "\(text)")
        #expect(text.contains("strata: no case came to a conclusion, 3 unanswered"))
        #expect(html.contains("<h3>The harness is suspected</h3>"))
    }

    @Test("four thousand flips give a few causes, each with a count, an example and a replay command")
    func causes() {
        var result = PlausibleRun.passed(PlausibleRun.test("bit-flip", .corruption, "strata"))
        result.verdict = .violation
        result.outcome = .silentlyWrong
        var causes: [FailureCause] = []
        for index in 0..<4_000 {
            let column = ["name", "age", "note", "boss", "dogs", "id"][index % 6]
            causes.add(
                Trial(
                    address: FaultAddress(.flip, index), outcome: .silentlyWrong,
                    detail: "Person row \(index) \(column): expected \(index), got 0"))
        }
        result.causes = causes.gravestFirst
        result.outcomes = [OutcomeCount(outcome: .silentlyWrong, count: 4_000)]
        let run = HTMLTests.run([result])
        #expect(RunDigest(run).causeGroups(.violation).count == 6)
        let section = HTMLTests.section("verdict", of: Reporting.html(run))
        let list = section.firstMatch(of: /<ul class="causes">.*?<\/ul>/)?.output ?? ""
        #expect(list.matches(of: /<li>/).count == 6)
        let text = Self.text(run)
        for (index, count) in [667, 667, 667, 667, 666, 666].enumerated() {
            let command = "assay replay Reports/r \(result.test.id) bit:\(index)"
            #expect(list.contains("\(command)<"), "\(command)")
            #expect(text.contains("\(command)\n"), "\(command)")
            #expect(list.contains("\(count) wrong"))
            #expect(text.contains("\(count) trials: Person row \(index) "))
        }
    }

    @Test("a promise that was never made is neither kept nor broken")
    func promises() {
        func row(_ promises: [JudgedPromise]) -> OutcomeRow {
            var result = Self.passed("bit-flip", .corruption, "sqlite")
            result.promises = promises
            return OutcomeRow(engine: "sqlite", subject: Subject(result.test), result: result)
        }
        func made(_ kind: String, _ state: JudgedPromise.State) -> JudgedPromise {
            JudgedPromise(kind: kind, concern: .safety, state: state)
        }
        #expect(row([made("detects-damage", .notMade)]).promise == "none made")
        #expect(row([made("detects-damage", .notMade)]).shortPromise == "none")
        #expect(row([made("detects-damage", .kept)]).promise == "kept")
        #expect(row([made("", .kept)]).promise == "as required")
        #expect(
            row([made("durability", .kept), made("bounded-wait", .notMade)]).promise
                == "durability kept, bounded-wait none made")
        #expect(row([made("durability", .open)]).promise == Figure.none)
        #expect(row([]).promise == Figure.none && row([]).shortPromise == Figure.none)
        let run = HTMLTests.run([row([made("detects-damage", .notMade)]).result])
        #expect(!Reporting.html(run).contains("not broken") && Reporting.html(run).contains("none made"))
    }

    @Test("a strip names offsets, pages, files and owners, and each column a replay command")
    func heatMap() {
        let (result, details) = Self.sweep()
        var run = HTMLTests.run([result])
        run.details = [result.test.id: details]
        let section = HTMLTests.section("safe", of: Reporting.html(run))
        #expect(section.contains("Where in the file"))
        #expect(section.contains("offset 0") && section.contains(">page 0<") && section.contains("64 pages"))
        #expect(section.contains("data.log \u{B7} full durability"))
        let titles = section.matches(of: /<title>(data[^<]*)<\/title>/).map { String($0.output.1) }
        let worst = titles.first { $0.hasPrefix("data, page 10, offsets 40960 to 45055, of Dog") }
        let command = "assay replay Reports/r \(result.test.id) bit:\((40_960 + 17) * 8)"
        #expect(worst?.contains("1 wrong") == true && worst?.hasSuffix(command) == true, "\(titles)")
        #expect(titles.allSatisfy { $0.contains("assay replay ") })
        #expect(titles.contains { $0.hasPrefix("data.log, page 0, offsets 0 to ") })
        // Of trials that the budget left out there is nothing to tell, and nothing to repeat.
        let half = details.trialCodes.count / 2
        let codes = details.trialCodes.enumerated().map { $0 < half ? $1 : .max }
        run.details[result.test.id]?.trialCodes = codes
        let tried = HTMLTests.section("safe", of: Reporting.html(run)).matches(of: /<title>(data[^<]*)<\/title>/)
        #expect(!tried.isEmpty && tried.count < titles.count)
        #expect(tried.allSatisfy { !$0.output.1.contains(": ;") && !$0.output.1.contains(": assay") })
        run.details[result.test.id]?.map = nil
        #expect(!Reporting.html(run).contains("Where in the file"))
    }

    @Test("the witness of a history is drawn with its case, and its label is no figure")
    func witness() {
        var result = Self.passed("history", .concurrency, "strata")
        let rows = ["T1", "T2"].map { WitnessTimeline.Row(name: $0, start: 0, end: 1, operations: "append x 1") }
        let timeline = WitnessTimeline(title: "write skew of two", reasons: "T1 before T2 before T1", rows: rows)
        result.samples = [Sample(.witness, 2, label: timeline.label)]
        let html = Reporting.html(HTMLTests.run([result]))
        #expect(html.contains("<figure class=\"witness\"><figcaption><b>write skew of two</b>"))
        #expect(html.contains(">append x 1<") && !html.contains("<dl class=\"figures\">"))
    }

    /// A file of 64 pages and a log of one, two flips in each page; one flip of page 10 is read as data.
    private static func sweep() -> (CaseResult, CaseDetails) {
        var result = PlausibleRun.passed(PlausibleRun.test("bit-flip", .corruption, "strata"))
        result.outcomes = [
            OutcomeCount(outcome: .detectedAtRead, count: 129), OutcomeCount(outcome: .correct, count: 1),
        ]
        var positions: [Int] = []
        var codes: [UInt8] = []
        for page in 0..<65 {
            for offset in [5, 17] {
                positions.append((page * 4_096 + offset) * 8)
                let isWrong = page == 10 && offset == 17
                codes.append((isWrong ? Outcome.silentlyWrong : page == 64 ? .correct : .detectedAtRead).code)
            }
        }
        let files = [
            SweepMap.File(
                name: "data", byteCount: 64 * 4_096, owners: [SweepMap.PageRange(name: "Dog", pages: 8..<20)]),
            SweepMap.File(name: "data.log", byteCount: 4_096),
        ]
        return (
            result,
            CaseDetails(trialCodes: codes, map: SweepMap(fault: .flip, positions: positions, files: files))
        )
    }
}

extension CaseResult {
    /// This result on another engine.
    fileprivate func on(_ engine: String) -> CaseResult {
        var result = self
        result.test = PlausibleRun.test(test.scenario, test.family, engine)
        return result
    }
}
