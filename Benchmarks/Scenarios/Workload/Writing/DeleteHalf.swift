import Harness
import RunRecords

/// Deletes every second row in one transaction.
struct DeleteHalf: Scenario {
    let slug = "delete-half"
    let family = Family.workload
    let question = "How fast are rows deleted, and how much of their space does the file keep?"
    let requires: Set<Capability> = [.tables, .deletions]
    let layers: Set<Layer> = [.storage, .objects]
    let defaultDataset: String? = "people"

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let location = try context.fixtureLocation()
        let before = try context.fileBytes(at: location)
        var deletion = try HalfDeletion(try context.tables())
        let session = try context.open(location, as: (any DeletionSession).self)
        let times = try deletion.runAndClose(session)
        for (label, elapsed) in [("", times.acknowledged), ("with close", times.closed)] {
            report.add(
                .rowsPerSecond, Double(deletion.keys.count) / (Double(max(1, elapsed)) / 1e9),
                count: deletion.keys.count, label: label)
        }
        report.add(.rows, Double(deletion.keys.count), statistic: "count")
        if before > 0 {
            report.add(.fileBytes, Double(before), label: "before")
            report.add(.fileBytes, Double(try context.fileBytes(at: location)), label: "after")
        }
        context.judgeContent("content", at: location, expected: deletion.oracle)
    }
}
