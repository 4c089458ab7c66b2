import RunRecords
import Seeds
import Testing

@testable import Harness

@Suite struct DamageOracleTests {
    private func judge(_ fault: MemoryEngine.Fault) -> Outcome {
        let engine = MemoryEngine(fault: fault, data: SmallData.tables)
        return DamageOracle.judge(
            engine: engine, settings: engine.settings(for: .full), location: DatabaseLocation(directory: "/none"),
            expected: SmallData.tables
        ).outcome
    }

    @Test("an engine's behaviour is classified by when it reported, and whether its earlier answers were right")
    func classes() {
        #expect(judge(.none) == .correct)
        #expect(judge(.damagedAtOpen) == .detectedAtOpen)
        #expect(judge(.refusedAtOpen) == .refused)
        #expect(judge(.damagedAfter(rows: 2)) == .detectedAtRead)
        #expect(judge(.wrongValue(row: 1)) == .silentlyWrong)
        #expect(judge(.missingLast) == .silentlyWrong)
        #expect(judge(.wrongThenDamaged(row: 0)) == .silentlyWrong, "a wrong value before an error is not excused")
    }

    @Test("an empty answer to a full table is wrong")
    func empty() {
        let engine = MemoryEngine()
        let result = DamageOracle.judge(
            engine: engine, settings: engine.settings(for: .full), location: DatabaseLocation(directory: "/none"),
            expected: SmallData.tables)
        #expect(result.outcome == .silentlyWrong)
        #expect(result.detail == "Person: row 0 and those after it are missing")
    }

    @Test("a flipped sign of zero is detected")
    func signOfZero() {
        #expect(!FullReadComparison.isSame(.real(0), .real(-0.0)))
        #expect(FullReadComparison.isSame(.real(.nan), .real(.nan)))
    }
}

@Suite struct FullReadComparisonTests {
    private static func rows(_ oracle: ExactOracle, _ change: (String, Int, inout [Value]) -> Void)
        -> FullReadComparison
    {
        let comparison = FullReadComparison(
            oracle, open: [CellPlace(table: "Person", row: 1, column: "name")])
        for table in oracle.schema.tables {
            for row in 0..<table.rowCount {
                var values = table.values(row: row)
                change(table.name, row, &values)
                guard comparison.receive(table: table.name, row: row, values: values) else { return comparison }
            }
        }
        comparison.finish()
        return comparison
    }

    @Test("a cell that may have any value is reported with its value; every other cell has to be right")
    func openCells() throws {
        let oracle = ExactOracle(SmallData.tables)
        let column = try #require(SmallData.tables.main.columnIndex("name"))
        let changed = Self.rows(oracle) { table, row, values in
            if table == "Person" && row == 1 { values[column] = .text("anything") }
        }
        #expect(changed.difference == nil)
        #expect(changed.found == [CellPlace(table: "Person", row: 1, column: "name"): .text("anything")])
        for place in SmallData.tables.tables.flatMap({ table in
            (0..<table.rowCount).flatMap { row in table.columns.indices.map { (table.name, row, $0) } }
        }) where place != ("Person", 1, column) {
            let wrong = Self.rows(oracle) { table, row, values in
                if (table, row) == (place.0, place.1) { values[place.2] = .text("#") }
            }
            #expect(wrong.difference != nil, "\(place)")
        }
    }

    @Test("texts are compared by their bytes")
    func bytes() {
        #expect("\u{E9}" == "e\u{301}")
        #expect(!FullReadComparison.isSame(.text("\u{E9}"), .text("e\u{301}")))
        #expect(FullReadComparison.isSame(.text("e\u{301}"), .text("e\u{301}")))
    }
}

@Suite struct ExactOracleTests {
    @Test("digests of point reads, queries and walks are those of the data")
    func digests() {
        let oracle = ExactOracle(SmallData.tables)
        var expected = ReadDigest()
        expected.add(text: "bob")
        expected.add(real: -0.0)
        #expect(oracle.digest(PointReads(table: "Person", keys: [1, 99], columns: ["name", "score"])) == expected)
        #expect(oracle.countEqual(table: "Person", column: "name", text: "ann") == 2)
        let forward = Traversal(
            table: "Person", column: "dogs", direction: .forward, rows: [0, 1, 2], property: "age")
        #expect(oracle.digest(forward).sum == 7 + 9 + 8 + 8)
        #expect(oracle.digest(forward).count == 4)
        let backward = Traversal(table: "Person", column: "dogs", direction: .backward, rows: [1], property: "id")
        #expect(oracle.digest(backward).sum == 2 + 2)
        #expect(oracle.digest(backward).count == 2)
    }

