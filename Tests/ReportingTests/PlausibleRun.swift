import Measuring
import RunRecords
import Seeds

/// A fictional run of a small plan: two storage engines, the in-memory one, all families.
enum PlausibleRun {
    static let machine = Machine(
        host: "bench-1", system: "Linux 6.1.0", processor: "AMD EPYC 7543", coreCount: 2, memoryBytes: 8 << 30,
        fileSystem: "ext4", fsync: .yes, fsyncNanoseconds: 812_000)

    static let engines = ["model", "strata", "sqlite", "sqlite-tuned"]

    static func test(
        _ scenario: String, _ family: Family, _ engine: String, dataset: String = "people", size: Int = 100_000,
        parameters: [CaseParameter] = [], durability: DurabilityClass = .full
    ) -> Case {
        Case(
            scenario: scenario, family: family, engine: engine, dataset: dataset, size: size, parameters: parameters,
            seed: Seed(7), durability: durability)
    }

    static func passed(_ test: Case) -> CaseResult {
        var result = CaseResult(test: test, verdict: .pass)
        result.engineVersion = test.engine.hasPrefix("sqlite") ? "3.40.1" : "0.1"
        result.settings =
            test.engine.hasPrefix("sqlite")
            ? [
                EngineSetting("journal_mode", "WAL"),
                EngineSetting("synchronous", test.durability == .full ? "FULL" : "OFF"),
                EngineSetting("mmap_size", test.engine == "sqlite" ? "0" : "4294967296"),
            ]
            : [EngineSetting("durability", test.durability.rawValue), EngineSetting("page_size", "4096")]
        result.outcome = .correct
        result.outcomes = [OutcomeCount(outcome: .correct, count: 1)]
        result.durationNanoseconds = 1_200_000_000 + UInt64(test.engine.utf8.count) * 77_000_000
        return result
    }

    static func sweep(_ test: Case, _ verdict: Verdict, _ counts: [(Outcome, Int)]) -> (CaseResult, CaseDetails) {
        var result = passed(test)
        result.verdict = verdict
        result.outcomes = Outcome.allCases.compactMap { outcome in
            counts.first { $0.0 == outcome }.map { OutcomeCount(outcome: outcome, count: $0.1) }
        }
        result.outcome = counts.map(\.0).max { $0.gravity < $1.gravity }
        result.samples = [Sample(.trials, Double(result.trialCount), statistic: "count")]
        var codes = counts.flatMap { Array(repeating: $0.0.code, count: $0.1) }
        var stream = RandomStream(test.seed)
        // Neighbouring trials mostly have the same outcome, as in real files.
        for _ in 0..<codes.count / 6 {
            codes.swapAt(stream.below(codes.count), stream.below(codes.count))
        }
        for (position, code) in codes.enumerated() where result.trials.count < 6 {
            if let outcome = Outcome(code: code), !outcome.isHonest {
                result.trials.append(
                    Trial(
                        address: FaultAddress(.flip, position * 37), outcome: outcome,
                        detail: outcome == .silentlyWrong ? "Person 41 name: expected <person>, got \"perso~\"" : "",
                        signal: outcome == .crashed ? 11 : nil))
            }
        }
        return (result, CaseDetails(trialCodes: codes))
    }

    static func latency(_ middle: Double, count: Int, tail: Double, seed: UInt64) -> Histogram {
        var histogram = Histogram()
        var stream = RandomStream(Seed(seed))
        for _ in 0..<count {
            let a = Double(stream.below(1_000_000) + 1) / 1_000_000
            let b = Double(stream.below(1_000_000) + 1) / 1_000_000
            let slow = a < 0.004 ? tail * (0.3 + b) : 0
            histogram.record(UInt64(middle * (0.8 + 0.4 * b + 0.05 / a.squareRoot()) + middle * slow))
        }
        return histogram
    }

    static func add(_ histogram: Histogram, _ name: String, to result: inout CaseResult, _ details: inout CaseDetails) {
        details.histograms.append(NamedHistogram(name: name.isEmpty ? "latency_ns" : name, histogram: histogram))
        for (statistic, fraction) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
            result.samples.append(
                Sample(
                    .latencyNanoseconds, Double(histogram.quantile(fraction)), statistic: statistic,
                    count: Int(histogram.count), label: name))
        }
        result.samples.append(
            Sample(
                .latencyNanoseconds, Double(histogram.maximum), statistic: "max", count: Int(histogram.count),
                label: name))
    }

    static func growth(_ engine: String, policy: String) -> Series {
        var series = Series(name: "pinned reader", step: "commits", kind: .measured)
        var file = 4_200_000.0
        let slope = engine == "strata" ? 4_100.0 : 9_600.0
        for commit in stride(from: 0, through: 2_000, by: 20) {
            let isPinned = (400..<1_400).contains(commit)
            if isPinned { file += slope * 20 * (policy == "never" ? 1 : 0.7) }
            if commit == 1_400 && policy != "never" { file = 4_900_000 }
            series.points.append(
                SizePoint(
                    position: commit, fileBytes: Int(file), liveBytes: engine == "strata" ? 4_000_000 : nil,
                    freeBytes: Int(file) - 4_000_000, logBytes: 1 << 20, oldestPinnedVersion: isPinned ? 400 : nil))
        }
        return series
    }

    /// Made once: its histograms take a while.
    static let run = make()

    private static func make() -> Run {
        var builder = Builder()
        builder.raw()
        builder.workloads()
        builder.concurrency()
        builder.faults()
        builder.growth()
        builder.objects()
        var header = RunHeader(id: "2026-11-21-quick-7", plan: "quick", seed: Seed(7), machine: machine)
        header.assayVersion = "0.1"
        header.command = "assay run quick --seed 7"
        header.startTime = 1_795_248_900
        header.commit = "47b6b2e0c4f1"
        header.branch = "main"
        header.isReleaseBuild = true
        header.engines = [
            EngineVersion(name: "model", version: "0.1"), EngineVersion(name: "strata", version: "0.1"),
            EngineVersion(name: "sqlite", version: "3.40.1"), EngineVersion(name: "sqlite-tuned", version: "3.40.1"),
        ]
        header.notBuilt = [
            NotBuilt(name: "lmdb", remedy: "apt-get install liblmdb-dev"),
            NotBuilt(name: "rocksdb", remedy: "apt-get install librocksdb-dev"),
        ]
        header.cases = builder.results.map(\.test.id)
        header.warnings = ["BUSY MACHINE: load 2.4 on 2 cores; ratios hold, absolute times do not"]
        header.budgetSeconds = 90
        return Run(
            header: header, results: builder.results, details: builder.details,
            directory: "Reports/2026-11-21-quick-7")
    }
}
