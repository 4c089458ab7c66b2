import RunRecords
import Seeds
import Statistics
import Testing

@testable import Harness

/// Programs that are not there: what they measure follows from a seed.
@Suite("PairedSession")
struct PairedSessionTests {
    private static func test(_ scenario: String, engine: String = "model") -> Case {
        Case(
            scenario: scenario, family: .workload, engine: engine, dataset: "people", size: 100, parameters: [],
            seed: Seed(1), durability: .full)
    }

    private static func result(_ test: Case, rate: Double, verdict: Verdict = .pass) -> CaseResult {
        var result = CaseResult(test: test, verdict: verdict)
        result.samples = [
            Sample(.latencyNanoseconds, 1e9 / rate, statistic: "p99"), Sample(.commitsPerSecond, rate),
            Sample(.processorMilliseconds, 5e6 / rate),
        ]
        return result
    }

    /// Counts what a session told it.
    private final class Listener: SessionObserver {
        var batches: [[String]] = []
        var failures: [String] = []

        func batchBegins(_ batch: Int, cases: [Case], rounds: Int) { batches.append(cases.map(\.scenario)) }
        func roundEnds(_ batch: Int, round: Int, rounds: Int, secondsLeft: Double?) {}
        func caseFails(_ test: Case, _ measurement: SideMeasurement) {
            failures.append("\(test.scenario) \(measurement.side.rawValue)")
        }
    }

    /// Figures with two percent of noise, and a factor per side.
    private struct Figures {
        var random: RandomStream
        var factors: [BuildSide: Double] = [:]

        mutating func rate(_ side: BuildSide) -> Double {
            1_000 * (factors[side] ?? 1) * (0.98 + 0.04 * Double(random.below(1_000)) / 1_000)
        }
    }

    private static func run(
        _ scenarios: [String], factors: [BuildSide: Double] = [:], confirms: Bool = true, pairs: Int = 40,
        change: ((BuildSide, Case, inout CaseResult) -> Void)? = nil
    ) throws -> (compared: PairedSession.Compared, measurements: [SideMeasurement], listener: Listener) {
        let session = PairedSession(
            cases: scenarios.map { test($0) }, pairs: pairs, threshold: 0.03, seed: Seed(3), confirms: confirms)
        var machine = Figures(random: RandomStream(Seed(11)), factors: factors)
        var measurements: [SideMeasurement] = []
        let listener = Listener()
        let compared = try session.run(
            measure: { side, test, _ in
                var result = result(test, rate: machine.rate(side))
                change?(side, test, &result)
                return result
            }, record: { measurements.append($0) }, observer: listener)
        return (compared, measurements, listener)
    }

    private static func comparison(_ cases: [ComparedCase]) throws -> BuildComparison {
        let build = BuildDescription(version: "0", isRelease: true, traits: [], digest: "d")
        let machine = Machine(
            host: "h", system: "s", processor: "p", coreCount: 2, memoryBytes: 1, fileSystem: "ext4", fsync: .yes,
            fsyncNanoseconds: 1)
        let side = BuildComparison.Side(path: "program", build: build)
        return BuildComparison(
            header: RunHeader(id: "run", plan: "ab", seed: Seed(1), machine: machine), a: side, b: side, pairs: 40,
            threshold: 0.03, confirms: true, cases: cases, refused: [], directory: "run")
    }

    @Test("one program twice is the same, and nothing is measured again")
    func same() throws {
        let (compared, measurements, listener) = try Self.run(["commit", "point-read"])
        #expect(compared.cases.map(\.finding) == [.same, .same])
        #expect(measurements.count == 2 * 3 * 40, "the trial round is not recorded")
        #expect(listener.batches.count == 1)
        #expect(try Self.comparison(compared.cases).exitStatus == 0)
    }

    @Test("a slower side B is measured again and found, a faster one as well")
    func different() throws {
        let (compared, measurements, listener) = try Self.run(["commit"], factors: [.b: 1 / 1.1])
        #expect(compared.cases[0].finding == .slower)
        #expect(measurements.count == 2 * 3 * 40)
        #expect(listener.batches == [["commit"], ["commit"]])
        #expect(abs((compared.cases[0].batches[0].judged.measured?.ratio ?? 0) - 1 / 1.1) < 0.02)
        #expect(try Self.comparison(compared.cases).exitStatus == 2)
        #expect(try Self.run(["commit"], factors: [.b: 1.1]).compared.cases[0].finding == .faster)
        let single = try Self.run(["commit"], factors: [.b: 1 / 1.1], confirms: false)
        #expect(single.compared.cases[0].finding == .slower && single.measurements.count == 3 * 40)
    }

