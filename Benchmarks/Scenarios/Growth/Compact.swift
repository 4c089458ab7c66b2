import Harness
import Measuring
import RunRecords

/// Compacts a database of which half was deleted. Its size must come close to that of a new database with the other
/// half of the rows, and it must contain exactly these rows.
struct Compact: Scenario {
    let slug = "compact"
    let family = Family.growth
    let question = "How long does a compaction take, and how small is the file afterwards?"
    let requires: Set<Capability> = [.tables, .deletions, .persistent, .compaction]
    let defaultDataset: String? = "people"

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let location = try context.fixtureLocation()
        let full = try context.fileBytes(at: location)
        let tables = try context.tables()
        var deletion = try HalfDeletion(tables, run: HalfDeletion.blockRows)
        let deleting = try context.open(location, as: (any DeletionSession).self)
        _ = try deletion.run(deleting)
        try deleting.close()
        let before = try context.fileBytes(at: location)

        let session = try context.open(location, as: (any CompactionSession).self)
        let rests = ResourceUsage.resetPeak() ? ResourceUsage.now().peakResidentBytes : 0
        let start = MonotonicClock.now()
        try session.compact()
        let elapsed = MonotonicClock.now() - start
        let peak = ResourceUsage.now().peakResidentBytes
        try session.close()
        let after = try context.fileBytes(at: location)
        report.add(.durationMilliseconds, Double(elapsed) / 1e6)
        report.add(.peakResidentBytes, Double(peak > rests ? peak - rests : 0), label: "above what was resident")
        report.add(.fileBytes, Double(full), label: "before the deletion")
        report.add(.fileBytes, Double(before), label: "before")
        report.add(.fileBytes, Double(after), label: "after")
        let fresh = try FreshDatabase(context, tables.keeping(deletion.liveRows))
        fresh.judge(after, "size", report)
        fresh.requireWork(from: before, report)
        context.judgeContent("content", at: location, expected: deletion.oracle)
    }
}
