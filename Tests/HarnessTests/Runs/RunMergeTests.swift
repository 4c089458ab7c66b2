import Files
import JSONText
import RunRecords
import Seeds
import Testing

@testable import Harness

/// Merges directories of shards in process.
@Suite struct RunMergeTests {
    private let directory: TestDirectory
    private static let tests = (1...9).flatMap { threads in
        ["strata", "sqlite"].map { engine in
            Case(
                scenario: "commit", family: .workload, engine: engine, dataset: "", size: 0,
                parameters: [CaseParameter(name: "threads", value: "\(threads)")], seed: Seed(7), durability: .full)
        }
    }

    init() throws {
        directory = try TestDirectory()
        for index in 1...3 { try write("s\(index)", Shard(index, of: 3)) }
    }

    private func path(_ name: String) -> String { directory.path + "/" + name }

    /// A run as `assay run` writes it, of one shard or of all cases.
    private func write(_ name: String, _ shard: Shard?, seals: Bool = true) throws {
        let own = Self.tests.filter { shard?.holds($0) ?? true }
        var header = RunHeader(
            id: name, plan: "small", seed: Seed(7),
            machine: Machine(
                host: name, system: "s", processor: "p", coreCount: 2, memoryBytes: 1, fileSystem: "ext4", fsync: .yes,
                fsyncNanoseconds: 1))
        header.cases = own.map(\.id)
        header.buildDigest = "d"
        header.rounds[Self.tests[0].id] = own.contains(Self.tests[0]) ? 3 : nil
        if let shard {
            header.part = PlanPart(shard: shard, planCases: Self.tests.map(\.id), command: "assay run small")
        }
        let options = ["plan": ["small"]].merging(shard.map { ["--shard": ["\($0)"]] } ?? [:]) { $1 }
        let claim = try RunClaim.take(path(name), id: name, options: options)
        try claim.directory.create(header)
        let cases = own.map { PlannedCase(test: $0, weight: 1, verdict: nil, reason: "") }
        try RunManifest(cases: cases, hangSeconds: 9, memoryMegabytes: 9, budgetSeconds: nil).write(to: claim.directory)
        // Cases end in any order; a repeated measurement counts once.
        for test in own.reversed() + own.prefix(1) {
            for round in (0..<(header.rounds[test.id] ?? 1)).reversed() {
                let (result, details) = Self.measured(test, round)
                try claim.directory.append(result, details: details)
            }
        }
        try claim.end()
        if seals { try RecordSums(of: claim.directory).write(to: claim.directory) }
    }

    private static func measured(_ test: Case, _ round: Int) -> (CaseResult, CaseDetails) {
        var result = CaseResult(test: test, verdict: .pass, turn: Turn(round: round))
        result.outcome = .correct
        result.outcomes = [OutcomeCount(outcome: .correct, count: 1)]
        result.samples = [
            Sample(.fileBytes, Double(StableHash.of(test.id) % 1_000)), Sample(.rowsPerSecond, 0.1 + 0.2),
        ]
        let points = [SizePoint(position: round, fileBytes: 2, liveBytes: nil, freeBytes: 3, logBytes: 4)]
        return (
            result,
            CaseDetails(series: [Series(name: "sizes", step: "commits", points: points)], trialCodes: [1, 7, 0])
        )
    }

    private func merge(_ names: [String], partial: Bool = false, out: String) throws -> Run {
        let merge = try RunMerge(names.map(path), allowsMissing: partial)
        let claim = try RunClaim.take(path(out), id: merge.union.header.id, options: merge.options)
        defer { withExtendedLifetime(claim) {} }
        return try merge.write(to: claim.directory)
    }

