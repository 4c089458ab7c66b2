import Measuring
import RunRecords

extension PlausibleRun {
    /// Collects the cases of the fictional run.
    struct Builder {
        var results: [CaseResult] = []
        var details: [String: CaseDetails] = [:]

        mutating func add(_ result: CaseResult, _ more: CaseDetails = CaseDetails()) {
            results.append(result)
            if more != CaseDetails() { details[result.test.id] = more }
        }

        private func factor(_ engine: String) -> Double {
            switch engine {
            case "model": 18
            case "strata": 2.1
            case "sqlite-tuned": 1.12
            default: 1
            }
        }

        mutating func raw() {
            var result = PlausibleRun.passed(
                PlausibleRun.test("raw-disk", .workload, "model", dataset: "", size: 0))
            var more = CaseDetails()
            result.samples = [
                Sample(.operationsPerSecond, 1_240, count: 500, label: "overwrite and sync"),
                Sample(.operationsPerSecond, 880, count: 250, label: "append and sync"),
                Sample(
                    Metric("gigabytes_per_second", unit: "GB/s", .higherIsBetter, .measured), 21.5, statistic: "max",
                    label: "memory read"),
            ]
            PlausibleRun.add(
                PlausibleRun.latency(780_000, count: 500, tail: 6, seed: 5), "overwrite and sync", to: &result, &more)
            add(result, more)
        }

        mutating func workloads() {
            for engine in PlausibleRun.engines {
                for durability in engine == "model" ? [.full] : [DurabilityClass.full, .none] {
                    var bulk = PlausibleRun.passed(
                        PlausibleRun.test("bulk-insert", .workload, engine, durability: durability))
                    bulk.samples = [
                        Sample(.rowsPerSecond, 612_345.678 * factor(engine)),
                        Sample(.fileBytesPerRow, 46.2 / factor(engine) * 2),
                        Sample(.peakResidentBytes, 78_000_000 / factor(engine)),
                        Sample(.allocationsPerOperation, 2.25),
                    ]
                    add(bulk)
                    commit(engine, durability)
                }
                var read = PlausibleRun.passed(PlausibleRun.test("point-read", .workload, engine))
                var more = CaseDetails()
                read.samples = [
                    Sample(.operationNanoseconds, 912 / factor(engine), statistic: "median", label: "one property"),
                    Sample(
                        .operationsPerSecond, 1e9 / 912 * factor(engine), statistic: "median", label: "one property"),
                    Sample(.operationNanoseconds, 1_720 / factor(engine), label: "three properties"),
                    Sample(.emptyLoopNanoseconds, 0.31),
                ]
                PlausibleRun.add(
                    PlausibleRun.latency(960 / factor(engine), count: 20_000, tail: 12, seed: 3), "", to: &read, &more)
                add(read, more)
            }
            for engine in ["strata"] {
                var read = PlausibleRun.passed(PlausibleRun.test("property-read", .workload, engine))
                read.samples = [("Int", 2.1), ("Double", 2.2), ("String 12", 4.9), ("String 40", 51), ("link", 9.3)]
                    .map { Sample(.operationNanoseconds, $0.1, label: $0.0) }
                add(read)
            }
        }

        private mutating func commit(_ engine: String, _ durability: DurabilityClass) {
            var result = PlausibleRun.passed(
                PlausibleRun.test("commit", .workload, engine, durability: durability))
            var more = CaseDetails()
            let middle = (durability == .full ? 1_650_000 : 21_000) / factor(engine)
            result.samples = [
                Sample(.commitsPerSecond, 1e9 / middle * 0.93), Sample(.writtenBytesPerCommit, 8_312 / factor(engine)),
                Sample(.syncsPerCommit, engine == "model" ? 0 : 1),
                Sample(.operationsPerSecond, 1_210, count: 200, label: "raw overwrite and sync"),
            ]
            PlausibleRun.add(
                PlausibleRun.latency(middle, count: 2_000, tail: 8, seed: 11), "commit", to: &result, &more)
            result.isCut = engine == "sqlite" && durability == .full
            add(result, more)
        }

