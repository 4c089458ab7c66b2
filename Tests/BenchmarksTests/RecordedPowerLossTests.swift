import FaultModel
import Harness
import RunRecords
import Seeds
import SimulatedDisk
import StrataEngine
import Testing
import Zoo

@testable import ProgramTrials
@testable import Scenarios

/// Records of scripts on a simulated disk, where nothing else writes and each run is repeatable. The disk states built
/// from them are opened on the real file system.
@Suite struct RecordedPowerLossTests {
    /// An engine that keeps its files on a simulated disk, whatever location it is given.
    private struct EngineOnDisk: Engine {
        let base: any SimulatableEngine
        let disk: SimulatedDisk

        var name: String { base.name }
        var version: String { base.version }
        var capabilities: Set<Capability> { base.capabilities.subtracting([.compaction]) }
        var promises: [Promise] { base.promises }
        func settings(for durability: DurabilityClass) -> EngineSettings { base.settings(for: durability) }
        func files(at location: DatabaseLocation) -> [DatabaseFile] { [] }
        func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session {
            try base.open(on: disk, DatabaseLocation(directory: ""), settings: settings)
        }
    }

    /// An engine that refuses every file.
    private struct RefusingEngine: Engine {
        let name = "refusing"
        let version = "1"
        let capabilities: Set<Capability> = [.tables, .persistent, .updates, .deletions]
        let promises: [Promise] = []
        func settings(for durability: DurabilityClass) -> EngineSettings {
            EngineSettings(durability: durability, list: [])
        }
        func files(at location: DatabaseLocation) -> [DatabaseFile] { [] }
        func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session {
            throw EngineError(.refused, "not a database")
        }
    }

    private static func test(_ durability: DurabilityClass) -> Case {
        let scenario = RecordedPowerLoss()
        let values = ["operations": "12", "keys": "4", "states": "3", "total": "80", "profile": "strict"]
        return Case(
            scenario: scenario.slug, family: scenario.family, engine: "strata-storage", dataset: "", size: 0,
            parameters: scenario.parameters.map {
                CaseParameter(name: $0.name, value: values[$0.name] ?? $0.defaultValue)
            }, seed: Seed(1), durability: durability)
    }

    private static func context(
        _ durability: DurabilityClass, _ engine: any Engine, _ directory: String
    ) -> CaseContext {
        CaseContext(
            test: test(durability), engine: engine, source: nil, directory: directory, fixture: nil, deadline: .max)
    }

    private static let script = PlayedScript(ScriptDraw.everyAction(of: test(.full)))

    /// Plays the script on an engine, and returns the record of its operations and lines.
    private static func record(
        _ durability: DurabilityClass, in directory: String, on engine: any Engine = StorageEngine()
    ) throws -> TracedRun {
        let simulated = try #require(engine as? any SimulatableEngine)
        let disk = SimulatedDisk(seed: Seed(1))
        // Like the recorder, which does not record lock files and shared memory.
        func operations() -> [IORecord] { disk.trace.filter { $0.identity.role != .lock } }
        var printed: [TraceReader.Words] = []
        let context = context(durability, EngineOnDisk(base: simulated, disk: disk), directory)
        try script.play(context, at: DatabaseLocation(directory: "")) { line in
            printed.append(TraceReader.Words(operations: operations().count, bytes: Array(line.utf8)))
        }
        let end = WatchedEnd(
            end: .exited(0), isTimeOut: false, output: [], isOutputCut: false, errors: [], durationNanoseconds: 0)
        return TracedRun(
            words: [], base: DiskImage(), baseDirectories: [], operations: operations(), printed: printed,
            directoryChanges: [], unseen: [], end: end)
    }

    /// Builds the chosen disks from a record, and returns what opening each of them finds.
    private static func findings(
        _ run: TracedRun, _ marks: CrashMarks, _ durability: DurabilityClass, in directory: String,
        on engine: any Engine = StorageEngine()
    ) throws -> [RecordedDisk.Finding] {
        let context = context(durability, engine, directory)
        let sweep = try RecordedSweep(run, marks, contents: script.contents, context: context)
        let (steps, coverage) = try sweep.choose()
        #expect(steps.count > 15 && steps.count <= coverage.distinct)
        #expect(steps.contains { $0.operation >= marks.acknowledged.last ?? .max })
        var rebuild = CrashRebuild(base: run.base, trace: run.operations, profile: .strict)
        return try steps.enumerated().map { number, step in
            let rebuilt = rebuild.image(at: step)
            let image = try #require(rebuilt)
            let disk = try RecordedDisk(
                image, directories: run.directories(at: step.operation), at: "\(directory)/disk-\(number)", context)
            return try disk.judge(by: sweep.truth(at: step.operation))
        }
    }

