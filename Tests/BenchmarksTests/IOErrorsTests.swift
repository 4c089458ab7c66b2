import CaseFiles
import Harness
import ProgramTrials
import RunRecords
import Seeds
import Testing

@testable import Scenarios

/// Scripts with failing calls.
@Suite struct IOErrorsTests {
    private static let operations = [
        ScriptOperation(label: "a", action: "insert", arguments: [1, 2, 7, 3]),
        ScriptOperation(label: "b", action: "update", arguments: [1, 9]),
        ScriptOperation(label: "c", action: "reopen"),
        ScriptOperation(label: "d", action: "delete", arguments: [2]),
    ]
    private static let made: [ScriptEvent] = [.began(0), .acknowledged(0, isSynced: nil)]

    private static func rows(_ numbers: [Int64: Int64]) -> ScriptContent {
        ScriptContent(rows: numbers.mapValues { ScriptRow(number: $0, length: 3) })
    }

    private static func worlds(
        _ events: [ScriptEvent], keeps: Bool = true, synced: Set<Int> = []
    ) -> ScriptWorlds {
        ScriptWorlds(made + events, of: operations, keepsAcknowledged: keeps, synced: synced)
    }

    private static func done(_ step: Int) -> [ScriptEvent] { [.began(step), .acknowledged(step, isSynced: true)] }

    private static func failed(_ step: Int) -> [ScriptEvent] { [.began(step), .failed(step, "EIO")] }

    @Test("the lines that a process prints are read back; a line that was cut off counts as not printed")
    func lines() {
        let events: [ScriptEvent] = [
            .began(3), .acknowledged(3, isSynced: nil), .acknowledged(4, isSynced: true),
            .acknowledged(5, isSynced: false), .failed(6, "no such thing"), .saw(ScriptContent()),
            .saw(Self.rows([1: 7, 20: -3])), .sawNothing("why"), .sawWrong("row 1: x"), .counted("sync", 12),
            .broke("it did"),
        ]
        let text = events.map { $0.line + "\n" }.joined()
        #expect(ScriptEvent.list(Array(text.utf8)) == events)
        #expect(ScriptEvent.list(Array((text + "acknowledged 7").utf8)) == events)
        #expect(ScriptEvent.list(Array("saw 1.2\nbegan x\nnothing\n".utf8)).isEmpty)
        #expect(ScriptEvent.failed(1, "two\nlines").line == "failed 1 two lines")
    }

    @Test("exactly the acknowledged changes are there")
    func acknowledged() {
        let worlds = Self.worlds(Self.done(1) + Self.done(2))
        #expect(worlds.judge(Self.rows([1: 9, 2: 7])).outcome == .correct)
        #expect(worlds.judge(Self.rows([1: 7, 2: 7])).outcome == .lostCommit)
        #expect(worlds.judge(ScriptContent()).outcome == .lostCommit)
        #expect(worlds.judge(Self.rows([1: 9])).outcome == .silentlyWrong)
        #expect(worlds.judge(Self.rows([1: 7])).outcome == .silentlyWrong)
        #expect(!worlds.mayLackTable)
        #expect(ScriptWorlds([.began(0)], of: Self.operations, keepsAcknowledged: true).mayLackTable)
        // Without durable commits a failure may leave an older state, but not a torn one.
        let periodic = Self.worlds(Self.done(1) + Self.done(2), keeps: false)
        #expect(periodic.judge(Self.rows([1: 7, 2: 7])).outcome == .correct)
        #expect(periodic.judge(Self.rows([1: 7])).outcome == .silentlyWrong)
    }

