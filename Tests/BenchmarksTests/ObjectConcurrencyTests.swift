import Files
import Foundation
import Harness
import Measuring
import StrataEngine
import Testing

@testable import ObjectScenarios

/// Scenarios of asynchronous writes and of other processes.
@Suite struct ObjectConcurrencyTests {
    /// In its own process and thread, since the tasks of a trial need the threads that other tests occupy.
    @Test("async-write: every trial is right")
    func asyncWrite() async {
        await #expect(processExitsWith: .success) {
            let wrong: [String] = await withCheckedContinuation { continuation in
                Thread {
                    var wrong: [String] = []
                    for name in AsyncWriteOrder.names {
                        do {
                            let finding = try ObjectScenarioTests.withPlace(.substitute) {
                                try AsyncWriteOrder.trial(name, $0)
                            }
                            if case .wrong(let detail) = finding { wrong.append("\(name): \(detail)") }
                        } catch { wrong.append("\(name): \(error)") }
                    }
                    continuation.resume(returning: wrong)
                }.start()
            }
            #expect(wrong == [])
        }
    }

    @Test("async-write: a partial batch, or a lost acknowledged one, is wrong")
    func groups() {
        #expect(AsyncWriteOrder.judgeGroups(count: 2 + 16, acknowledged: 2).0 == .correct)
        #expect(AsyncWriteOrder.judgeGroups(count: 2 + 24, acknowledged: 2).0 == .correct)
        #expect(AsyncWriteOrder.judgeGroups(count: 2 + 17, acknowledged: 2).0 == .silentlyWrong)
        #expect(AsyncWriteOrder.judgeGroups(count: 2 + 8, acknowledged: 2).0 == .lostCommit)
        #expect(AsyncWriteOrder.judgeGroups(count: 2 + 32, acknowledged: 2).0 == .silentlyWrong)
        #expect(AsyncWriteOrder.judgeGroups(count: 1, acknowledged: 0).0 == .silentlyWrong)
        let lines = ([0, 1] + Array(8..<24)).map { EntryClasses.line($0) }
        #expect(AsyncWriteOrder.foreign(lines) == nil)
        #expect(AsyncWriteOrder.foreign(lines.map { $0.replacing("text 9", with: "#") }) == 3)
    }

    @Test("open-close-race: threads that never overlapped have tested nothing")
    func race() {
        let watch = OpenCloseRace.Watch()
        for _ in 0..<3 {
            watch.opens()
            watch.letsGo()
        }
        #expect(watch.objection == "no two threads had the database open at once")
        watch.opens()
        watch.opens()
        watch.letsGo()
        #expect(watch.objection == nil)
        let always = OpenCloseRace.Watch()
        always.opens()
        always.opens()
        always.letsGo()
        #expect(always.objection == "it was never let go by all threads and opened again")
    }

    @Test("version-limit and cycles: every trial is right", arguments: VersionLimit.names + Cycles.names)
    func trials(name: String) throws {
        ObjectScenarioTests.expectRight(
            try ObjectScenarioTests.withPlace(.substitute) { place in
                VersionLimit.names.contains(name)
                    ? try VersionLimit.trial(name, place) : try Cycles.trial(name, place)
            }, name)
    }

    @Test("write-blocked-by-notifier: nothing is wrong, and a bound of zero is missed")
    func blockedByNotifier() throws {
        let small = ["objects": "40", "links": "5", "observers": "2", "commits": "5"]
        let good = try CaseUnderTest.run(WriteBlockedByNotifier(), on: StrataEngine(), parameters: small)
        #expect(good.outcomes.keys.filter { $0 != .correct } == [], "\(good.trials)")
        let strict = try CaseUnderTest.run(
            WriteBlockedByNotifier(), on: StrataEngine(), parameters: small.merging(["bound": "0"]) { $1 })
        #expect(strict.outcomes[.hung] == 1)
    }

    @Test("cross-process-wake: missed, doubled, empty, idle and late calls are found")
    func wake() {
        func judge(_ change: (inout CrossProcessWake.Seen.State) -> Void, bound: Int = 1000) -> [String] {
            let seen = CrossProcessWake.Seen()
            seen.state.withLock { state in
                state.moments = [0: 5_000_000, 1: 7_000_000]
                state.calls = 2
                change(&state)
            }
            let report = CaseReport()
            CrossProcessWake.judge(seen, [4_000_000, 4_000_000], bound: bound, report)
            return report.trials.map { $0.address.text }
        }
        #expect(judge { _ in } == [])
        #expect(judge { $0.moments[1] = nil } == ["objects missing from notifications"])
        #expect(judge { $0.twice = [1] } == ["objects told of twice"])
        #expect(judge { $0.emptyCalls = 1 } == ["calls without a change"])
        #expect(judge { $0.idleCalls = 1 } == ["calls for an object that no process changed"])
        #expect(judge { $0.calls = 3 } == ["at most one call per commit"])
        #expect(judge({ _ in }, bound: 2) == ["slowest"])
    }

    @Test("cross-process-wake: the writer waits once for a lost call, and after each of its last commits")
    func held() throws {
        try EnginesUnderTest.withDirectory { directory in
            let gate = directory + "/go"
            var held = CrossProcessWake.Held(gate: gate, count: 20, patience: 1_000_000)
            var silences = 0
            for id in 0..<20 { try held.wait(for: id, in: CrossProcessWake.Seen()) { silences += 1 } }
            #expect(silences == 1)
            let released = (0..<20).filter { FileTree.exists(CrossProcessWake.Held.path(gate, $0)) }
            #expect(released == Array(6...11) + Array(14...19))
        }
    }
}
