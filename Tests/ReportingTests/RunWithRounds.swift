import Measuring
import RunRecords
import Seeds

/// A fictional run with figures measured in rounds: each figure has a true ratio and a spread, so that the expected
/// report is known.
struct RunWithRounds {
    /// One figure of one scenario, as every engine has it.
    struct Figures {
        var scenario: String
        var metric: Metric
        var statistic = "value"
        var label = ""
        var durability = DurabilityClass.full
        var parameters: [CaseParameter] = []
        /// The centre of the rounds, by engine.
        var centres: [String: Double]
        /// The largest deviation of a round from the centre: 0.02 is 2 %.
        var spread = 0.02
        /// The ratio of the control's two sides: 1.1 is 10 %.
        var control = 1.0
    }

    static let engines = ["strata-storage", "strata", "sqlite", "sqlite-tuned", "lmdb", "rocksdb"]

    var roundCount = 7
    var results: [CaseResult] = []
    var rounds: [String: [CaseResult]] = [:]
    var details: [String: CaseDetails] = [:]
    var controls: Set<String> = []

    /// - Parameter isOnce: measured once instead of in rounds.
    mutating func add(_ figures: Figures, isOnce: Bool = false) {
        var stream = RandomStream(Seed(StableHash.of("\(figures.scenario) \(figures.metric.name) \(figures.label)")))
        for (place, engine) in Self.engines.enumerated() {
            guard let centre = figures.centres[engine] else { continue }
            let test = PlausibleRun.test(
                figures.scenario, .workload, engine, parameters: figures.parameters, durability: figures.durability)
            var all: [CaseResult] = []
            for round in 0..<(isOnce ? 1 : roundCount) {
                for side in Turn.Side.allCases where side == .measured || (place == 2 && !isOnce) {
                    var result = PlausibleRun.passed(test)
                    result.turn = Turn(round: round, side: side)
                    let noise = 1 + figures.spread * (Double(stream.below(2_001)) / 1_000 - 1)
                    let value = centre * noise * (side == .control ? figures.control : 1)
                    result.samples = [
                        Sample(figures.metric, value, statistic: figures.statistic, label: figures.label),
                        Sample(.writtenBytes, 812_345, label: "whole case"),
                    ]
                    all.append(result)
                }
            }
            let earlier = rounds[test.id] ?? []
            for index in all.indices where index < earlier.count {
                all[index].samples = earlier[index].samples + all[index].samples.prefix(1)
            }
            if !isOnce { rounds[test.id] = all }
            if all.contains(where: { $0.turn.side == .control }) { controls.insert(test.id) }
            results.removeAll { $0.test.id == test.id }
            if let merged = CaseResult.merged(all) { results.append(merged) }
        }
    }

    var run: Run {
        var run = HTMLTests.run(results)
        run.header.plan = "peers"
        run.header.engines = Self.engines.map { EngineVersion(name: $0, version: "1.0") }
        run.header.rounds = rounds.mapValues { _ in roundCount }
        run.header.controls = controls
        run.header.commit = "47b6b2e0c4f1"
        run.header.startTime = 1_795_248_900
        run.directory = "Reports/2026-11-21-081500-peers-7"
        run.rounds = rounds
        run.details = details
        return run
    }

    // MARK: Runs

    private static func centres(_ base: Double, _ factors: [Double], higher: Bool = true) -> [String: Double] {
        Dictionary(
            uniqueKeysWithValues: zip(engines, factors).map { ($0, higher ? base * $1 : base / $1) })
    }

    /// One figure ahead by 2, one behind by half, one too close, and one measured once.
    static let small: Run = {
        var made = RunWithRounds()
        made.add(
            Figures(scenario: "commit", metric: .commitsPerSecond, centres: centres(1_000, [4, 3, 1, 2, 1.5, 1.2])))
        made.add(
            Figures(
                scenario: "point-read", metric: .operationNanoseconds, statistic: "median", label: "one property",
                centres: centres(900, [1, 0.5, 1.2, 1.5, 2, 0.4], higher: false)))
        made.add(
            Figures(
                scenario: "bulk-insert", metric: .rowsPerSecond,
                centres: centres(600_000, [1.01, 0.6, 0.9, 1, 0.8, 0.7]),
                spread: 0.08))
        made.add(
            Figures(
                scenario: "update-batch", metric: .updatesPerSecond,
                centres: centres(70_000, [1.08, 1.2, 0.9, 1, 0.8, 0.7]), spread: 0.005, control: 1.15))
        made.add(
            Figures(
                scenario: "traverse", metric: .linksPerSecond, centres: centres(3e6, [9, 8, 1, 1.5, 2, 0.4])),
            isOnce: true)
        return made.run
    }()

    /// As many figures as a large plan has, with long names, from far behind to far ahead.
    static let large: Run = {
        var made = RunWithRounds()
        let scenarios = ["commit-threads", "bulk-insert", "query-aggregates", "compact-vs-readers", "string-equal"]
        var stream = RandomStream(Seed(3))
        for index in 0..<60 {
            let own = [0.4, 0.9, 1, 1.02, 1.3, 2, 4, 9, 22, 60][index % 10] * (1 + Double(stream.below(100)) / 300)
            let isTime = index % 3 == 1
            made.add(
                Figures(
                    scenario: scenarios[index % scenarios.count],
                    metric: isTime ? .operationNanoseconds : .rowsPerSecond, statistic: isTime ? "median" : "value",
                    label: isTime ? "three properties of a row" : "",
                    durability: index % 7 == 6 ? .periodic : .full,
                    parameters: [
                        CaseParameter(name: "threads", value: String(index)),
                        CaseParameter(name: "transactions", value: index.isMultiple(of: 2) ? "batched" : "single"),
                    ],
                    centres: centres(80_000, [own, own * 0.7, 0.8, 1, 0.9, 0.5], higher: !isTime),
                    spread: index % 4 == 0 ? 0.2 : 0.03, control: index % 9 == 0 ? 1.2 : 1.01))
        }
        return made.run
    }()
}
