import Measuring
import RunRecords
import Seeds
import Testing

@testable import Reporting

@Suite struct DeterministicTests {
    /// The same run on another machine: all measurements differ, and cases ended in another order.
    static func elsewhere(_ run: Run) -> Run {
        var other = run
        other.header.id = "another"
        other.header.startTime += 86_400
        other.header.command += " --out elsewhere"
        other.header.warnings = ["BUSY MACHINE: load 9"]
        other.header.machine = Machine(
            host: "other", system: "Linux 9", processor: "another", coreCount: 64, memoryBytes: 1, fileSystem: "xfs",
            fsync: .suspicious, fsyncNanoseconds: 3)
        other.directory = "/elsewhere"
        other.header.cases.reverse()
        other.results.reverse()
        for index in other.results.indices {
            other.results[index].durationNanoseconds += 12_345
            other.results[index].message += " (took 3 ms)"
            other.results[index].crash?.standardError += "pid 77"
            for place in other.results[index].samples.indices
            where other.results[index].samples[place].metric.kind == .measured {
                other.results[index].samples[place].value *= 1.01
                other.results[index].samples[place].count += 1
            }
        }
        for (id, details) in other.details {
            var changed = details
            for place in changed.series.indices where changed.series[place].kind == .measured {
                changed.series[place].points.removeLast()
            }
            changed.histograms.removeAll()
            other.details[id] = changed
        }
        return other
    }

    @Test("equal bytes for any measurements and any order of the cases")
    func independent() {
        let run = PlausibleRun.run
        let text = Reporting.deterministic(run)
        #expect(text == Reporting.deterministic(Self.elsewhere(run)))
        #expect(!text.contains("bench-1") && !text.contains("commits_per_second"))
    }

    @Test("differs if deterministic content differs")
    func sensitive() throws {
        let run = PlausibleRun.run
        let text = Reporting.deterministic(run)
        let sweep = try #require(run.results.firstIndex { $0.trialCount == 2_000 && !$0.trials.isEmpty })
        let id = run.results[sweep].test.id
        let changes: [(String, (inout Run) -> Void)] = [
            ("verdict", { $0.results[sweep].verdict = .known }),
            (
                "promise",
                {
                    $0.results[sweep].promises.append(
                        JudgedPromise(kind: "durability", concern: .safety, state: .broken))
                }
            ),
            (
                "cause",
                {
                    $0.results[sweep].causes.append(
                        FailureCause(
                            outcome: .hung, text: "waited", count: 1, example: FaultAddress(.flip, 1), detail: ""))
                }
            ),
            ("count", { $0.results[sweep].outcomes[0].count += 1 }),
            ("trial", { $0.results[sweep].trials[0].detail += "." }),
            ("sample", { $0.results[sweep].samples[0].value += 1 }),
            ("setting", { $0.results[sweep].settings[0].value += "x" }),
            ("order of trials", { $0.details[id]?.trialCodes.reverse() }),
            ("version", { $0.header.engines[0].version += "1" }),
            ("missing case", { $0.results.remove(at: sweep) }),
            ("seed", { $0.header.seed = Seed(8) }),
        ]
        for (name, change) in changes {
            var other = run
            change(&other)
            #expect(Reporting.deterministic(other) != text, "\(name)")
        }
    }

    @Test("leaves out the counts of a cut case, and of free-running threads")
    func cutAndFree() {
        let (result, details) = PlausibleRun.sweep(
            PlausibleRun.test("bit-flip", .corruption, "sqlite"), .unpromised, [(.correct, 70), (.silentlyWrong, 30)])
        var cut = HTMLTests.run([result])
        cut.details[result.test.id] = details
        cut.results[0].isCut = true
        var shorter = cut
        shorter.results[0].outcomes[0].count = 60
        shorter.results[0].samples[0].value = 90
        shorter.details[result.test.id]?.trialCodes.removeLast(10)
        #expect(Reporting.deterministic(cut) == Reporting.deterministic(shorter))
        for index in [0] {
            cut.results[index].isCut = false
            cut.results[index].hasFreeSchedule = true
            shorter.results[index].isCut = false
            shorter.results[index].hasFreeSchedule = true
            shorter.results[index].samples = cut.results[index].samples
        }
        #expect(Reporting.deterministic(cut) == Reporting.deterministic(shorter))
        shorter.results[0].outcome = .crashed
        #expect(Reporting.deterministic(cut) != Reporting.deterministic(shorter))
    }

    @Test("a line end in a message starts no new line")
    func lineEnds() {
        var result = PlausibleRun.passed(PlausibleRun.test("bit-flip", .corruption, "sqlite"))
        result.trials = [
            Trial(address: FaultAddress(.flip, 1), outcome: .silentlyWrong, detail: "a\ncase ffffffffffff\r\n")
        ]
        let text = Reporting.deterministic(HTMLTests.run([result]))
        #expect(!text.contains("\ncase ffffffffffff"))
        #expect(text.contains("a\\ncase ffffffffffff\\r\\n"))
    }
}
