import RunRecords
import Testing

@testable import Reporting

/// The first screen of a report.
@Suite struct AnswerPageTests {
    private static func first(_ html: String) -> Substring { HTMLTests.section("verdict", of: html) }

    private static func text(_ markup: some StringProtocol) -> String {
        String(markup).replacing(/<[^>]+>/, with: "")
    }

    private static func result(
        _ scenario: String, _ family: Family, _ engine: String, _ verdict: Verdict,
        _ counts: [(Outcome, Int)] = [(.correct, 24)], message: String = ""
    ) -> CaseResult {
        var result = PlausibleRun.passed(PlausibleRun.test(scenario, family, engine))
        result.verdict = verdict
        result.outcomes = counts.map { OutcomeCount(outcome: $0.0, count: $0.1) }
        result.outcome = counts.map(\.0).max { $0.gravity < $1.gravity }
        result.message = message
        if verdict.isViolation {
            result.promises = [JudgedPromise(kind: "durability", concern: .safety, state: .broken)]
            result.causes = counts.filter { !$0.0.isHonest }.map { outcome, count in
                FailureCause(
                    Trial(
                        address: FaultAddress(text: "io:sync#16,EIO"), outcome: outcome,
                        detail: "power goes before it writes 512 bytes at 0 of data.db"), count: count)
            }
        }
        return result
    }

    @Test("with engines measured in rounds the question is speed, and bytes are separate")
    func speed() throws {
        var made = RunWithRounds()
        let centres = { (own: Double) in
            Dictionary(uniqueKeysWithValues: RunWithRounds.engines.map { ($0, $0.hasPrefix("strata") ? own : 1_000) })
        }
        made.add(.init(scenario: "commit", metric: .commitsPerSecond, centres: centres(4_000)))
        made.add(.init(scenario: "walk", metric: .rowsPerSecond, centres: centres(385)))
        made.add(.init(scenario: "update", metric: .writtenBytesPerCommit, centres: centres(16_000)))
        made.add(.init(scenario: "jump", metric: .rowsPerSecond, centres: centres(100)), isOnce: true)
        let html = Reporting.html(made.run)
        let first = Self.first(html)
        let title = try #require(first.firstMatch(of: /<h2[^>]*>(.*?)<\/h2>/)).output.1
        #expect(title.hasPrefix("How fast is Strata beside "))
        let words = Self.text(first)
        #expect(words.contains("Strata storage, speed: ahead of the best peer in 1 of 2 figures, behind in 1"))
        #expect(words.contains("Worst walk, rows/s: 2.6 times as slow as "))
        let once = "1 figure, measured once, claims nothing; it is jump, rows/s: 10 times as slow as "
        #expect(words.contains(once))
        #expect(words.contains("Strata: objects, as an app uses them. Strata storage: "))
        #expect(words.contains("Nearest update"), "an engine without a better figure has no best one")
        #expect(words.contains("bytes and other costs: ahead of the best peer in 0 of 1 figure, behind in 1"))
        #expect(words.contains("16 times as much as "))
        // The drawing of speed has no bytes, and neither has a number below one.
        let forest = try #require(first.firstMatch(of: /<figure class="forest">.*?<\/figure>/)).output
        let bytes = try #require(first.firstRange(of: "bytes and other costs:"))
        #expect(bytes.upperBound < forest.startIndex, "the plot comes before a bar")
        #expect(forest.contains("walk") && !forest.contains("written bytes"))
        #expect(forest.contains("2.6\u{D7} as slow") && !Self.text(forest).contains("0.38"))
        let glance = try #require(html.firstMatch(of: /<dt><a href="#fast">.*?<\/dd>/)).output
        #expect(Self.text(glance).contains("of 2 figures") && !glance.contains("written bytes"))
    }

    @Test("the heading is the question of the plan; without one, that of most cases")
    func planned() {
        var run = HTMLTests.run([Self.result("bit-flip", .corruption, "strata", .pass)])
        #expect(Self.first(Reporting.html(run)).contains(">Is the data safe?</h2>"))
        run.header.question = "Is it safe & sound?"
        #expect(Self.first(Reporting.html(run)).contains(">Is it safe &amp; sound?</h2>"))
    }

