import Datasets
import Foundation
import RunRecords
import Seeds
import Testing

@testable import Harness
@testable import Scenarios

/// Places of trials, rows and statements.
@Suite struct ReplayPlaceTests {
    /// A replay reads the outcome recorded at a place: one trial before it shifts all others by one.
    @Test("a trial before a sweep, or a sweep that a replay skips, shifts the later places")
    func places() {
        let report = CaseReport(replaying: FaultAddress(text: "crash:op=3,state=0x1"))
        report.add(Trial(address: FaultAddress(text: "undamaged"), outcome: .silentlyWrong, detail: "wrong"))
        #expect(report.nextPlace == 1)
        report.leaveOut(60)
        report.add(Trial(address: FaultAddress(text: "crash:op=2,state=0x0"), outcome: .correct))
        report.add(Trial(address: FaultAddress(text: "crash:op=3,state=0x1"), outcome: .correct))
        #expect(report.replayed?.index == 62)
    }

    @Test("a sweep without the requested trial still reserves its places")
    func sweepThatIsLeftOut() throws {
        try EnginesUnderTest.withDirectory { directory in
            let scenario = try ScenarioRunTests.scenario("bit-flip")
            let engine = try EnginesUnderTest.engine("strata-storage")
            let sound = try CaseUnderTest.context(scenario, on: engine, in: directory)
            let wanted = FaultAddress(text: "crash:op=3,state=0x1")
            let context = CaseContext(
                test: sound.test, engine: engine, source: sound.source, directory: sound.directory,
                fixture: sound.fixture, deadline: .max, onlyTrial: wanted, report: CaseReport(replaying: wanted))
            context.report.add(Trial(address: FaultAddress(text: "undamaged"), outcome: .silentlyWrong))
            // No child process is started for them.
            try context.sweep((0..<20).map { FaultAddress(.flip, $0) }) { Trial(address: $0, outcome: .correct) }
            #expect(context.report.nextPlace == 21)
            context.report.add(Trial(address: wanted, outcome: .correct))
            #expect(context.report.replayed?.index == 21)
        }
    }

    @Test("the reference of a compacted database has the remaining rows, not the first ones")
    func liveRows() throws {
        let rows = 8
        let names = (0..<rows).map { $0 % 2 == 0 ? "x" : String(repeating: "y", count: 500) }
        let table = Table(
            name: "Person", key: "id",
            columns: [
                Column("id", .integer((0..<rows).map { Int64($0) })), Column("name", .text(TextColumn(names))),
                Column("friend", .link(target: "Person", [1, 0, -1, 2, 6, 4, 0, 5])),
            ])
        let live = TableSet(dataset: "test", tables: [table], digest: 0).keeping([0, 2, 4, 6]).main
        #expect((0..<4).map { live.values(row: $0)[1] } == Array(repeating: .text("x"), count: 4))
        #expect((0..<4).map { live.values(row: $0)[0] } == (0..<4).map { .integer($0) })
        #expect((0..<4).map { live.values(row: $0)[2] } == [.null, .null, .link(3), .link(0)])
    }

    @Test("each part of a compaction has its share of the states")
    func stretches() {
        let stretches = CompactCrash.stretches(10..<31)
        #expect(stretches.count == 8 && stretches.first?.lowerBound == 10 && stretches.last?.upperBound == 31)
        #expect(zip(stretches, stretches.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound && !$0.isEmpty })
        #expect(CompactCrash.stretches(3..<5).count == 2)
    }

    @Test("a small file gets as many flipped bits as a large one")
    func sharesOfFiles() throws {
        try EnginesUnderTest.withDirectory { directory in
            let scenario = try ScenarioRunTests.scenario("bit-flip")
            guard EnginesUnderTest.names.contains("sqlite") else { return }
            let context = try CaseUnderTest.context(
                scenario, on: try EnginesUnderTest.engine("sqlite"), parameters: ["shape": "log"], in: directory)
            let sweep = try DamageSweep(context)
            defer { sweep.removeCopies() }
            try #require(sweep.files.count == 2)
            var random = RandomStream(Seed(1))
            let bits = sweep.damaged.positions(count: 400, scale: 8, random: &random)
            let border = sweep.files[1].start * 8
            #expect(bits.count { $0 < border } == 200 && bits.count { $0 >= border } == 200)
        }
    }

    @Test("a tuned engine's statements are shown unless they are the same")
    func statementsOfTunedEngines() {
        func lines(_ tuned: String) -> [String] {
            EqualWork.statementLines([
                EqualWork.Statements(engine: "sqlite", work: .sum, statements: [("SELECT 1", 2)]),
                EqualWork.Statements(engine: "sqlite-tuned", work: .sum, statements: [(tuned, 2)]),
            ])
        }
        #expect(lines("SELECT 1")[0].hasSuffix("Statements of the tuned engine are the same."))
        #expect(lines("SELECT 1").count == 5)
        #expect(!lines("SELECT 2")[0].contains("are the same"))
        #expect(lines("SELECT 2").last == "| `sqlite-tuned` | sum of a column | 2 | `SELECT 2` |")
    }
}
