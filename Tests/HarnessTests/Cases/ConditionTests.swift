import Files
import Platform
import RunRecords
import Seeds
import Testing

@testable import Harness

@Suite struct ConditionTests {
    private func cases(_ parameters: String, scenario: String = "plain") throws(PlanError) -> [Case] {
        var registries = Registries()
        let rounds = [ScenarioParameter("rounds", .size, default: 2, summary: "")]
        registries.scenarios.register(EmptyScenario(slug: "plain", parameters: rounds))
        registries.scenarios.register(
            EmptyScenario(slug: "reads", parameters: rounds, conditions: Condition.ofTheMachine.union([.cache])))
        registries.engines.register(MemoryEngine())
        let plan = try Plan.read(
            "{ cases: [{ scenario: '\(scenario)', engines: 'memory', parameters: { \(parameters) } }] }", name: "p",
            file: "p.json5")
        return try PlanExpansion(plan: plan, filter: PlanFilter(), registries: registries).cases().map(\.test)
    }

    @Test("a case names a condition only if it differs from the default, whose id is unchanged")
    func expansion() throws {
        let plain = try cases("")
        let slow = try cases("sync_delay_us: [0, 5000]")
        #expect(plain[0].parameters.map(\.name) == ["rounds"])
        #expect(slow.count == 2 && slow[0].id == plain[0].id && slow[1].id != plain[0].id)
        #expect(slow[1].amount(.syncDelay) == 5_000 && slow[1].amount(.writeDelay) == 0)
        #expect(try cases("cache: ['warm', 'cold']", scenario: "reads").map(\.isCold) == [false, true])
    }

    @Test("an inapplicable condition, and an invalid value, are errors with the remedy")
    func errors() {
        let foreign = #expect(throws: PlanError.self) { try cases("cache: 'cold'") }
        #expect(foreign?.description.contains("unknown parameter cache") == true)
        let large = #expect(throws: PlanError.self) { try cases("sync_delay_us: 99000000") }
        #expect(large?.description.contains("sync_delay_us needs 0 to 10000000") == true)
        let near = #expect(throws: PlanError.self) { try cases("sync_delay_ms: 5") }
        #expect(near?.description.contains("did you mean sync_delay_us?") == true)
    }

    @Test("a build that knows no conditions is sent none")
    func descriptions() throws {
        let slow = try cases("sync_delay_us: 5000")[0]
        let plain = try cases("")[0]
        func reason(_ test: Case, conditions: [String]) -> String? {
            var description = WorkerDescription(
                Registries(), build: BuildDescription(version: "0.1", isRelease: true, traits: [], digest: ""),
                program: "/x")
            description.scenarios = [
                WorkerDescription.Scenario(
                    slug: "plain", family: "workload", parameters: ["rounds"], conditions: conditions)
            ]
            description.engines = [WorkerDescription.Engine(name: "memory", version: "1", capabilities: [])]
            return description.reasonToRefuse(test)
        }
        #expect(reason(slow, conditions: []) == "has no parameter sync_delay_us of plain")
        #expect(reason(plain, conditions: []) == nil)
        #expect(reason(slow, conditions: ["sync_delay_us"]) == nil && reason(plain, conditions: ["cache"]) == nil)
    }
}

@Suite struct PageCacheTests {
    @Test("dropped pages leave the page cache; a mapped page stays, and is reported")
    func drops() throws {
        let directory = try ScratchDirectory.make(in: "/var/tmp")
        defer { try? directory.remove() }
        let path = directory.files + "/rows"
        try FileTree.writeBytes(path, [UInt8](repeating: 7, count: 1 << 20))
        #expect(try PageCache.residentShare([path]) == 1)
        guard try PageCache.canDrop(in: directory.files) else { return }
        try PageCache.drop([path])
        #expect(try PageCache.residentShare([path]) == 0)

        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        let map = try #require(mmap(nil, 1 << 20, PROT_READ, MAP_SHARED, descriptor, 0))
        #expect(map.load(as: UInt8.self) == 7)
        try PageCache.drop([path])
        #expect(try PageCache.residentShare([path]) > 0, "a mapped page passes for a dropped one")
        munmap(map, 1 << 20)
    }