    private func refusal(_ names: [String], partial: Bool = false) throws -> String {
        let error = try #require(throws: MergeError.self) {
            try RunMerge(names.map(path), allowsMissing: partial)
        }
        return error.description
    }

    @Test("shards in any order give the same bytes, equal to the results of one machine")
    func union() throws {
        try write("whole", nil)
        let merged = try merge(["s1", "s2", "s3"], out: "first")
        let whole = try RunDirectory(path: path("whole")).load()
        #expect(merged.results == whole.results && merged.rounds == whole.rounds && merged.details == whole.details)
        #expect(merged.header.cases == whole.header.cases && merged.isFinished)
        _ = try merge(["s3", "s1", "s2"], out: "second")
        let sums = try ["first", "second"].map { try RecordSums(of: RunDirectory(path: path($0))) }
        #expect(sums[0].differences(from: sums[1]) == [])
        #expect(try RunManifest.read(from: RunDirectory(path: path("first"))).cases.count == Self.tests.count)
    }

    @Test("a missing shard leaves its cases not run, and the run undecided")
    func partial() throws {
        #expect(try refusal(["s1", "s3"]).contains("shard 2/3 is missing"))
        let run = try merge(["s3", "s1"], partial: true, out: "part")
        #expect(!run.isFinished && run.results.count == Self.tests.count { Shard.index(of: $0, among: 3) != 2 })
        #expect(run.exitStatus(of: []) == 3)
    }

    @Test("a shard without cases is a success, and merges")
    func empty() throws {
        // There are more shards than sets of cases that stay together, so some shards are empty.
        for index in 1...12 { try write("many\(index)", Shard(index, of: 12)) }
        let names = (1...12).map { "many\($0)" }
        let none = try names.map { try RunDirectory(path: path($0)).load() }.filter(\.header.cases.isEmpty)
        try #require(!none.isEmpty)
        #expect(none.allSatisfy { $0.exitStatus(of: []) == 0 })
        #expect(try merge(names, out: "all").results.count == Self.tests.count)
    }

    @Test("one changed digit, a missing file, a torn line, an unknown format: each is refused by name")
    func damaged() throws {
        func spoil(_ file: String, _ change: (String) -> String) throws -> String {
            let original = try FileTree.readText(path("s1/\(file)"))
            let changed = change(original)
            try #require(changed != original)
            try FileTree.writeText(path("s1/\(file)"), changed)
            defer { try? FileTree.writeText(path("s1/\(file)"), original) }
            return try refusal(["s1", "s2", "s3"])
        }
        let digit = try spoil("results.jsonl") { $0.replacing("\"value\":0.3", with: "\"value\":0.4") }
        #expect(digit.contains("s1 is damaged (results.jsonl is not what it was"))
        #expect(try spoil("results.jsonl") { String($0.dropFirst(9)) }.contains("s1 is damaged"))
        #expect(try spoil("cases.json") { String($0.dropLast(9)) }.contains("s1 is damaged"))
        let format = try spoil("run.json") { $0.replacing("assay-run/2", with: "assay-run/9") }
        #expect(format.contains("another format") && format.contains("assay-run/2"), "\(format)")
        let stranger = try spoil("results.jsonl") { $0.replacing("\"size\":0", with: "\"size\":1") }
        #expect(stranger.contains("is none of its cases"), "\(stranger)")
        let names = try FileTree.names(in: path("s1/trials"))
        try FileTree.remove(path("s1/trials/\(names[0])"))
        #expect(try refusal(["s1", "s2", "s3"]).contains("trials/\(names[0]) is not what it was"))
        #expect(try refusal(["s1"], partial: true).contains("--partial"))
    }

    @Test("a shard that is unfinished, named twice, or missing is refused with a remedy")
    func unfinished() throws {
        try FileTree.remove(path("s2/sums.json"))
        #expect(try refusal(["s1", "s2", "s3"]).contains("has no sums.json"))
        let text = try FileTree.readText(path("s2/results.jsonl"))
        try FileTree.writeText(path("s2/results.jsonl"), text.split(separator: "\n")[0] + "\n")
        #expect(try refusal(["s1", "s2", "s3"]).contains("assay run --resume"))
        #expect(try refusal(["s1", "s1/../s1"]).contains("is named twice"))
        #expect(try refusal(["s1", "nowhere"]).contains("no run in"))
        try write("whole", nil)
        #expect(try refusal(["whole"]).contains("--shard I/N"))
    }
}
