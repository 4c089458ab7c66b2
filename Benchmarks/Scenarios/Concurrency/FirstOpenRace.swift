import Harness
import RunRecords

/// Processes that open the same new database at once, and each insert a row.
struct FirstOpenRace: Scenario {
    let slug = "first-open-race"
    let family = Family.concurrency
    let question = "Do processes that make a database at once all end up with the same one?"
    let requires: Set<Capability> = [.tables, .persistent, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .isolation
    let parameters = [
        ScenarioParameter("trials", default: "50", summary: "new databases"),
        ScenarioParameter("processes", default: "8", range: 2...64, summary: "openers of each"),
    ]

    func run(_ context: CaseContext) throws {
        let processes = try context.integer("processes")
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress("race", $0) }
        let schema = try PeopleRows.noRows()
        try context.sweep(addresses, secondsPerTrial: 40) { address in
            let directory = context.trialDirectory + "/database"
            try FileTree.remove(directory)
            try FileTree.createDirectory(directory)
            let location = DatabaseLocation(directory: directory)
            let children = try (0..<processes).map { index in
                try ForkedChild.start { _ in Self.insert(context, location, schema, index) }
            }
            let ends = children.map { $0.wait() }
            if let end = ends.first(where: { $0 != .exited(0) }) {
                if case .signalled = end {
                    return Trial(address: address, outcome: .crashed, detail: "an opener ended so: \(end)")
                }
            }
            let inserted = ends.count { $0 == .exited(0) }
            let session = try context.open(location, as: (any TableSession).self)
            let found = try session.rowCount(table: "Person")
            try session.close()
            if found < inserted {
                return Trial(
                    address: address, outcome: .lostCommit, detail: "\(inserted) rows inserted, \(found) there")
            }
            if inserted < processes {
                return Trial(
                    address: address, outcome: .refused, detail: "\(processes - inserted) openers met an error")
            }
            return Trial(address: address, outcome: found == processes ? .correct : .silentlyWrong, detail: "")
        }
    }

    private static func insert(
        _ context: CaseContext, _ location: DatabaseLocation, _ schema: TableSet, _ index: Int
    ) -> Int32 {
        do {
            let session = try context.open(location, as: (any TableSession).self)
            // Somebody else may make the tables first.
            do throws(EngineError) { try session.create(schema) } catch {
                if error.kind != .refused { throw error }
            }
            let (chunks, _) = PeopleRows.chunks(from: index, count: 1)
            for chunk in chunks where try session.insertEach(chunk, latency: nil) != 1 { return 1 }
            try session.close()
            return 0
        } catch {
            return 1
        }
    }
}
