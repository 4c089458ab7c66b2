import JSONText
import Seeds
import Testing

@testable import RunRecords

/// Headers of shards: matching ones, and refused ones.
@Suite struct ShardUnionTests {
    static let tests = (1...20).flatMap { threads in
        ["strata", "sqlite"].map { engine in
            Case(
                scenario: "commit", family: .workload, engine: engine, dataset: "", size: 0,
                parameters: [CaseParameter(name: "threads", value: "\(threads)")], seed: Seed(7), durability: .full)
        }
    }

    static func shard(
        _ index: Int, of count: Int = 3, path: String? = nil, tests: [Case] = Self.tests,
        _ change: (inout ShardRun) -> Void = { _ in }
    ) throws -> ShardRun {
        let shard = try #require(Shard(index, of: count))
        let own = tests.filter(shard.holds)
        var header = RunDirectoryTests.header(own)
        header.id = "run-\(index)"
        header.startTime = 1_000 + index
        header.machine.host = "host-\(index)"
        header.buildDigest = "d1"
        header.commit = "c1"
        header.warnings = ["busy machine: everywhere"] + (index == 2 ? ["swapped: here"] : [])
        for test in own.prefix(2) { header.rounds[test.id] = 7 }
        header.part = PlanPart(shard: shard, planCases: tests.map(\.id), command: "assay run quick")
        var run = try ShardRun(
            path: path ?? "s\(index)", header: header, options: ["plan": ["quick"]], bounds: ["memory": "4"], tests: own
        )
        change(&run)
        return run
    }

    private func shards(_ change: (inout ShardRun) -> Void = { _ in }) throws -> [ShardRun] {
        [try Self.shard(1), try Self.shard(2, change), try Self.shard(3)]
    }

    @Test("the merged header is that of the whole plan, in any order, and lists each machine")
    func header() throws {
        let all = try shards()
        let header = try ShardUnion(all, allowsMissing: false).header
        #expect(header.cases == Self.tests.map(\.id))
        #expect(header.command == "assay run quick" && header.part == nil)
        #expect(header.startTime == 1_001)
        #expect(header.machine.host == "host-1, host-2, host-3" && header.machine.coreCount == 2)
        #expect(header.warnings == ["busy machine: everywhere", "swapped: here (shard 2/3)"])
        #expect(header.rounds.count == 6 && header.families.count == Self.tests.count)
        #expect(Set(header.scenarioQuestions.keys) == Set(Self.tests.map(\.scenario)))
        #expect(header.missingShards == [])
        for test in Self.tests {
            let index = Shard.index(of: test, among: 3)
            #expect(header.shardsByCase[test.id]?.machine.host == "host-\(index)")
        }
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            #expect(try ShardUnion(order.map { all[$0] }, allowsMissing: false).header == header)
        }
        #expect(try RunHeader(json: try JSONObjectReader(header.json, path: "run.json")) == header)
        let part = try Self.shard(2).header
        #expect(try RunHeader(json: try JSONObjectReader(part.json, path: "run.json")) == part)
    }

    @Test("a missing shard is refused by its number; with --partial its cases count as not run, and the run says so")
    func missing() throws {
        let two = [try Self.shard(3), try Self.shard(1)]
        #expect(try refusal(two).contains("shard 2/3 is missing"))
        let header = try ShardUnion(two, allowsMissing: true).header
        #expect(header.cases == Self.tests.map(\.id))
        #expect(header.missingShards.map(\.description) == ["2/3"])
        let lost = Self.tests.count { Shard.index(of: $0, among: 3) == 2 }
        #expect(lost > 0 && header.warnings.first == "PARTIAL: shard 2/3 is missing, and \(lost) cases")
        let one = try ShardUnion([try Self.shard(2)], allowsMissing: true).header
        #expect(one.warnings.first?.hasPrefix("PARTIAL: shards 1/3, 3/3 are missing") == true)
    }

    @Test("an impossible combination is refused, in any order of the shards")
    func refused() throws {
        let changes: [(String, (inout ShardRun) -> Void)] = [
            ("of plan quick", { $0.header.plan = "smoke" }), ("of seed 1", { $0.header.seed = Seed(8) }),
            ("of build d1", { $0.header.buildDigest = "d2" }), ("of build d1", { $0.header.isReleaseBuild = true }),
            ("of commit c1", { $0.header.commit = "" }), ("of assay ", { $0.header.assayVersion = "9" }),
            ("without --size", { $0.options["--size"] = ["7"] }), ("with plan quick", { $0.options["plan"] = ["a"] }),
            ("has memory 4", { $0.bounds["memory"] = "5" }), ("has budget ", { $0.header.budgetSeconds = 1 }),
            ("has measures", { $0.header.measures.toggle() }), ("has engines", { $0.header.engines[0].version = "9" }),
            ("with other cases (40 and 39)", { $0.part.planCases.removeLast() }),
        ]
        for (expected, change) in changes {
            let runs = try shards(change)
            let text = try refusal(runs)
            #expect(text.contains(expected) && text.contains("s1") && text.contains("s2"), "\(expected): \(text)")
            #expect(try refusal(runs.reversed()) == text)
        }
        #expect(try refusal([try Self.shard(1), try Self.shard(2, of: 4)]).contains("into 3 and 4 shards"))
        let twice = try refusal([try Self.shard(2), try Self.shard(1), try Self.shard(2, path: "again")])
        #expect(twice == "shard 2/3 is there twice: again and s2. Name one of them")
    }

    @Test("a case in a wrong shard, in two, or in none, is refused")
    func cases() throws {
        let foreign = try #require(Self.tests.first { Shard.index(of: $0, among: 3) == 1 })
        func add(_ run: inout ShardRun) {
            run.tests.append(foreign)
            run.header.cases.append(foreign.id)
        }
        #expect(try refusal(try shards(add)).contains("case \(foreign.id) is in s1 (shard 1/3) and in s2 (shard 2/3)"))
        let alone = try refusal([try Self.shard(2, add), try Self.shard(3)], partial: true)
        #expect(alone.contains("belongs to shard 1"))
        let lost = try shards {
            $0.tests.removeLast()
            $0.header.cases.removeLast()
        }
        #expect(try refusal(lost).contains("are in no shard"))
        let torn = try shards { $0.header.cases.removeLast() }
        #expect(try refusal(torn).contains("run.json and cases.json of s2"))
    }

    @Test("a whole run is no shard, and a merged run is not merged again")
    func noShards() throws {
        var whole = RunDirectoryTests.header(Self.tests)
        func refusal(_ header: RunHeader) -> String {
            do {
                _ = try ShardRun(path: "p", header: header, options: [:], tests: Self.tests)
                return ""
            } catch {
                return error.description
            }
        }
        #expect(refusal(whole).contains("--shard I/N"))
        whole.merged = try ShardUnion(try shards(), allowsMissing: false).header.merged
        #expect(refusal(whole).contains("merged already"))
    }

    private func refusal(_ runs: [ShardRun], partial: Bool = false) throws -> String {
        let error = try #require(throws: MergeError.self) { try ShardUnion(runs, allowsMissing: partial) }
        return error.description
    }
}
