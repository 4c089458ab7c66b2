import CaseFiles
import Harness
import Platform
import RunRecords
import Seeds
import StrataEngine
import Testing
import Zoo

@testable import Scenarios

@Suite struct StorageHistoryTests {
    private static let scenario = StorageHistory()
    private static let seeds: ClosedRange<UInt64> = getenv("TESTS_FULL") == nil ? 1...2 : 1...8

    private static func test(_ parameters: [String: String], seed: UInt64 = 1) -> Case {
        Case(
            scenario: scenario.slug, family: scenario.family, engine: "strata-storage", dataset: "", size: 0,
            parameters: scenario.parameters.map {
                CaseParameter(name: $0.name, value: parameters[$0.name] ?? $0.defaultValue)
            }, seed: Seed(seed), durability: .full)
    }

    private static func run(
        _ test: Case, _ engine: any Engine = StorageEngine(), only wanted: FaultAddress? = nil
    ) throws -> CaseReport {
        try EnginesUnderTest.withDirectory { directory in
            let context = CaseContext(
                test: test, engine: engine, source: nil, directory: directory, fixture: nil, deadline: .max,
                onlyTrial: wanted, report: CaseReport(replaying: wanted))
            try scenario.run(context)
            return context.report
        }
    }

    @Test("any subset of a script is a script, and a sound engine passes it", arguments: seeds)
    func parts(seed: UInt64) throws {
        var random = RandomStream(Seed(seed))
        let drawn = Self.test(["operations": "16", "states": "4", "keys": "6"], seed: seed)
        let whole = try #require(ScriptOperation.list(try Self.scenario.script(of: drawn)))
        #expect(whole.count == 16)
        for _ in 0..<4 {
            let part = whole.filter { _ in random.chance(1, in: 2) }
            if part.isEmpty { continue }
            let report = try Self.run(drawn.setting("history", to: ScriptOperation.text(of: part)))
            #expect(report.outcomes.keys.allSatisfy { $0 == .correct }, "\(part): \(report.causes.gravestFirst)")
            #expect(report.outcomes[.correct] ?? 0 > 4, "\(part)")
        }
    }

    @Test("listed operations do the same as those drawn from the seed")
    func listed() throws {
        let drawn = Self.test(["operations": "10", "states": "5"])
        let listed = drawn.setting("history", to: try Self.scenario.script(of: drawn))
        let (one, other) = (try Self.run(drawn), try Self.run(listed))
        #expect(one.outcomes.keys.sorted { $0.code < $1.code } == [.correct])
        #expect(one.outcomes == other.outcomes)
        #expect(try Self.scenario.script(of: listed) == Self.scenario.script(of: drawn))
    }

    @Test(
        "a mistake is found, and its address alone repeats it",
        arguments: [EngineMistake.syncLeftOut, .rowDropped, .lastByte, .rowTwice])
    func planted(mistake: EngineMistake) throws {
        let engine = PlantedEngine.wrap(StorageEngine(), mistake)
        let test = Self.test(["operations": "14", "states": "10", "keys": "4"])
        let report = try Self.run(test, engine)
        let wrong = mistake == .syncLeftOut ? Outcome.lostCommit : .silentlyWrong
        #expect(report.outcomes[wrong] ?? 0 > 0, "\(report.causes.gravestFirst)")
        let trial = try #require(report.trials.first { $0.outcome != .correct && $0.address.fault == .crash })
        let again = try Self.run(test, engine, only: trial.address)
        #expect(again.replayed?.outcome == trial.outcome)
        #expect(again.replayed?.index.map { report.details.trialCodes[$0] } == trial.outcome.code)
        let sound = try Self.run(test, only: trial.address)
        #expect(sound.replayed?.outcome ?? .correct == .correct)
    }

    @Test("a failing script is minimized to fewer than ten operations, whose labels stay")
    func reduced() throws {
        let engine = PlantedEngine.wrap(StorageEngine(), .syncLeftOut)
        let drawn = Self.test(["operations": "40", "states": "4", "wrong": "2"])
        let whole = try #require(ScriptOperation.list(try Self.scenario.script(of: drawn)))
        var fault: FaultAddress?
        let least = try Reduction.subset(of: whole) { part throws in
            if part.isEmpty { return false }
            let report = try Self.run(drawn.setting("history", to: ScriptOperation.text(of: part)), engine)
            guard let lost = report.trials.first(where: { $0.outcome == .lostCommit }) else { return false }
            fault = lost.address
            return true
        }
        #expect((1..<10).contains(least.count), "\(least)")
        #expect(least.allSatisfy { whole.contains($0) })
        let test = drawn.setting("history", to: ScriptOperation.text(of: least)).setting("wrong", to: "0")
        #expect(try Self.run(test, engine, only: fault).replayed?.outcome == .lostCommit)
    }

    @Test("unknown operations are refused by name")
    func refused() {
        for (text, message) in [
            ("op-1:updaet:1:2", "did you mean update?"), ("op-1:update:1", "takes 2 numbers"),
            ("nonsense", "parted by slashes"), ("op-1:insert:1:1001:2:3", "at most 1000 rows"),
        ] {
            let objection = Self.scenario.objection(to: Self.test(["history": text]))
            #expect(objection?.contains(message) == true, "\(objection ?? "")")
        }
        #expect(Self.scenario.objection(to: Self.test([:])) == nil)
    }
}
