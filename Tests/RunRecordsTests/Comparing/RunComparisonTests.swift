import Seeds
import Testing

@testable import RunRecords

@Suite struct RunComparisonTests {
    private let sound = CountedRun.sound().run

    /// The same run, made again, with a change.
    private func again(_ change: (inout Run) -> Void = { _ in }) -> Run {
        var run = sound
        run.directory = "Reports/again"
        run.header.startTime += 86_400
        for id in run.header.cases {
            for index in (run.rounds[id] ?? []).indices { drift(&run.rounds[id, default: []][index]) }
        }
        for index in run.results.indices { drift(&run.results[index]) }
        change(&run)
        return run
    }

    /// Times never repeat.
    private func drift(_ result: inout CaseResult) {
        for index in result.samples.indices where result.samples[index].metric.name == "commits_per_second" {
            result.samples[index].value *= 3
        }
        result.durationNanoseconds += 7
    }

    private func set(_ metric: String, _ value: Double, in run: inout Run, round: Int? = nil) {
        for id in run.header.cases {
            for index in (run.rounds[id] ?? []).indices where round == nil || index == round {
                for place in run.rounds[id, default: []][index].samples.indices
                where run.rounds[id, default: []][index].samples[place].metric.name == metric {
                    run.rounds[id, default: []][index].samples[place].value = value
                }
            }
        }
    }

    @Test("a repeated run: no repeatable value differs, and times are not compared")
    func equal() {
        let comparison = RunComparison(sound, again())
        #expect(comparison.differences == [])
        // The baseline itself shows that instructions do not repeat.
        #expect(comparison.undecided.map(\.what) == ["instructions"])
        #expect(comparison.undecided.first?.reason.contains("it does not repeat") == true)
        #expect(comparison.timedCount == 1)
        #expect(comparison.exitStatus == 3)
        let exact = RunComparison(
            again { set("instructions", 7, in: &$0) }, again { set("instructions", 7, in: &$0) })
        #expect(exact.exitStatus == 0 && exact.undecided == [] && exact.differences == [])
        // Two verdicts, two settings, two outcomes, and six counts.
        #expect(exact.equalCount == 2 * 3 + 6)
    }

    @Test("one sync more, one byte, another verdict, another setting, another outcome: each is named with both values")
    func differences() throws {
        let changes: [(String, String, String, (inout Run) -> Void)] = [
            ("file_bytes", "8", "9", { set("file_bytes", 9, in: &$0) }),
            ("syncs_per_commit", "1.25", "1.5", { set("syncs_per_commit", 1.5, in: &$0) }),
            ("verdict", "pass", "violation", { $0.results[0].verdict = .violation }),
            ("settings", "", "sync=off", { $0.results[0].settings = [EngineSetting("sync", "off")] }),
            (
                "outcomes", "none", "2 refused",
                { $0.results[0].outcomes = [OutcomeCount(outcome: .refused, count: 2)] }
            ),
            (
                "rows value", "none", "4",
                { $0.results[0].samples.append(Sample(.rows, 4)) }
            ),
        ]
        for (what, first, second, change) in changes {
            let comparison = RunComparison(sound, again(change))
            let difference = try #require(comparison.differences.first, "\(what)")
            #expect(comparison.differences.count == 1 && difference.what == what, "\(comparison.differences)")
            #expect(difference.a == first && difference.b == second, "\(difference)")
            #expect(comparison.exitStatus == 2)
            // With the sides swapped.
            let turned = try #require(RunComparison(again(change), sound).differences.first)
            #expect(turned.a == second && turned.b == first)
        }
    }

    @Test("a count that varies by round, or was counted once, is undecided and no difference")
    func notRepeating() throws {
        let unsteady = RunComparison(sound, again { set("file_bytes", 9, in: &$0, round: 1) })
        #expect(unsteady.differences == [] && unsteady.undecided.map(\.what).contains("file_bytes"))
        var single = CountedRun()
        single.add("commit", ["file_syncs": [31]])
        var other = CountedRun()
        other.add("commit", ["file_syncs": [32]])
        let once = RunComparison(single.run, other.run)
        #expect(once.differences == [] && once.exitStatus == 3)
        #expect(once.undecided.first?.reason == "31 and 32: counted once, it may not repeat")
        let same = RunComparison(single.run, single.run)
        #expect(same.undecided == [] && same.exitStatus == 0)
        var uncounted = CountedRun()
        uncounted.add("commit", ["file_syncs": [31], "file_bytes": [4]])
        #expect(RunComparison(single.run, uncounted.run).undecided.first?.reason.contains("first run") == true)
    }

    @Test("a cut case, or one with free-running threads, is compared only in its deterministic values")
    func cutAndFree() throws {
        let cut = RunComparison(
            sound,
            again {
                $0.results[0].isCut = true
                set("syncs_per_commit", 9, in: &$0)
            })
        #expect(cut.differences == [] && cut.undecided.contains { $0.reason.contains("cut by its budget") })
        let free = RunComparison(
            sound,
            again {
                $0.results[0].hasFreeSchedule = true
                $0.results[0].outcomes = [OutcomeCount(outcome: .refused, count: 2)]
            })
        #expect(free.differences == [] && free.undecided.contains { $0.reason.contains("run freely") })
    }

    @Test("cases that one run lacks are named with the run; without a common case nothing is decided")
    func missing() throws {
        var more = CountedRun.sound()
        more.add("bulk-insert", ["file_syncs": [1]])
        let comparison = RunComparison(sound, more.run)
        #expect(comparison.missing.inA.map(\.scenario) == ["bulk-insert"] && comparison.missing.inB.isEmpty)
        #expect(comparison.exitStatus == 2)
        #expect(RunComparison(more.run, sound).missing.inB.map(\.scenario) == ["bulk-insert"])
    }

    @Test("the reason against times names machines and distance; counts of another kind of build are undecided")
    func times() throws {
        #expect(RunComparison(sound, again()).reasonAgainstTimes.contains("24 hours apart"))
        let elsewhere = RunComparison(
            sound,
            again {
                $0.header.machine.processor = "another"
                $0.header.machine.fileSystem = "xfs"
                set("instructions", 7, in: &$0)
            })
        #expect(elsewhere.reasonAgainstTimes.contains("different machines (processor "))
        #expect(elsewhere.reasonAgainstTimes.contains("another") && elsewhere.reasonAgainstTimes.contains("and xfs"))
        #expect(!elsewhere.reasonAgainstTimes.contains("cores"), "those are equal")
        #expect(elsewhere.undecided.contains { $0.what == "instructions" && $0.reason.contains("processors") })
        let smoke = RunComparison(sound, again { $0.header.measures = false })
        #expect(smoke.reasonAgainstTimes.contains("measures nothing"))
        let debug = RunComparison(
            sound,
            again {
                $0.header.isReleaseBuild = false
                $0.header.buildDigest = "other"
            })
        #expect(debug.undecided.contains { $0.what == "allocations_per_operation" && $0.reason.contains("debug") })
        #expect(debug.remarks.contains("builds digest and other (debug)"), "\(debug.remarks)")
    }
}