    @Test("names of scenarios lead to what they ask, in the map, the matrix, and the entry of a case")
    func scenarioQuestions() throws {
        var run = HTMLTests.run([Self.result("bit-flip", .corruption, "strata", .pass)])
        let older = Reporting.html(run)
        #expect(!older.contains("What each scenario asks") && !older.contains("#s-bit-flip"))
        run.header.scenarioQuestions = ["bit-flip": "Is a wrong bit & its page found?", "not-run": "Is it run?"]
        let html = Reporting.html(run)
        let list = try #require(html.firstMatch(of: /What each scenario asks.*?<\/dl>/)).output
        #expect(list.contains("<dt id=\"s-bit-flip\">bit-flip</dt><dd>Is a wrong bit &amp; its page found?</dd>"))
        #expect(!list.contains("Is it run?"))
        let name = "<a href=\"#s-bit-flip\" title=\"Is a wrong bit &amp; its page found?\">bit-flip</a>"
        #expect(html.matches(of: /<table class="heat">.*?<\/table>/).contains { $0.output.contains(name) })
        #expect(HTMLTests.section("matrix", of: html).contains(name))
        let entry = HTMLTests.section("cases", of: html)
        #expect(entry.contains("<p class=\"note\">Is a wrong bit &amp; its page found?</p>"))
    }

    /// The cases of the question alone.
    private static func part(_ question: Question, of run: Run) -> Run {
        var run = run
        run.results.removeAll { !question.families.contains($0.test.family) }
        run.header.cases = run.results.map(\.test.id)
        return run
    }

    @Test("without rounds the answer on speed and on size has the first charts, which the section below leaves out")
    func charts() throws {
        let sizes = Reporting.html(Self.part(.large, of: PlausibleRun.run))
        let drawings = { (html: Substring) in html.matches(of: /<figure>.*?<\/figure>/).map(\.output) }
        let shown = drawings(Self.first(sizes))
        #expect(!shown.isEmpty && Self.first(sizes).contains("Thick lines are data and log together"))
        #expect(Set(shown).isDisjoint(with: drawings(HTMLTests.section("large", of: sizes))))
        let speed = Reporting.html(Self.part(.fast, of: PeerTableTests.run))
        #expect(Self.first(speed).contains(">Per second: longer is faster</h3>"))
        #expect(Self.first(speed).contains(">commit</a>") && Self.first(speed).contains("class=\"bar "))
        let words = Self.text(Self.first(speed))
        let highest = try #require(words.firstMatch(of: /Highest rate: .*? no claim\./)).output
        let claim = "Each was measured once, which supports no claim."
        #expect(highest == "Highest rate: Strata storage in 2 of 2 scenarios. \(claim)")
        #expect(!HTMLTests.section("fast", of: speed).contains("Per second: longer is faster"))
    }

    @Test("an answer without a map of faults and without charts has a strip of outcomes for each engine")
    func strips() throws {
        for family in [Family.queries, .invalidation, .migration] {
            let html = Reporting.html(
                HTMLTests.run([
                    Self.result("a", family, "strata", .pass), Self.result("b", family, "strata", .pass),
                    Self.result("a", family, "sqlite", .unpromised, [(.correct, 20), (.silentlyWrong, 4)]),
                ]))
            let strips = try #require(Self.first(html).firstMatch(of: /<table class="questions strips">.*?<\/table>/))
            let lines = strips.output.split(separator: "<tr").dropFirst().map { Self.text("<tr" + $0) }
            #expect(lines.count == 2 && lines[0].contains("Strata") && lines[0].hasSuffix("48 correct"), "\(lines)")
            #expect(lines[1].contains("SQLite") && lines[1].hasSuffix("20 correct, 4 wrong"), "\(lines)")
        }
        let faults = Reporting.html(HTMLTests.run([Self.result("bit-flip", .corruption, "strata", .pass)]))
        #expect(!Self.first(faults).contains("questions strips"))
    }