    @Test("a failed change may be done or not, until a later commit is acknowledged after a read")
    func failed() {
        let (old, new) = (Self.rows([1: 7, 2: 7]), Self.rows([1: 9, 2: 7]))
        let failed = Self.worlds(Self.done(1) + Self.failed(2) + [.saw(old)])
        #expect(failed.judge(old).outcome == .correct && failed.judge(new).outcome == .correct)
        #expect(failed.judge(Self.rows([1: 9])).outcome == .silentlyWrong)
        #expect(failed.wrong == nil)
        let later = Self.worlds(Self.done(1) + Self.failed(2) + [.saw(old)] + Self.done(4))
        #expect(later.judge(Self.rows([1: 7])).outcome == .correct)
        #expect(later.judge(Self.rows([1: 9])).outcome == .silentlyWrong)
        #expect(later.judge(old).outcome == .lostCommit)
        // A recovery may still complete the failed change.
        let reopened = Self.worlds(Self.done(1) + Self.failed(2) + [.saw(old)] + Self.done(3) + Self.done(4))
        #expect(reopened.judge(Self.rows([1: 7])).outcome == .correct)
        #expect(reopened.judge(Self.rows([1: 9])).outcome == .correct)
        // The process ended in the middle of a step, which may be done or not.
        let ended = Self.worlds(Self.done(1) + [.began(2)])
        #expect(ended.judge(old).outcome == .correct && ended.judge(new).outcome == .correct)
    }

    @Test("the process's own reads after an error are judged, too")
    func seen() {
        let torn = Self.worlds(Self.done(1) + Self.failed(2) + [.saw(Self.rows([1: 9]))])
        #expect(torn.wrong?.outcome == .silentlyWrong)
        let lost = Self.worlds(Self.done(1) + Self.done(2) + Self.failed(3) + [.saw(Self.rows([1: 7, 2: 7]))])
        #expect(lost.wrong?.outcome == .lostCommit)
        let strange = Self.worlds(Self.done(1) + [.sawWrong("row 5 came twice")])
        #expect(strange.wrong?.outcome == .silentlyWrong)
        #expect(Self.worlds(Self.done(1) + Self.failed(2) + [.sawNothing("EIO")]).wrong == nil)
    }

    @Test("a commit acknowledged without its sync counts as lost, if it syncs without the fault")
    func unsynced() {
        let events = Self.done(1) + [.began(2), .acknowledged(2, isSynced: false)]
        #expect(Self.worlds(events, synced: [1, 2]).unsynced?.hasPrefix("b was acknowledged") == true)
        #expect(Self.worlds(events, synced: [1]).unsynced == nil)
        #expect(Self.worlds(events, keeps: false, synced: [1, 2]).unsynced == nil)
        #expect(ScriptWorlds.synced(Self.made + events) == [1])
    }

    @Test("every fault of a sample occurs once, in order, and each kind has its share")
    func faults() {
        var calls = ScriptCalls()
        calls.counts = ["write": 40, "sync": 20, "create": 2, "read": 9, "maps": 1]
        let all = IOErrors.faults(calls, count: 0, seed: Seed(1))
        // Once and permanently: each call, writes short once, each call that needs space, these short permanently.
        #expect(all.count == 71 * 2 + 40 + 62 * 2 + 62)
        let some = IOErrors.faults(calls, count: 30, seed: Seed(1))
        #expect(some.count == 30 && Set(some).count == 30)
        #expect(some == all.filter { Set(some).contains($0) })
        #expect(Set(some.map(\.group)) == Set(all.map(\.group)))
        #expect(some == IOErrors.faults(calls, count: 30, seed: Seed(1)))
        #expect(some != IOErrors.faults(calls, count: 30, seed: Seed(2)))
        #expect(some.allSatisfy { CallFault($0.description) == $0 && FaultAddress(text: "\($0)").fault == .io })
        #expect(IOErrors.faults(ScriptCalls(), count: 30, seed: Seed(1)).isEmpty)
        // An engine whose opens are not seen would be tested by half, and pass.
        var unnamed = ScriptCalls()
        #expect(unnamed.hasNames, "an engine without files")
        unnamed.counts = ["write": 24, "sync": 10, "read": 9]
        #expect(!unnamed.hasNames)
        unnamed.counts["open"] = 1
        #expect(unnamed.hasNames)
        #expect(calls.words.contains("71 file calls") && calls.words.contains("NOT STRUCK: 1 shared writable maps"))
    }
}
