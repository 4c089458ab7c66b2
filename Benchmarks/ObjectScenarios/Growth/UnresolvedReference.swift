import Dispatch
import Harness
import RunRecords
import Strata

/// A reference that nobody resolves, results that nobody reads, a frozen object: what do they hold while others commit?
///
/// A violation: a file that is larger beside a reference or beside results than without them. A frozen object holds its
/// version by definition: its growth is shown and not judged.
struct UnresolvedReference: Scenario {
    let slug = "unresolved-reference"
    let family = Family.growth
    let question = "Does a reference that nobody resolves hold an old version?"
    let requires: Set<Capability> = [.objects]
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter(
            "commits", default: "300", range: 10...1_000_000, summary: "commits of a hundred changed objects each"),
        ScenarioParameter(
            "bound", default: "120", range: 100...10_000, summary: "percent of the size without it, and 256 KiB"),
    ]
    func run(_ context: CaseContext) throws {
        let count = try context.integer("commits")
        let bound = try context.integer("bound")
        let report = context.report
        try context.withEngineErrors {
            let alone = try IdlePins(context, "alone").commit(count, name: "nothing")
            report.add(alone)
            report.add(.fileBytes, Double(IdlePins.largest(alone)), statistic: "max", label: "nothing")
            let file = try IdlePins(context, "reference")
            let reference = try OtherThread.run {
                let realm = try Realm(configuration: file.configuration)
                guard let entry = realm.object(ofType: Entry.self, forPrimaryKey: 0) else {
                    throw HarnessError("no object 0")
                }
                return ThreadSafeReference(to: entry)
            }
            IdlePins.judge(
                "reference", try file.commit(count, name: "reference"), alone, percent: bound, report)
            let realm = try Realm(configuration: file.configuration)
            report.check("the reference still leads there", expected: 0, got: realm.resolve(reference)?.id ?? -1)
            try results(context, count, alone, bound)
            try frozen(context, count)
        }
    }

    private func results(_ context: CaseContext, _ count: Int, _ alone: Series, _ bound: Int) throws {
        let file = try IdlePins(context, "results")
        let queue = DispatchQueue(label: "unread")
        // Made on a queue that then does nothing any more.
        let unread = try queue.sync {
            try Realm(configuration: file.configuration, queue: queue).objects(Entry.self).where { $0.rank > 3 }
        }
        IdlePins.judge(
            "unread results", try file.commit(count, name: "unread results"), alone, percent: bound, context.report)
        withExtendedLifetime(unread) {}
    }

    private func frozen(_ context: CaseContext, _ count: Int) throws {
        let file = try IdlePins(context, "frozen")
        let realm = try Realm(configuration: file.configuration)
        let frozen = realm.objects(Entry.self).freeze()
        let before = frozen.map(\.rank)
        let series = try file.commit(count, name: "frozen")
        context.report.add(series)
        context.report.add(.fileBytes, Double(IdlePins.largest(series)), statistic: "max", label: "frozen")
        context.report.check("what is frozen", expected: before, got: frozen.map(\.rank))
    }
}