        mutating func concurrency() {
            for threads in ["2", "8"] {
                for engine in PlausibleRun.engines.dropFirst() {
                    var result = PlausibleRun.passed(
                        PlausibleRun.test(
                            "commit-threads", .concurrency, engine,
                            parameters: [CaseParameter(name: "threads", value: threads)]))
                    result.hasFreeSchedule = true
                    let gain = engine == "strata" && threads == "8" ? 3.4 : 1
                    result.samples = [
                        Sample(.commitsPerSecond, 540 * factor(engine) * gain), Sample(.fairness, 0.93),
                    ]
                    add(result)
                }
            }
            for engine in PlausibleRun.engines {
                var result = PlausibleRun.passed(PlausibleRun.test("lost-update", .concurrency, engine))
                result.hasFreeSchedule = true
                if engine == "sqlite-tuned" {
                    result.verdict = .inconclusive
                    result.outcome = nil
                    result.outcomes = []
                    result.message = "the budget ended before any thread had done its share"
                }
                add(result)
            }
        }

        mutating func faults() {
            for engine in ["strata", "sqlite", "sqlite-tuned"] {
                let isStrata = engine == "strata"
                let (flips, flipDetails) = PlausibleRun.sweep(
                    PlausibleRun.test("bit-flip", .corruption, engine, dataset: "damage", size: 500),
                    isStrata ? .pass : .unpromised,
                    isStrata
                        ? [(.correct, 312), (.detectedAtOpen, 96), (.detectedAtRead, 1_592)]
                        : [
                            (.correct, 402), (.detectedAtOpen, 44), (.detectedAtRead, 620), (.refused, 12),
                            (.silentlyWrong, 921), (.crashed, 1),
                        ])
                add(flips, flipDetails)
                let (cuts, cutDetails) = PlausibleRun.sweep(
                    PlausibleRun.test("truncate", .corruption, engine, dataset: "damage", size: 500),
                    isStrata ? .pass : .violation,
                    isStrata
                        ? [(.correct, 1), (.detectedAtOpen, 1_999)]
                        : [(.correct, 1), (.detectedAtOpen, 1_900), (.lostCommit, 94), (.hung, 5)])
                var judged = cuts
                if !isStrata { judged.message = "94 of 2 000 cuts lost rows, and nothing was said" }
                add(judged, cutDetails)
                let (kills, killDetails) = PlausibleRun.sweep(
                    PlausibleRun.test("kill-mid-write", .crash, engine, dataset: ""), .pass, [(.correct, 200)])
                add(kills, killDetails)
            }
        }

        mutating func growth() {
            for policy in ["never", "launch", "online"] {
                for engine in ["strata", "sqlite"] {
                    var result = PlausibleRun.passed(
                        PlausibleRun.test(
                            "pinned-reader", .growth, engine,
                            parameters: [
                                CaseParameter(name: "commits", value: "2000"),
                                CaseParameter(name: "policy", value: policy),
                            ]))
                    let series = PlausibleRun.growth(engine, policy: policy)
                    result.samples = [Sample(.fileBytes, Double(series.points.last?.fileBytes ?? 0), label: "at last")]
                    add(result, CaseDetails(series: [series]))
                }
            }
        }

        mutating func objects() {
            for policy in ["nil", "trap"] {
                for scenario in ["read-deleted", "count-then-index"] {
                    var result = PlausibleRun.passed(
                        PlausibleRun.test(
                            scenario, .invalidation, "strata",
                            parameters: [CaseParameter(name: "policy", value: policy)]))
                    result.outcomes = [OutcomeCount(outcome: .correct, count: 24)]
                    add(result)
                    var other = CaseResult(
                        test: PlausibleRun.test(
                            scenario, .invalidation, "sqlite",
                            parameters: [CaseParameter(name: "policy", value: policy)]), verdict: .notApplicable)
                    other.message = "sqlite has no held objects"
                    add(other)
                }
            }
            for scenario in ["skip-versions", "throw-in-block"] {
                var result = PlausibleRun.passed(PlausibleRun.test(scenario, .migration, "strata"))
                result.outcomes = [OutcomeCount(outcome: .correct, count: 6)]
                add(result)
            }
            var broken = CaseResult(
                test: PlausibleRun.test("large-migration", .migration, "strata"), verdict: .harnessError)
            broken.message = "the worker ended with status 3 and no report"
            broken.crash = CrashReport(
                exitStatus: 3, standardError: "Fatal error: index <out> of range & more\n  at 0x1\n")
            add(broken)
            var known = PlausibleRun.passed(PlausibleRun.test("rename", .migration, "strata"))
            known.verdict = .known
            known.outcome = .refused
            known.outcomes = [OutcomeCount(outcome: .refused, count: 1)]
            known.message = "chained renames are refused: listed since 0.1"
            add(known)
        }
    }
}
