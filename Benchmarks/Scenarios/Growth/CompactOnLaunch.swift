import Harness
import Measuring
import RunRecords
import Synchronization

/// Deletes half of the rows, then opens with a callback that decides on compaction. The engine must call it once, with
/// true numbers, and do as it answers.
///
/// Only for engines that have such a callback: an adapter that emulated it would test itself, and not the engine.
struct CompactOnLaunch: Scenario {
    let slug = "compact-on-launch"
    let family = Family.growth
    let question = "Is compaction at launch asked for once with true numbers, and does the file shrink?"
    let requires: Set<Capability> = [.tables, .deletions, .persistent, .compactOnLaunch]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter(
            "answer", default: "compact", allowed: ["compact", "leave"], summary: "what the policy answers")
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        guard let engine = context.engine as? any CompactOnLaunchEngine else {
            throw HarnessError("\(context.engine.name) declares compact-on-launch, and is no CompactOnLaunchEngine")
        }
        let location = try context.fixtureLocation()
        let tables = try context.tables()
        let deletion = try deleteHalf(context, location)
        let fresh = try FreshDatabase(context, tables.keeping(deletion.liveRows))
        let before = try context.fileBytes(at: location, roles: [.data])
        let answer = try context.text("answer") == "compact"

        let calls = Calls()
        let start = MonotonicClock.now()
        let session = try engine.open(location, settings: context.settings) { total, used in
            calls.list.withLock { $0.append(Calls.Call(total: total, used: used)) }
            return answer
        }
        let elapsed = MonotonicClock.now() - start
        // The database is open already: the callback must not be called.
        let second = try engine.open(location, settings: context.settings) { total, used in
            calls.list.withLock { $0.append(Calls.Call(total: total, used: used)) }
            return answer
        }
        try second.close()
        try session.close()

        let after = try context.fileBytes(at: location, roles: [.data])
        let asked = calls.list.withLock { $0 }
        report.check("times asked", expected: 1, got: asked.count)
        if let call = asked.first {
            report.check("total bytes", expected: before, got: call.total)
            // The used size must be that of the remaining rows.
            let isTrue = call.used <= fresh.allowedBytes && FreshDatabase(bytes: call.used).isMatched(by: fresh.bytes)
            let used = isTrue ? "" : "\(call.used), and the same rows loaded anew take \(fresh.bytes)"
            report.check("used bytes", expected: "", got: used)
            report.add(.usedBytes, Double(call.used))
        }
        report.add(.fileBytes, Double(before), label: "before")
        report.add(.fileBytes, Double(after), label: "after")
        report.add(.durationMilliseconds, Double(elapsed) / 1e6, label: "open with policy")
        if answer {
            fresh.judge(after, "size", report)
        } else {
            report.check("left as it was", expected: true, got: after > before / 4 * 3)
        }
        // A deletion that already made the file that small leaves no effect of the answer to see.
        fresh.requireWork(from: before, report)
        context.judgeContent("content", at: location, expected: deletion.oracle)
    }

    /// The arguments of the callback. Open is synchronous; the lock is there because the closure is Sendable.
    private final class Calls: Sendable {
        struct Call: Sendable {
            var total: Int
            var used: Int
        }
        let list = Mutex<[Call]>([])
    }

    private func deleteHalf(_ context: CaseContext, _ location: DatabaseLocation) throws -> HalfDeletion {
        var deletion = try HalfDeletion(try context.tables(), run: HalfDeletion.blockRows)
        let session = try context.open(location, as: (any DeletionSession).self)
        let elapsed = try deletion.run(session)
        try session.close()
        context.report.add(
            .rowsPerSecond, Double(deletion.keys.count) / (Double(max(1, elapsed)) / 1e9),
            count: deletion.keys.count, label: "delete half")
        return deletion
    }
}