    @Test("what one batch flags and the next does not is inconclusive")
    func unconfirmed() throws {
        var count = 0
        let (compared, _, listener) = try Self.run(["commit"]) { side, _, result in
            count += 1
            // Slower in the trial round and the first batch alone.
            if side == .b, count <= 2 + 3 * 40 { result.samples[1].value /= 1.2 }
        }
        #expect(listener.batches.count == 2)
        #expect(compared.cases[0].finding == .inconclusive)
        #expect(compared.cases[0].reason.contains("slower in one batch, same in the next"))
        #expect(try Self.comparison(compared.cases).exitStatus == 3)
    }

    @Test("where A differs from itself nothing is claimed, not even of other cases")
    func control() throws {
        let (compared, _, _) = try Self.run(["commit", "point-read"], factors: [.b: 1 / 1.2]) { side, test, result in
            if side == .control, test.scenario == "commit" { result.samples[1].value /= 1.2 }
        }
        #expect(compared.cases.map(\.isControlFlagged) == [true, false])
        #expect(compared.cases.map(\.finding) == [.slower, .slower])
        let comparison = try Self.comparison(compared.cases)
        #expect(comparison.cases.map(\.finding) == [.inconclusive, .inconclusive])
        #expect(comparison.cases[1].reason == "slower, but A against itself differs in commit")
        #expect(comparison.exitStatus == 3)
    }

    @Test("orders and directories change by the round, equally often for each side, and follow from the seed")
    func places() throws {
        let test = Self.test("commit")
        var byPlace: [BuildSide: [String: Int]] = [:]
        var byPosition: [BuildSide: [Int: Int]] = [:]
        for round in 0..<600 {
            let turns = PairedSession.turns(seed: Seed(4), test: test, batch: 0, round: round)
            #expect(Set(turns.map(\.side)).count == 3 && Set(turns.map(\.place)).count == 3)
            #expect(turns == PairedSession.turns(seed: Seed(4), test: test, batch: 0, round: round))
            for (position, turn) in turns.enumerated() {
                byPlace[turn.side, default: [:]][turn.place, default: 0] += 1
                byPosition[turn.side, default: [:]][position, default: 0] += 1
            }
        }
        for side in BuildSide.allCases {
            #expect(byPlace[side]?.count == 3 && byPosition[side]?.count == 3)
            #expect((byPlace[side] ?? [:]).values.allSatisfy { (140...260).contains($0) })
            #expect((byPosition[side] ?? [:]).values.allSatisfy { (140...260).contains($0) })
        }
        #expect(Set(PairedSession.places.map(\.count)).count == 1, "no side has the longer path")
        let (_, measurements, _) = try Self.run(["commit"])
        #expect(Set(measurements.filter { $0.side == .a }.map(\.place)).count == 3, "they really change")
    }

    @Test("a directory that slows down whoever works in it makes no side slower")
    func slowPlace() throws {
        let session = PairedSession(cases: [Self.test("commit")], pairs: 40, threshold: 0.03, seed: Seed(3))
        var machine = Figures(random: RandomStream(Seed(11)))
        let compared = try session.run(
            measure: { side, test, place in
                Self.result(test, rate: machine.rate(side) * (place == "place-1" ? 0.9 : 1))
            }, record: { _ in }, observer: Listener())
        #expect([.same, .inconclusive].contains(compared.cases[0].finding))
        #expect(!compared.cases[0].isControlFlagged)
    }

    @Test("a side that is wrong ends its case and no other; a violation of B is status 2, a broken harness 1")
    func failures() throws {
        for (verdict, side, status) in [
            (Verdict.violation, BuildSide.b, Int32(2)), (.violation, .a, 3), (.harnessError, .b, 1),
        ] {
            let (compared, measurements, listener) = try Self.run(["commit", "point-read"]) { turn, test, result in
                if turn == side, test.scenario == "commit" { result.verdict = verdict }
            }
            #expect(listener.failures == ["commit \(side.rawValue)"])
            #expect(compared.cases.map(\.finding) == [.inconclusive, .same])
            #expect(measurements.allSatisfy { $0.result.test.scenario == "point-read" }, "the trial round found it")
            #expect(try Self.comparison(compared.cases).exitStatus == status)
        }
    }

    @Test("a case without a rate or a time is left out by name, and p99 is never judged")
    func figures() throws {
        let (compared, _, _) = try Self.run(["commit", "bit-flip"]) { _, test, result in
            if test.scenario == "bit-flip" { result.samples = [Sample(.trials, 5)] }
        }
        #expect(compared.refused.map(\.test.scenario) == ["bit-flip"])
        #expect(compared.cases.count == 1)
        let tail = try Self.run(["commit"]) { side, _, result in
            result.samples.removeAll { $0.metric.name != "latency_ns" }
            if side == .b { result.samples[0].value *= 3 }
        }
        #expect(tail.compared.cases.isEmpty && tail.compared.refused.count == 1)
    }

    @Test("fewer pairs than an interval needs decide nothing")
    func few() throws {
        let (compared, _, _) = try Self.run(["commit"], factors: [.b: 0.5], pairs: 9)
        #expect(compared.cases[0].finding == .inconclusive)
        #expect(compared.cases[0].reason == "fewer than 10 pairs")
    }
}