    @Test("empty files and missing files")
    func edges() throws {
        #expect(try PageCache.residentShare([]) == 0)
        #expect(throws: (any Error).self) { try PageCache.residentShare(["/nowhere/rows"]) }
    }
}

@Suite struct MemoryGroupTests {
    @Test("a cgroup is used only if it has the memory controller and delegates it; otherwise the lack is named")
    func places() throws {
        let directory = try ScratchDirectory.make(in: "/tmp")
        defer { try? directory.remove() }
        let group = directory.files
        func write(_ name: String, _ text: String) throws { try FileTree.writeText("\(group)/\(name)", text) }
        func lack() -> String {
            if case .missing(let reason) = MemoryGroup.place(group) { reason } else { "" }
        }
        #expect(lack().contains("has no memory controller"))
        try write("cgroup.controllers", "cpu hugetlb\n")
        #expect(lack().contains("has no memory controller") && lack().contains(MemoryGroup.variable))
        try write("cgroup.controllers", "cpu memory\n")
        try write("cgroup.subtree_control", "cpu\n")
        #expect(lack().contains("get no memory controller"))
        try write("cgroup.subtree_control", "cpu memory\n")
        #expect(lack().contains("may not be written"), "a cgroup has a file of processes")
        try write("cgroup.procs", "")
        #expect(MemoryGroup.place(group) == .directory(group))
        // A plain directory, not a cgroup: its control files do not exist, and it is removed.
        #expect(throws: HarnessError.self) { try MemoryGroup(in: group, megabytes: 64) }
        #expect(try FileTree.names(in: group).allSatisfy { !$0.hasPrefix("assay-") })
    }

    @Test("a limit that no process reached, and one that killed a process, leave a case inconclusive")
    func judged() {
        let test = Case(
            scenario: "point-read", family: .workload, engine: "memory", dataset: "", size: 0,
            parameters: [CaseParameter(name: Condition.memoryLimit.rawValue, value: "64")], seed: Seed(1),
            durability: .full)
        func result(_ memory: MemoryGroup.Events?) -> CaseResult {
            var end = WorkerEnd(
                report: nil, unreadable: nil, end: .exited(0), stopped: nil, standardError: "", durationNanoseconds: 1)
            end.memory = memory
            var result = CaseResult(test: test, verdict: .pass)
            CaseJudge(rule: VerdictRule(known: [])).bound(end, &result)
            return result
        }
        #expect(result(nil).verdict == .pass && result(nil).samples.isEmpty)
        #expect(result(MemoryGroup.Events(reached: 9, killed: 0)).verdict == .pass)
        let idle = result(MemoryGroup.Events(reached: 0, killed: 0))
        #expect(idle.verdict == .inconclusive && idle.message == "LIMIT NOT REACHED: the case fits 64 MiB")
        let killed = result(MemoryGroup.Events(reached: 9, killed: 1))
        #expect(killed.verdict == .inconclusive && killed.message.hasPrefix("MEMORY LIMIT"))
        #expect(killed.samples.map(\.value) == [9])
    }

    #if RocksDB
        @Test("files that an engine replaced during the open are no longer dropped from the cache")
        func replacedFiles() throws {
            let directory = try TestDirectory()
            let path = directory.path + "/run"
            let end = try AssayProcess.run(
                [
                    "run", "--scenario", "open", "--engine", "rocksdb", "--dataset", "people", "--size", "100",
                    "--param",
                    "cache=cold", "--param", "opens=3", "--out", path,
                ], in: directory)
            let results = try RunDirectory(path: path).readResults().results
            #expect(!results.isEmpty && !results.contains { $0.verdict == .harnessError }, "\(end.output)")
        }
    #endif
}