    @Test("a sound engine keeps acknowledged commits under full, and under none loses only the last ones")
    func sound() throws {
        for durability in [DurabilityClass.full, .none] {
            let found = try EnginesUnderTest.withDirectory { directory in
                let run = try Self.record(durability, in: directory)
                return try Self.findings(run, try Self.script.marks(in: run), durability, in: directory)
            }
            #expect(found.allSatisfy { $0.outcome == .correct }, "\(found.map(\.detail).filter { !$0.isEmpty })")
            #expect(found.contains { $0.lacksAcknowledged } == (durability == .none))
        }
    }

    @Test("a missing sync is a lost commit")
    func withoutSync() throws {
        let planted = PlantedEngine.wrap(StorageEngine(), .syncLeftOut)
        let found = try EnginesUnderTest.withDirectory { directory in
            let run = try Self.record(.full, in: directory, on: planted)
            return try Self.findings(run, try Self.script.marks(in: run), .full, in: directory)
        }
        #expect(found.contains { $0.outcome == .lostCommit })
        #expect(found.allSatisfy { ($0.outcome == .lostCommit) == $0.lacksAcknowledged })
    }

    @Test("an acknowledgement before the commit is a lost commit")
    func early() throws {
        let found = try EnginesUnderTest.withDirectory { directory in
            let run = try Self.record(.full, in: directory)
            var marks = try Self.script.marks(in: run)
            marks.acknowledged = marks.begun
            return try Self.findings(run, marks, .full, in: directory)
        }
        #expect(found.contains { $0.outcome == .lostCommit })
    }

    @Test("a refused database has lost the acknowledged commits, and none if there were none")
    func refused() throws {
        try EnginesUnderTest.withDirectory { directory in
            let run = try Self.record(.full, in: directory)
            let marks = try Self.script.marks(in: run)
            let full = try Self.findings(run, marks, .full, in: directory, on: RefusingEngine())
            #expect(Set(full.map(\.outcome)) == [.correct, .lostCommit])
            #expect(full.allSatisfy { ($0.outcome == .correct) == $0.isUnmade && $0.isUnmade != $0.lacksAcknowledged })
            let none = try Self.findings(run, marks, .none, in: directory, on: RefusingEngine())
            #expect(Set(none.map(\.outcome)) == [.correct, .refused])
        }
    }

    @Test("lines that do not cover the whole script are no record of it")
    func lines() throws {
        let run = try EnginesUnderTest.withDirectory { try Self.record(.full, in: $0) }
        #expect(throws: Never.self) { try Self.script.marks(in: run) }
        let words = run.printed
        let foreign = TraceReader.Words(operations: 0, bytes: Array("hello\n".utf8))
        for printed in [Array(words.dropLast()), Array(words.dropFirst()), [foreign] + words, []] {
            var other = run
            other.printed = printed
            #expect(throws: HarnessError.self) { try Self.script.marks(in: other) }
        }
    }

    @Test("an engine is not judged by promises that it does not make for a class")
    func promises() {
        let scenario = RecordedPowerLoss()
        let atomic = Promise(.atomicity, sentence: "s", source: "d")
        let limited = atomic.atPowerLoss(in: [.full])
        for durability in DurabilityClass.allCases {
            #expect(scenario.isMeant(atomic, for: Self.test(durability)))
            #expect(scenario.isMeant(limited, for: Self.test(durability)) == (durability == .full))
            let durable = Promise(.durability, sentence: "s", source: "d")
            #expect(scenario.isMeant(durable, for: Self.test(durability)) == (durability == .full))
        }
        #expect(scenario.promise(brokenBy: .lostCommit) == .durability)
        #expect(scenario.promise(brokenBy: .crashed) == .atomicity)
    }
}