    @Test("reads see earlier updates and deletions")
    func changes() {
        var oracle = ExactOracle(SmallData.tables)
        oracle.update(table: "Person", column: "id", keys: [2], values: [40])
        oracle.delete(table: "Person", keys: [0])
        #expect(oracle.digest(PointReads(table: "Person", keys: [0, 2], columns: ["id"])).sum == 40)
        #expect(oracle.countEqual(table: "Person", column: "name", text: "ann") == 1)
        #expect(oracle.tables["Person"]?.liveCount == 2)
    }
}

@Suite struct IncrementSumTests {
    @Test("a final value below the acknowledged increments is a lost update, above the attempted an invention")
    func finalValue() {
        let outcomes = (101...104).map {
            IncrementSum.judge(initial: 100, acknowledged: 2, attempted: 3, final: $0).outcome
        }
        #expect(outcomes == [.lostCommit, .correct, .correct, .silentlyWrong])
    }
}

@Suite struct VerdictRuleTests {
    private struct Probe: Scenario {
        let slug = "probe"
        let family = Family.corruption
        let question = "?"
        let requires: Set<Capability> = []
        var accepts: Set<Outcome> = Outcome.honest
        var expects: Promise.Kind? = .detectsDamage
        var whenHung: Promise.Kind?
        var isolation = IsolationLevel.snapshot
        var meansAll = true
        var parameters: [ScenarioParameter] = []
        func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome == .hung ? whenHung ?? expects : expects }
        func isMeant(_ promise: Promise, for test: Case) -> Bool { meansAll }
        func run(_ context: CaseContext) throws {}
    }

    private static let test = probe(shape: nil)

    private static func probe(shape: String?) -> Case {
        let parameters = [("shape", shape), ("trials", "3")].compactMap { name, value in
            value.map { CaseParameter(name: name, value: $0) }
        }
        return Case(
            scenario: "probe", family: .corruption, engine: "memory", dataset: "", size: 0, parameters: parameters,
            seed: Seed(1), durability: .full)
    }

    private func judge(
        _ outcome: Outcome, promises: [Promise.Kind], expects: Promise.Kind? = .detectsDamage,
        known: [KnownViolation] = []
    ) -> Verdict {
        let engine = MemoryEngine(promises: promises.map { Promise($0, sentence: "it says so", source: "manual") })
        let counts = [OutcomeCount(outcome: .correct, count: 5), OutcomeCount(outcome: outcome, count: 1)]
        return VerdictRule(known: known).judge(
            counts, test: Self.test, scenario: Probe(expects: expects), engine: engine
        ).verdict
    }

    @Test("a wrong outcome is a violation only if it breaks a promise")
    func promises() {
        #expect(judge(.detectedAtRead, promises: []) == .pass)
        #expect(judge(.silentlyWrong, promises: []) == .unpromised)
        #expect(judge(.silentlyWrong, promises: [.detectsDamage]) == .violation)
        #expect(judge(.silentlyWrong, promises: [], expects: nil) == .violation)
        #expect(judge(.silentlyWrong, promises: [.survivesDamage]) == .unpromised)
        #expect(judge(.crashed, promises: [.survivesDamage]) == .violation)
        #expect(judge(.hung, promises: [.survivesDamage]) == .violation)
        #expect(judge(.crashed, promises: []) == .unpromised)
        #expect(judge(.overSize, promises: [.survivesDamage]) == .unpromised, "a lack of space ends no process")
    }

    @Test("the expected outcome follows from the promise and the bounds of the case")
    func expectation() {
        func words(_ outcome: Outcome, _ promises: [Promise], _ scenario: Probe) -> String {
            VerdictRule().expectation(
                against: outcome, of: Self.test, scenario: scenario, engine: MemoryEngine(promises: promises))
        }
        let bounded = Promise(.boundedSize, sentence: "the file stays small", source: "manual")
        let survives = Promise(.survivesDamage, sentence: "damage ends nothing", source: "manual")
        let sized = Probe(
            accepts: [.correct], expects: .boundedSize,
            parameters: [
                ScenarioParameter("bound", .allowance, default: 4, summary: "times its size at the start"),
                ScenarioParameter("trials", .effort, default: 9, summary: "kills"),
            ])
        #expect(
            words(.silentlyWrong, [bounded], sized)
                == "correct, as memory promises: the file stays small. Allowed: bound=4, times its size at the start")
        #expect(words(.crashed, [survives], Probe()).hasSuffix("as memory promises: damage ends nothing"))
        let unnamed = Probe(accepts: [.correct], expects: nil)
        #expect(words(.silentlyWrong, [], unnamed) == "correct, as every engine has to")
        #expect(words(.silentlyWrong, [], Probe(accepts: [.refused, .correct])) == "correct or refused")
    }

    private func states(
        _ outcome: Outcome, promises: [Promise], _ scenario: Probe, known: [KnownViolation] = []
    ) -> [String] {
        VerdictRule(known: known).judge(
            [OutcomeCount(outcome: outcome, count: 1)], test: Self.test, scenario: scenario,
            engine: MemoryEngine(promises: promises)
        ).promises.map { "\($0.kind) \($0.concern.rawValue) \($0.state.rawValue)" }
    }

    @Test("a promise that was not made is never called kept, and a hang breaks no safety")
    func judgedPromises() {
        let detects = Promise(.detectsDamage, sentence: "s", source: "d")
        let waits = Promise(.boundedWait, sentence: "s", source: "d")
        let probe = Probe(whenHung: .boundedWait)
        #expect(
            states(.correct, promises: [detects], probe)
                == ["detects-damage safety kept", "bounded-wait progress not-made"])
        #expect(
            states(.correct, promises: [], probe)
                == ["detects-damage safety not-made", "bounded-wait progress not-made"])
        #expect(
            states(.silentlyWrong, promises: [detects, waits], probe)
                == ["detects-damage safety broken", "bounded-wait progress kept"])
        #expect(
            states(.hung, promises: [detects, waits], probe)
                == ["bounded-wait progress broken", "detects-damage safety kept"])
        #expect(
            states(.hung, promises: [detects], probe) == [
                "detects-damage safety kept", "bounded-wait progress not-made",
            ])
        #expect(
            states(.silentlyWrong, promises: [detects], Probe(meansAll: false)) == ["detects-damage safety not-made"],
            "a promise that is not made for such a case")
        #expect(states(.hung, promises: [], Probe(expects: nil)) == [" progress broken"])
        #expect(states(.overSize, promises: [], Probe(expects: nil)) == [" progress broken"])
        #expect(states(.silentlyWrong, promises: [], Probe(expects: nil)) == [" safety broken"])
        let survives = Promise(.survivesDamage, sentence: "s", source: "d")
        #expect(
            states(.crashed, promises: [survives], Probe())
                == ["survives-damage safety broken", "detects-damage safety not-made"])
        let entry = KnownViolation(scenario: "probe", engine: "memory", outcome: .silentlyWrong, reason: "because")
        #expect(states(.silentlyWrong, promises: [detects], Probe(), known: [entry]) == ["detects-damage safety known"])
    }

    @Test("isolation is promised by level: one weaker than the scenario needs does not count")
    func isolation() {
        func verdict(_ level: IsolationLevel?, needs: IsolationLevel) -> Verdict {
            let promises = level.map { [Promise(isolation: $0, sentence: "s", source: "d")] } ?? []
            let probe = Probe(expects: .isolation, isolation: needs)
            return VerdictRule().judge(
                [OutcomeCount(outcome: .lostCommit, count: 1)], test: Self.test, scenario: probe,
                engine: MemoryEngine(promises: promises)
            ).verdict
        }
        for (index, level) in IsolationLevel.allCases.enumerated() {
            for needs in IsolationLevel.allCases[...index] { #expect(verdict(level, needs: needs) == .violation) }
            for needs in IsolationLevel.allCases[(index + 1)...] {
                #expect(verdict(level, needs: needs) == .unpromised, "\(level) \(needs)")
            }
        }
        #expect(verdict(nil, needs: .readCommitted) == .unpromised)
    }

    @Test("a violation that is listed is known; one that is not listed beside it stays a violation")
    func known() {
        let entry = KnownViolation(scenario: "probe", engine: "memory", outcome: .silentlyWrong, reason: "because")
        #expect(judge(.silentlyWrong, promises: [.detectsDamage], known: [entry]) == .known)
        #expect(judge(.crashed, promises: [.detectsDamage], known: [entry]) == .violation)
        let other = KnownViolation(
            scenario: "probe", engine: "memory", outcome: .silentlyWrong, dataset: "people", reason: "because")
        #expect(judge(.silentlyWrong, promises: [.detectsDamage], known: [other]) == .violation)
        var ofShape = entry
        ofShape.parameters = ["shape": "log"]
        #expect(judge(.silentlyWrong, promises: [.detectsDamage], known: [ofShape]) == .violation)
        #expect(!ofShape.covers(Self.test, .silentlyWrong) && entry.covers(Self.test, .silentlyWrong))
        #expect(ofShape.covers(Self.probe(shape: "log"), .silentlyWrong))
        #expect(!ofShape.covers(Self.probe(shape: "clean"), .silentlyWrong))
    }

    @Test("a list of known violations is read with its parameters, and an unknown name is refused")
    func knownList() throws {
        let text = """
            [{ scenario: "probe", engine: "memory", outcome: "silently-wrong", parameters: { shape: "log" },
               reason: "because" }]
            """
        let list = try KnownViolation.read(text, file: "known.json5")
        #expect(list.map(\.parameters) == [["shape": "log"]])
        #expect(throws: PlanError.self) {
            try KnownViolation.read(text.replacing("parameters", with: "parameter"), file: "known.json5")
        }
    }
}
