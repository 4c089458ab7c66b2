import Dispatch
import Harness
import RunRecords
import Strata

/// References and results that are not used while another thread commits.
///
/// A violation: a file that grows as if unresolved references, or results of an idle queue, pinned versions; references
/// that resolve to another object; frozen objects that changed. The controls are a file with the same commits and no
/// reference, and one with every version pinned. If the bound does not separate these two files, the case is
/// inconclusive.
struct UnresolvedReference: Scenario {
    let slug = "unresolved-reference"
    let family = Family.growth
    let question = "Does an unresolved reference pin an old version?"
    let requires: Set<Capability> = [.objects]
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter(
            "commits", .size, default: 300, range: 10...1_000_000,
            summary: "commits of a hundred changed objects each"),
        ScenarioParameter(
            "bound", .allowance, default: 120, range: 100...10_000,
            summary: "largest size of the file, in percent of its size without references, besides 256 KiB"),
        ScenarioParameter(
            "live", .allowance, default: 250, range: 100...100_000,
            summary: "largest size of the file without references, in percent of its live data, besides 256 KiB"),
    ]

    func run(_ context: CaseContext) throws {
        let count = try context.integer("commits")
        try context.withEngineErrors {
            let controls = try IdlePins.controls(context, commits: count, live: try context.integer("live"))
            try references(context, count, controls)
            try results(context, count, controls)
            try frozen(context, count)
        }
    }

    /// References to one object, each made in another version.
    private func references(_ context: CaseContext, _ count: Int, _ controls: IdlePins.Controls) throws {
        let file = try IdlePins(context, "reference")
        let (series, references) = try file.commit(count, name: "references") { realm in
            guard let entry = realm.object(ofType: Entry.self, forPrimaryKey: 0) else {
                throw EngineError(.refused, "object 0 is not there")
            }
            return ThreadSafeReference(to: entry)
        }
        let report = context.report
        IdlePins.judge("references", series, controls: controls, percent: try context.integer("bound"), report: report)
        try file.check("references", after: count, report)
        let realm = try Realm(configuration: file.configuration)
        let expected = IdlePins.expected(after: count)[0]
        report.check(
            "what the references lead to", expected: Array(repeating: expected, count: references.count),
            got: references.map { reference in
                realm.resolve(reference).map { "\($0.id) \($0.text), rank \($0.rank)" } ?? "nothing"
            })
    }

    private func results(_ context: CaseContext, _ count: Int, _ controls: IdlePins.Controls) throws {
        let file = try IdlePins(context, "results")
        let queue = DispatchQueue(label: "unread")
        // Made on a queue that is idle afterwards.
        let unread = try queue.sync {
            try Realm(configuration: file.configuration, queue: queue).objects(Entry.self).where { $0.rank > 3 }
        }
        let series = try file.commit(count, name: "unread results")
        IdlePins.judge(
            "unread results", series, controls: controls, percent: try context.integer("bound"), report: context.report)
        try file.check("unread results", after: count, context.report)
        withExtendedLifetime(unread) {}
    }

    private func frozen(_ context: CaseContext, _ count: Int) throws {
        let file = try IdlePins(context, "frozen")
        let realm = try Realm(configuration: file.configuration)
        let frozen = realm.freeze()
        let series = try file.commit(count, name: "frozen")
        context.report.add(series)
        context.report.add(.fileBytes, Double(IdlePins.largest(series)), statistic: "max", label: "frozen")
        let same = EntryClasses.lines(frozen) == IdlePins.expected(after: 0)
        context.report.check("what is frozen is as it was", expected: true, got: same)
        try file.check("frozen", after: count, context.report)
    }
}