    @Test("on a terminal without a table of peers, bytes stand below the question of size, apart from speed")
    func terminalCosts() throws {
        var made = RunWithRounds()
        for (scenario, metric) in [("walk", Metric.rowsPerSecond), ("update", .writtenBytesPerCommit)] {
            made.add(.init(scenario: scenario, metric: metric, centres: ["strata-storage": 500, "sqlite": 1_000]))
        }
        var run = made.run
        run.header.engines = run.header.engines.filter { ["strata-storage", "sqlite"].contains($0.name) }
        let text = Reporting.terminal(run, width: 400, colour: false)
        func answer(to question: Question) -> Substring {
            text.split(separator: "\n\n").first { $0.contains(question.text) } ?? ""
        }
        let fast = answer(to: .fast)
        #expect(fast.contains("beside the best peer, speed: ahead in 0, behind in 1, same in 0, open in 0 of 1 figure"))
        #expect(!fast.contains("bytes"), "\(fast)")
        let large = answer(to: .large)
        #expect(large.contains("beside the best peer, bytes and other costs: ahead in 1, "), "\(large)")
        #expect(!large.contains("speed"), "\(large)")
        #expect(!text.contains(TerminalReport.peerQuestion))
    }

    @Test("a plot of many figures has the six best and the six worst")
    func ends() throws {
        let first = Self.first(Reporting.html(RunWithRounds.large))
        let forest = try #require(first.firstMatch(of: /<figure class="forest">.*?<svg class="fluid slim"/)).output
        #expect(forest.matches(of: /class="dot w-/).count == 12)
        let headline = try #require(RunDigest(RunWithRounds.large).headlines.first).times
        for line in headline.lines.prefix(6) + headline.lines.suffix(6) {
            #expect(forest.contains(Markup.escaped(line.name) + ":"), "\(line.name)")
        }
    }

    @Test(
        "red where any engine broke a promise, listed or not; amber where a question has no answer; else green",
        arguments: [
            ([Verdict.pass, .pass], "good"), ([.pass, .known], "bad"), ([.pass, .violation], "bad"),
            ([.pass, .inconclusive], "doubt"), ([.inconclusive, .violation], "bad"), ([.pass, .unpromised], "good"),
            ([.pass, .harnessError], "doubt"), ([.pass, .suspectedHarness], "doubt"),
            ([.pass, .notApplicable], "good"),
        ])
    func tone(verdicts: [Verdict], tone: String) {
        let results = verdicts.enumerated().map { index, verdict in
            Self.result("s\(index)", .crash, "sqlite", verdict)
        }
        #expect(Reporting.html(HTMLTests.run(results)).contains("class=\"headline \(tone)\""))
    }

    @Test("kept promises are reported with the number of trials")
    func kept() {
        let html = Reporting.html(
            HTMLTests.run([
                Self.result("bit-flip", .corruption, "strata", .pass),
                Self.result("truncate", .corruption, "strata", .inconclusive, [(.correct, 7)]),
            ]))
        #expect(Self.first(html).contains("Every promise was kept in the 24 trials that ran"))
        #expect(Self.first(html).contains("1 of 2 cases has no answer"))
    }

    @Test("damage that no promise protects is told with the engines, beside violations too")
    func unprotected() {
        let wrong = ["sqlite", "lmdb"].map {
            Self.result("bit-flip", .corruption, $0, .unpromised, [(.silentlyWrong, 3)])
        }
        let words = "2 cases ended badly where the engine promises nothing (SQLite 1, LMDB 1)"
        let kept = Self.result("bit-flip", .corruption, "strata", .pass)
        let broken = Self.result("sync-fails", .crash, "strata", .violation, [(.lostCommit, 1)])
        for first in [kept, broken] {
            let run = HTMLTests.run([first] + wrong)
            let text = Self.text(Self.first(Reporting.html(run))).replacing("\u{A0}", with: " ")
            #expect(text.contains(words), "\(first.test.scenario)")
            #expect(Reporting.terminal(run, width: 400, colour: false).contains(words), "\(first.test.scenario)")
        }
    }

