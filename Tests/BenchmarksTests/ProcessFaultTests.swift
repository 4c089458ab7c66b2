import CaseFiles
import ProgramTrials
import RunRecords
import Seeds
import Testing

@testable import Scenarios

/// Limits, full disks, slow spells, deaths at calls, and forks.
@Suite struct ProcessFaultTests {
    @Test(
        "the address of a limit round-trips in its one spelling",
        arguments: [
            "limit:descriptors,0", "limit:descriptors,3", "limit:file-size,65536", "limit:file-size,1,ignored",
            "limit:threads,0", "limit:address-space,67108864",
        ])
    func limitAddresses(text: String) throws {
        let limit = try #require(ProcessLimit(text))
        #expect(limit.description == text && FaultAddress(text: text).fault == .limit)
        #expect((limit.signal != nil) == (text == "limit:file-size,65536"))
    }

    @Test(
        "invalid limits are refused",
        arguments: [
            "limit:", "limit:descriptors", "limit:descriptors,-1", "limit:descriptors,03", "limit:threads,1,ignored",
            "limit:file-size,1,IGNORED", "limit:file-size,1,", "io:write#1,EIO",
        ])
    func noLimits(text: String) { #expect(ProcessLimit(text) == nil) }

    @Test("limits lie between zero and the need")
    func limits() {
        #expect(ResourceLimits.limits(.descriptors, need: 2).map(\.amount) == [0, 1, 2, 3])
        #expect(ResourceLimits.limits(.threads, need: 0).map(\.amount) == [0])
        #expect(ResourceLimits.limits(.threads, need: 3).map(\.amount) == [0, 1, 2])
        let sizes = ResourceLimits.limits(.fileSize, need: 120_000)
        #expect(sizes.first?.amount == 0 && sizes.allSatisfy { $0.amount < 120_000 })
        #expect(sizes.count { $0.isSignalIgnored } * 2 == sizes.count && Set(sizes).count == sizes.count)
        let spaces = ResourceLimits.limits(.addressSpace, need: 100 << 20).map(\.amount)
        #expect(spaces == [1, 4, 16, 25, 50, 64, 75].map { $0 << 20 })
        #expect(ResourceLimits.limits(.addressSpace, need: 0).isEmpty)
    }

    @Test("deaths are chosen on both sides of changing calls")
    func kills() {
        var calls = ScriptCalls()
        calls.counts = ["write": 10, "sync": 5, "read": 9, "open": 4]
        let all = KillAtCall.kills(calls, count: 0, seed: Seed(1))
        #expect(all.count == 30 && all.allSatisfy(\.isKill))
        let some = KillAtCall.kills(calls, count: 7, seed: Seed(1))
        #expect(some.count == 7 && Set(some.map(\.group)).count == 2)
        #expect(some.allSatisfy { CallFault("\($0)") == $0 && FaultAddress(text: "\($0)").fault == .kill })
    }

    @Test("a replay names a death at a call: not one at a moment, and not a call that fails")
    func replayedKills() throws {
        for (text, isAccepted) in [
            ("kill:change#3,before", true), ("kill:write#0,after", true), ("kill:moment#3", false),
            ("io:sync#1,EIO", false),
        ] {
            #expect(KillAtCall.isAtCall(try #require(CallFault(text))) == isAccepted, "\(text)")
        }
    }

    @Test("sizes of disks go evenly from zero to the need")
    func rooms() {
        #expect(DiskFull.rooms(need: 400 << 10, count: 4) == [0, 50, 100, 200])
        #expect(DiskFull.rooms(need: 400 << 10, count: 4, least: 70) == [70, 100, 200])
        #expect(DiskFull.rooms(need: 0, count: 3) == [0])
        // The scenario does not ask whether there is any: its fewest trials need one.
        #expect(DiskFull.rooms(need: 400 << 10, count: 1) == [0])
    }

    @Test("a session that no longer reads is found, a reopened one is not blamed")
    func readers() {
        let operations = [
            ScriptOperation(label: "a", action: "insert", arguments: [1, 2, 7, 3]),
            ScriptOperation(label: "b", action: "reopen"),
        ]
        let full: [ScriptEvent] = [.began(1), .failed(1, "full")]
        #expect(DiskFull.objection(full + [.sawNothing("no")], operations)?.outcome == .refused)
        #expect(DiskFull.objection(full + [.saw(ScriptContent()), .sawNothing("no")], operations) == nil)
        #expect(DiskFull.objection([.failed(2, "full"), .sawNothing("no")], operations) == nil)
        #expect(DiskFull.objection([.failed(0, "full")], operations) == nil)
    }

    @Test("a series has recovered once its median stays within the limit")
    func recovery() throws {
        var course = SpellCourse()
        course.before = Array(repeating: 100, count: 20)
        course.during = Array(repeating: 5_000, count: 10)
        // Ten commits in a tenth of a second.
        func commits(_ latencies: [UInt64]) {
            course.after = latencies.flatMap { Array(repeating: $0, count: 10) }
            course.ends = (1...UInt64(course.after.count)).map { $0 * 10_000_000 }
        }
        commits([900, 900, 150, 150])
        #expect(course.limit == 200 && course.shows && course.isBack)
        #expect(course.recovery == 200_000_000)
        #expect(SpellCourse(course.text) == course && SpellCourse("1\n2\n") == nil)
        commits([150, 150, 900, 100])
        #expect(course.recovery == 300_000_000)
        commits([900, 150, 900])
        #expect(!course.isBack && course.recovery == nil)
        commits([100, 100])
        course.after[3] = 5_000
        #expect(course.recovery == 0)
        course.after = [100]
        course.ends = [10]
        #expect(course.recovery == nil)
        course.during = Array(repeating: 150, count: 10)
        #expect(!course.shows)
    }

    @Test("the address of a fork round-trips in its one spelling")
    func forks() {
        for way in ForkWay.allCases {
            #expect(ForkWay.of(way.address(3)) == way && way.address(3).fault == .fork)
        }
        for text in ["fork:exit", "fork:exit,03", "fork:other,1", "fork:exit,-1", "kill:3"] {
            #expect(ForkWay.of(FaultAddress(text: text)) == nil, "\(text)")
        }
    }
}
