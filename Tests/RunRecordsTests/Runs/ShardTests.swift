import Seeds
import Testing

@testable import RunRecords

@Suite struct ShardTests {
    private static func test(
        _ scenario: String, _ engine: String, size: Int = 0, threads: Int = 1, seed: UInt64 = 7
    ) -> Case {
        Case(
            scenario: scenario, family: .workload, engine: engine, dataset: "", size: size,
            parameters: [CaseParameter(name: "threads", value: "\(threads)")], seed: Seed(seed), durability: .full)
    }

    @Test("is parsed from I/N, counted from 1, and from nothing else")
    func read() {
        #expect(Shard("1/1")?.description == "1/1")
        #expect(Shard("12/40").map { [$0.index, $0.count] } == [12, 40])
        for wrong in ["0/3", "4/3", "1/0", "1/10000", "-1/3", "+1/3", "1", "1/", "/3", "1/2/3", "a/3", "1 /3", ""] {
            #expect(Shard(wrong) == nil, "\(wrong)")
        }
    }

    @Test("every machine and every version gives a case the same shard")
    func placesAreStable() {
        // Fixed values: machines that disagree would run one case twice, and another never.
        let expected = [2: 2, 3: 3, 4: 4, 7: 7, 100: 86]
        for (count, index) in expected { #expect(Shard.index(of: CaseTests.example, among: count) == index) }
    }

    @Test("engines and sizes that a report compares stay on one machine; other cases are spread")
    func groupsStayTogether() {
        var places: Set<Int> = []
        for threads in 1...60 {
            let together = ["strata", "sqlite", "lmdb"].flatMap { engine in
                [10, 1_000, 100_000].map { Self.test("commit", engine, size: $0, threads: threads) }
            }
            let rows = [10, 1_000].map { rows in
                Case(
                    scenario: "commit", family: .workload, engine: "strata", dataset: "", size: 0,
                    parameters: [
                        CaseParameter(name: "threads", value: "\(threads)"),
                        CaseParameter(name: "rows", value: "\(rows)"),
                    ], seed: Seed(7), durability: .full)
            }
            #expect(Set(rows.map { Shard.index(of: $0, among: 9) }).count == 1, "a size may be a parameter")
            let indexes = Set(together.map { Shard.index(of: $0, among: 5) })
            #expect(indexes.count == 1)
            places.formUnion(indexes)
        }
        #expect(places == [1, 2, 3, 4, 5])
        let seeds = Set((1...60).map { Shard.index(of: Self.test("commit", "strata", seed: $0), among: 5) })
        #expect(seeds == [1, 2, 3, 4, 5])
    }

    @Test("each case belongs to one shard of any number", arguments: [1, 2, 3, 8, 500])
    func partition(count: Int) {
        for threads in 1...50 {
            let test = Self.test("commit", "strata", threads: threads)
            #expect((1...count).count { Shard($0, of: count)?.holds(test) == true } == 1)
        }
    }
}
