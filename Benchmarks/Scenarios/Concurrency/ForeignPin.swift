import Files
import Harness
import Platform
import RunRecords
import Seeds

/// A reading process pins a version and waits, while a writing process commits so much that it reuses the pages which
/// no pinned version needs. Then the reader reads all rows of its version.
///
/// A violation: a value that the version did not have, a read that fails, or, at the end, contents of the database that
/// no transaction wrote.
struct ForeignPin: Scenario {
    let slug = "foreign-pin"
    let family = Family.concurrency
    let question = "Does a version stay as it is that another process reads?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .snapshots, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .isolation
    let parameters = [
        ScenarioParameter("transactions", .size, default: 40, summary: "update transactions while the version is held"),
        ScenarioParameter("updates", .size, default: 200, summary: "random rows updated per transaction"),
    ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome.brokenPromise(or: expects) }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    private static let mostRows = 2_000

    func run(_ context: CaseContext) throws {
        let count = try PeopleRows.count(in: context)
        guard count > 0 else { throw HarnessError("there is no row to read") }
        let location = try context.fixtureLocation()
        let (pinned, written) = (context.directory + "/pinned", context.directory + "/written")
        var oracle = ExactOracle(try context.tables())
        let reads = stride(from: 0, to: count, by: max(1, count / Self.mostRows)).map { key in
            PointReads(table: "Person", keys: [Int64(key)], columns: ["name", "age"])
        }
        let expected = reads.map { oracle.digest($0) }
        // Forked before this process has started a thread.
        let reader = try ForkedReader.start {
            let session = try context.open(location, as: (any SnapshotSession).self)
            let token = try session.pin()
            try FileTree.writeText(pinned, "")
            while !FileTree.exists(written) { usleep(500) }
            let got = try reads.map { try session.readPinned(token, $0) }
            try session.unpin(token)
            try session.close()
            guard let place = got.indices.first(where: { got[$0] != expected[$0] }) else {
                return ContentFinding(.correct)
            }
            return ContentFinding(
                .silentlyWrong, "row \(reads[place].keys[0]): expected \(expected[place]), got \(got[place])")
        }
        // A reader that fails before it has pinned a version reports that through its pipe.
        var said: [UInt8] = []
        while !FileTree.exists(pinned), reader.receive(into: &said, milliseconds: 1), said.isEmpty {}
        let writer = try context.open(location, as: (any UpdateSession).self)
        try update(context, writer, oracle: &oracle, count: count)
        try FileTree.writeText(written, "")
        let finding = try ForkedReader.finding(of: reader, seconds: 60, said: said)
        try writer.close()
        context.report.add(
            Trial(
                address: FaultAddress(text: "pinned version"), outcome: finding.outcome, detail: finding.detail))
        context.judgeContent("content", at: location, expected: oracle)
    }

    private func update(
        _ context: CaseContext, _ writer: any UpdateSession, oracle: inout ExactOracle, count: Int
    ) throws {
        var random = context.random("updates")
        let updates = try context.integer("updates")
        for _ in 0..<(try context.integer("transactions")) {
            let keys = (0..<updates).map { _ in Int64(random.below(count)) }
            let values = keys.map { _ in Int64(random.below(100)) }
            try writer.update(table: "Person", column: "age", keys: keys, values: values)
            oracle.update(table: "Person", column: "age", keys: keys, values: values)
            if context.isOverBudget { return context.report.cut() }
        }
    }
}
