import RunRecords
import Seeds
import Statistics
import Testing

@testable import Harness

/// Sessions of simulated programs, whose measurements follow from a seed.
@Suite struct PairedSessionTests {
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

    /// Counts the calls of a session.
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

    @Test("a slower side B is confirmed by a second batch, a faster one as well")
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

    @Test("a flag that the second batch does not confirm is inconclusive")
    func unconfirmed() throws {
        var count = 0
        let (compared, _, listener) = try Self.run(["commit"]) { side, _, result in
            count += 1
            // B is slower only in the trial round and the first batch.
            if side == .b, count <= 2 + 3 * 40 { result.samples[1].value /= 1.2 }
        }
        #expect(listener.batches.count == 2)
        #expect(compared.cases[0].finding == .inconclusive)
        #expect(compared.cases[0].reason.contains("slower in one batch, same in the next"))
        #expect(try Self.comparison(compared.cases).exitStatus == 3)
    }

    @Test("if A differs from itself nothing is claimed, not even of other cases")
    func control() throws {
        let (compared, _, _) = try Self.run(["commit", "point-read"], factors: [.b: 1 / 1.2]) { side, test, result in
            if side == .control, test.scenario == "commit" { result.samples[1].value /= 1.2 }
        }
        #expect(compared.cases.map(\.control.isDifference) == [true, false])
        #expect(compared.cases.map(\.finding) == [.slower, .slower])
        let comparison = try Self.comparison(compared.cases)
        #expect(comparison.cases.map(\.finding) == [.inconclusive, .inconclusive])
        #expect(comparison.cases[1].reason == "slower, but A against itself differs in commit")
        #expect(comparison.exitStatus == 3)
    }

    @Test("in six rounds each side has each directory and each position twice, in a seeded order")
    func places() throws {
        let test = Self.test("commit")
        var byPlace: [BuildSide: [String: Int]] = [:]
        var byPosition: [BuildSide: [Int: Int]] = [:]
        var sequences: Set<[SideTurn]> = []
        for round in 0..<600 {
            if round.isMultiple(of: 6) {
                for side in BuildSide.allCases {
                    #expect(Set((byPlace[side] ?? [:]).values).count <= 1, "after \(round) rounds")
                    #expect(Set((byPosition[side] ?? [:]).values).count <= 1, "after \(round) rounds")
                }
                sequences.insert(PairedSession.turns(seed: Seed(4), test: test, batch: 0, round: round))
            }
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
            #expect((byPlace[side] ?? [:]).values.allSatisfy { $0 == 200 })
            #expect((byPosition[side] ?? [:]).values.allSatisfy { $0 == 200 })
        }
        // There are 36 ways to begin six rounds; the seed draws one.
        #expect(sequences.count > 25)
        let other = (0..<6).map { PairedSession.turns(seed: Seed(5), test: test, batch: 0, round: $0) }
        #expect(other != (0..<6).map { PairedSession.turns(seed: Seed(4), test: test, batch: 0, round: $0) })
        #expect(other != (0..<6).map { PairedSession.turns(seed: Seed(5), test: test, batch: 1, round: $0) })
        #expect(Set(PairedSession.places.map(\.count)).count == 1, "no side has the longer path")
        let (_, measurements, _) = try Self.run(["commit"])
        #expect(Set(measurements.filter { $0.side == .a }.map(\.place)).count == 3, "they really change")
    }

    @Test("with every seed, a slow directory slows both sides equally", arguments: 0..<40)
    func slowPlace(seed: UInt64) throws {
        let session = PairedSession(cases: [Self.test("commit")], pairs: 40, threshold: 0.03, seed: Seed(seed))
        var machine = Figures(random: RandomStream(Seed(seed).derived("machine")))
        let compared = try session.run(
            measure: { side, test, place in
                Self.result(test, rate: machine.rate(side) * (place == "place-1" ? 0.7 : 1))
            }, record: { _ in }, observer: Listener())
        let batch = try #require(compared.cases[0].batches.first)
        for comparison in [batch.judged.measured, batch.judged.control] {
            let ratio = try #require(comparison?.ratio)
            #expect(abs(ratio - 1) < 0.03, "\(comparison.debugDescription)")
        }
        #expect([.same, .inconclusive].contains(compared.cases[0].finding))
        #expect(!compared.cases[0].control.isDifference)
    }

    @Test("a flagged case is prepared again before its confirmation: a badly placed fixture is no slower build")
    func renewed() throws {
        for isRenewed in [true, false] {
            let session = PairedSession(
                cases: ["commit", "point-read"].map { Self.test($0) }, pairs: 40, threshold: 0.03, seed: Seed(3))
            var machine = Figures(random: RandomStream(Seed(11)))
            var renewed: [String] = []
            var order: [BuildSide] = []
            let compared = try session.run(
                measure: { side, test, _ in
                    order.append(side)
                    let isBad = side == .b && test.scenario == "commit" && renewed.isEmpty
                    return Self.result(test, rate: machine.rate(side) * (isBad ? 0.8 : 1))
                }, record: { _ in },
                renew: { test in
                    if isRenewed { renewed.append(test.scenario) }
                }, observer: Listener())
            #expect(renewed == (isRenewed ? ["commit"] : []))
            #expect(compared.cases.map(\.finding) == [isRenewed ? .inconclusive : .slower, .same])
            // In the second batch the other side prepares its fixture first.
            #expect(order.prefix(2) == [.a, .b])
            #expect(Array(order[(4 + 2 * 3 * 40)...].prefix(2)) == [.b, .a])
        }
    }

    @Test("a case's time of an open or a recovery is judged; the longest of several times is not")
    func times() throws {
        for (metric, unit, isJudged) in [
            ("open_us", "us", true), ("recovery_ms", "ms", true), ("longest_ms", "ms", false),
        ] {
            let figure = Metric(metric, unit: unit, .lowerIsBetter, .measured)
            let (compared, _, _) = try Self.run(["open"], factors: [.b: 1 / 1.2]) { _, _, result in
                result.samples = [
                    Sample(figure, 1e9 / result.samples[1].value, statistic: "median"),
                    Sample(.fileBytes, 4_096, statistic: "value"),
                ]
            }
            #expect(compared.cases.map(\.finding) == (isJudged ? [.slower] : []), "\(metric)")
            #expect(compared.refused.count == (isJudged ? 0 : 1))
        }
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