    @Test("a question without an answer stays, and says why; one that the plan does not ask is left out")
    func unanswered() throws {
        let cut = (0..<4).map { index in
            var result = Self.result(
                "rename-\(index)", .migration, "strata", .inconclusive, [], message: "cut by its share of the budget")
            result.isCut = true
            return result
        }
        var run = HTMLTests.run(cut + [Self.result("bit-flip", .corruption, "strata", .pass)])
        run.header.budgetSeconds = 600
        let html = Reporting.html(run)
        let questions = try #require(Self.first(html).firstMatch(of: /<table class="questions">.*?<\/table>/)).output
        #expect(
            Self.text(questions).contains("not answered: 4 of 4 cases, the budget of 10\u{A0}min was used up"))
        #expect(!questions.contains("Are deleted objects safe?") && !html.contains("id=\"deleted\""))
        #expect(!html.contains("href=\"#deleted\"") && html.contains("href=\"#migrations\""))
        // Causes of one kind share one folded line.
        let findings = Self.first(html).matches(of: /<ul class="findings">.*?<\/summary>/)
        #expect(findings.count == 1)
        let line = findings.first.map { Self.text($0.output) } ?? ""
        #expect(line.contains("4 cases: the budget of 10\u{A0}min was used up"))
    }

    @Test("the reason of a single case keeps its numbers, and one that cases share has none")
    func reasons() {
        func open(_ count: Int, _ bytes: Int) -> [CaseResult] {
            (0..<count).map {
                let message = "the log has \(bytes + $0) bytes"
                return Self.result("stale-page", .corruption, "engine\($0)", .inconclusive, [], message: message)
            }
        }
        #expect(Self.first(Reporting.html(HTMLTests.run(open(1, 512)))).contains("stale-page: the log has 512 bytes"))
        #expect(Self.first(Reporting.html(HTMLTests.run(open(2, 512)))).contains("2 cases: the log has # bytes"))
    }

    @Test("a question of which no case ran before the run was stopped is listed, without a link")
    func stopped() throws {
        var run = HTMLTests.run([Self.result("bit-flip", .corruption, "strata", .pass)])
        run.header.cases += ["m1", "m2", "m3"]
        run.header.families = ["m1": .migration, "m2": .migration, "m3": .crash]
        let html = Reporting.html(run)
        let questions = try #require(Self.first(html).firstMatch(of: /<table class="questions">.*?<\/table>/)).output
        let words = Self.text(questions)
        #expect(words.contains("1 unanswered, 1 kept"), "\(words)")
        #expect(words.contains("Are migrations safe?2 unanswered not answered: 2 of 2 cases, the run stopped early"))
        #expect(!html.contains("href=\"#migrations\"") && html.contains(">Safety<small>1/2</small>"))
        // An older run does not say what its missing cases would have answered.
        run.header.families = [:]
        #expect(!Reporting.html(run).contains("Are migrations safe?"))
    }

    @Test("the answer about faults counts the faults that every engine met, so that none alone lowers a share")
    func harm() {
        let run = HTMLTests.run([
            Self.result("bit-flip", .corruption, "sqlite", .unpromised, [(.correct, 23), (.silentlyWrong, 1)]),
            Self.result("bit-flip", .corruption, "strata", .known, [(.correct, 190), (.lostCommit, 2)]),
            Self.result("power-loss", .crash, "strata", .pass, [(.correct, 4_000)]),
        ])
        let words = Self.text(Self.first(Reporting.html(run))).replacing(Figure.gap, with: " ")
        #expect(
            words.contains(
                "in the 1 row of the map that every engine has: Strata 2 of 192 (1.0 %), SQLite 1 of 24 (4.2 %)."),
            "\(words.prefix(400))")
    }

    @Test("the command of a case file names the library of its engine, without which it cannot be replayed")
    func caseFileCommand() throws {
        var run = HTMLTests.run([
            Self.result("io-errors", .crash, "leveldb", .violation, [(.correct, 298), (.silentlyWrong, 3)])
        ])
        let address = FaultAddress(text: "io:sync#16,EIO")
        let name = KeptCaseName.of(run.results[0].test.id, .silentlyWrong, address)
        run.caseFiles = [name]
        #expect(Self.first(Reporting.html(run)).contains("cases/\(name)</code>"))
        var library = EngineVersion(name: "leveldb", version: "1.23")
        library.file = "/opt/my library.so"
        run.header.engines = [library]
        #expect(Self.first(Reporting.html(run)).contains("\(name) --engine-library "))
    }

    @Test("a violation is one plain sentence with its numbers; addresses, operations and bytes are folded below it")
    func sentences() throws {
        let run = HTMLTests.run([
            Self.result("sync-fails", .crash, "berkeleydb", .violation, [(.correct, 20), (.lostCommit, 4)]),
            Self.result("recorded-power-loss", .crash, "sqlite", .violation, [(.correct, 23), (.lostCommit, 1)]),
            Self.result("io-errors", .crash, "leveldb", .violation, [(.correct, 298), (.silentlyWrong, 3)]),
        ])
        let first = Self.first(Reporting.html(run))
        #expect(first.contains("Berkeley DB, SQLite and LevelDB broke a promise"))
        let heads = first.matches(of: /<li><details><summary>(.*?)<\/summary>/).map { Self.text($0.output.1) }
        let sentence =
            "Berkeley DB: a commit that was acknowledged after a failed fsync was gone, or could not be read, after a "
            + "power loss"
        #expect(heads.first?.contains(sentence) == true)
        #expect(heads.first?.hasSuffix("4 of 24") == true)
        // Nothing was damaged: a database that is refused has lost its data, too, and then the engine reported it.
        let unread = "SQLite: acknowledged data was gone, or could not be read, after a power loss"
        #expect(heads.contains { $0.contains(unread) })
        #expect(
            heads.last?.contains("LevelDB: the engine gave wrong data as if it were right after one of its file")
                == true)
        #expect(heads.allSatisfy { !$0.contains("#") && !$0.contains("512 bytes") })
        #expect(first.contains("io:sync#16,EIO") && first.contains("power goes before it writes 512 bytes"))
    }

    @Test("the map of faults has a cell per fault and engine, coloured by the gravest outcome, with the bad share")
    func heat() throws {
        let run = HTMLTests.run([
            Self.result("bit-flip", .corruption, "strata", .pass, [(.detectedAtRead, 100)]),
            Self.result("bit-flip", .corruption, "sqlite", .unpromised, [(.correct, 62), (.silentlyWrong, 38)]),
            Self.result("truncate", .corruption, "strata", .known, [(.correct, 199), (.lostCommit, 1)]),
            Self.result("truncate", .corruption, "sqlite", .inconclusive, []),
            Self.result("disk-full", .crash, "sqlite", .unpromised, [(.correct, 3), (.hung, 1)]),
        ])
        let map = try #require(Self.first(Reporting.html(run)).firstMatch(of: /<table class="heat">.*?<\/table>/))
            .output
        func cells(_ fault: String) -> [(String, String)] {
            let row = map.split(separator: "<tr").first { $0.contains("<th scope=\"row\">\(fault)</th>") } ?? ""
            return row.matches(of: /<td class="h-([a-z]+)">(.*?)<\/td>/).map {
                (String($0.output.1), Self.text($0.output.2))
            }
        }
        #expect(cells("bit-flip").map(\.0) == ["reported", "wrong"] && cells("bit-flip").map(\.1) == ["", "38"])
        #expect(cells("truncate").map(\.0) == ["lost", "none"] && cells("truncate").map(\.1) == ["\u{2717} 0.5", "?"])
        #expect(cells("disk-full").map(\.0) == ["stopped"] && cells("disk-full").map(\.1) == ["25"])
        #expect(map.contains("title=\"not tried: the engine cannot be put under this fault"))
    }

    @Test("every verdict is one of five words, every outcome one of six")
    func outcomes() {
        let words = Verdict.allCases.map { Standing.judged($0).shown.rawValue }
        #expect(
            words == [
                "kept", "broken", "broken", "unprotected", "skipped", "skipped", "unanswered", "unanswered",
                "unanswered",
            ])
        #expect(Verdict.allCases.map(\.shownWord) == words)
        #expect(ShownOutcome.allCases.count == 6)
        #expect(Outcome.silentlyWrong.shownWords == "wrong (silently-wrong)" && Outcome.correct.shownWords == "correct")
        for outcome in Outcome.allCases { #expect(ShownOutcome(outcome).isBad == !outcome.isHonest) }
        #expect(ShownOutcome.allCases.allSatisfy { !$0.rawValue.contains(" ") && !$0.explanation.isEmpty })
    }

    @Test("other load on the machine is noted with the figures, not above the verdict")
    func busy() throws {
        var run = RunWithRounds.small
        run.header.warnings = ["busy machine: load 1.4 on 2 cores", "DEBUG BUILD: no figure counts; run `make build`"]
        let html = Reporting.html(run)
        let warnings = try #require(html.firstMatch(of: /<section class="warnings".*?<\/section>/)).output
        #expect(warnings.contains("DEBUG BUILD") && !warnings.contains("load 1.4"))
        #expect(warnings.contains("<code>make build</code>") && !warnings.contains("`"))
        #expect(Self.first(html).contains("Busy machine: load 1.4 on 2 cores"))
    }

    @Test(
        "a ratio is worded with a number above one and the adjective of its figure",
        arguments: [
            (0.385, Metric.commitsPerSecond, "2.6 times as slow as LMDB"),
            (26, Metric.operationNanoseconds, "26 times as fast as LMDB"),
            (0.004, Metric.writtenBytesPerCommit, "250 times as much as LMDB"),
            (2, Metric.fileBytes, "2.0 times as small as LMDB"), (1.002, Metric.rowsPerSecond, "as fast as LMDB"),
        ] as [(Double, Metric, String)])
    func ratios(value: Double, metric: Metric, words: String) {
        #expect(FigureRatio(value: value, peer: "lmdb").sentence(Measure(Sample(metric, 1))) == words)
    }

    /// The report once had `0.23×` beside a bar, which each reader had to invert.
    @Test("beside a bar, in tables and in tooltips a ratio has its words, and no number below one")
    func barsAndTables() throws {
        let html = Reporting.html(RunWithRounds.small)
        let bars = HTMLTests.section("fast", of: html).matches(of: /<svg.*?<\/svg>/).map { String($0.output) }
            .filter { $0.contains("class=\"bar ") }
        #expect(bars.contains { Self.text($0).contains(/(1\.9|2\.[01])\u{D7} as slow/) })
        #expect(bars.contains { $0.contains(/<title>strata-storage: (1\.9|2\.[01]) times as slow as LMDB<\/title>/) })
        let table = try #require(html.firstMatch(of: /(?s)<table class="grid sort" id="t-ratios.*?<\/table>/)).output
        #expect(table.contains(/(1\.9|2\.[01])\u{D7} as slow/) && table.contains(" to "))
        for page in [html, Reporting.terminal(RunWithRounds.small, width: 160, colour: false)] {
            let below = page.matches(of: /0\.[0-9]+\u{D7}/).map(\.output)
            // Ticks of an axis are places, not results.
            #expect(below.allSatisfy { ["0.1\u{D7}", "0.2\u{D7}", "0.5\u{D7}"].contains($0) }, "\(below)")
        }
        #expect(!Reporting.terminal(RunWithRounds.small, width: 160, colour: false).contains(/0\.[0-9]+\u{D7}/))
    }
}
