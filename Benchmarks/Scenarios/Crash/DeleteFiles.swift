import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A writing process is killed, the database's data file is deleted with or without what stands beside it, and a new
/// database is made at the same place: nothing of the old one may come back.
struct DeleteFiles: Scenario {
    let slug = "delete-files"
    let family = Family.crash
    let question = "Is a database that is made where another one was deleted a new one?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .atomicity
    let parameters = [
        ScenarioParameter("trials", default: "20", summary: "deletions, with and without the rest")
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try IncrementTrial.files(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress("delete", $0) }
        let tables = try context.tables()
        try context.sweep(addresses, secondsPerTrial: 30) { address in
            var random = context.random("delete \(address.position ?? 0)")
            let trial = try IncrementTrial(context, files)
            let writer = try trial.start()
            guard writer.hears(1 + Int(random.below(20))) else {
                return Trial(address: address, outcome: .refused, detail: "it does not write")
            }
            writer.signal(SIGKILL)
            writer.wait()
            let isWhole = (address.position ?? 0) % 2 == 0
            for file in context.engine.files(at: trial.location) where isWhole || file.role == .data {
                try FileTree.remove(file.path)
            }
            let session = try context.open(trial.location, as: (any TableSession).self)
            try session.create(tables)
            let rows = try session.rowCount(table: tables.main.name)
            try session.close()
            return Trial(
                address: address, outcome: rows == 0 ? .correct : .silentlyWrong,
                detail: rows == 0 ? "" : "\(rows) rows of the deleted database are there")
        }
    }
}
