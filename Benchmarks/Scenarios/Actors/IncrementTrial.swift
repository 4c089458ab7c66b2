import Files
import Harness
import RunRecords

/// A copy of the case's fixture on which several processes increment one row, and change nothing else.
///
/// The result is right if that row holds at least the acknowledged increments, plus at most one for each process that
/// was killed or met an error, and if every other value of every row is as loaded.
struct IncrementTrial {
    let context: CaseContext
    let location: DatabaseLocation
    /// The loaded content of the database.
    let loaded: ExactOracle
    /// The value that the processes increment.
    let cell: CellPlace
    let initial: Int64

    /// - Parameter name: of the trial's database, below its directory.
    init(_ context: CaseContext, _ files: FixtureFiles, _ name: String = "database") throws {
        self.context = context
        let tables = try context.tables()
        let main = tables.main
        guard let column = main.columnIndex("age"), main.rowCount > 0,
            case .integer(let age) = main.value(row: 0, column: column)
        else { throw HarnessError("\(main.name) has no age that could be added to") }
        loaded = ExactOracle(tables)
        cell = CellPlace(table: main.name, row: 0, column: "age")
        initial = age
        location = try files.place(in: context.trialDirectory + "/" + name)
        try FileTree.remove(stopFile)
    }

    var stopFile: String { context.trialDirectory + "/stop" }

    func start(each: ((Int) throws -> Void)? = nil) throws -> IncrementProcess {
        try IncrementProcess(context, location, cell, stop: stopFile, each: each)
    }

    /// Tells all processes to end.
    func stop() throws { try FileTree.writeText(stopFile, "") }

    /// Reads all of a database: this one, or a copy of it.
    func read(at place: DatabaseLocation? = nil, seconds: Double = 20) throws -> ContentFinding {
        try ForkedReader.read(context, at: place ?? location, expected: loaded, open: [cell], seconds: seconds)
    }

    /// Judges a full read: everything but the row must be as loaded, and the row within `allowed` increments.
    func judge(_ finding: ContentFinding, allowed: ClosedRange<Int>) -> (outcome: Outcome, detail: String) {
        guard finding.outcome == .correct else { return (finding.outcome, finding.detail) }
        guard let value = finding.numbers.first ?? nil else {
            return (.silentlyWrong, "\(cell.table) row \(cell.row) \(cell.column): no integer")
        }
        return IncrementSum.judge(
            initial: initial, acknowledged: Int64(allowed.lowerBound), attempted: Int64(allowed.upperBound),
            final: value)
    }

    /// The outcome that the ends of the processes alone decide; nil when all of them ended as they should.
    ///
    /// Throws: `HarnessError` for a failure that says nothing about the engine.
    func failure(of processes: [IncrementProcess], _ address: FaultAddress) throws -> Trial? {
        var worst: Trial?
        for process in processes {
            switch process.end {
            case .done, .killed: continue
            case .crashed(let signal):
                let detail = "a writer ended by signal \(signal)"
                return Trial(address: address, outcome: .crashed, detail: detail, signal: signal)
            case .broken(let reason): throw HarnessError("a writer could not do its part: \(reason)")
            case .hung:
                let detail = "a writer did not end when it was told to"
                worst = worst ?? Trial(address: address, outcome: .hung, detail: detail)
            case .refused(let words):
                worst = worst ?? Trial(address: address, outcome: .refused, detail: "a writer was refused: \(words)")
            case nil: throw HarnessError("a writer has no known end")
            }
        }
        return worst
    }

    /// The outcome of a process that made no commit within its time.
    func notWriting(_ process: IncrementProcess, _ address: FaultAddress) throws -> Trial {
        try stop()
        process.wait(seconds: 5)
        if let failure = try failure(of: [process], address) { return failure }
        return Trial(address: address, outcome: .hung, detail: "a writer committed nothing for 10 s")
    }

    /// Judges the result after all processes have ended: first their ends, then the database.
    ///
    /// - Parameter isUndamaged: whether nothing else touched the files: a database that cannot be read has then lost
    /// acknowledged commits.
    func judge(_ processes: [IncrementProcess], _ address: FaultAddress, isUndamaged: Bool = false) throws -> Trial {
        let failure = try failure(of: processes, address)
        if let failure, failure.outcome == .crashed { return failure }
        var (outcome, detail) = judge(try read(), allowed: allowed(processes))
        let unreadable: Set<Outcome> = [.refused, .detectedAtOpen, .detectedAtRead]
        if isUndamaged && unreadable.contains(outcome) { outcome = .lostCommit }
        if outcome != .correct { return Trial(address: address, outcome: outcome, detail: detail) }
        return failure ?? Trial(address: address, outcome: .correct)
    }

    /// The possible numbers of increments in the row. In the class `none` the death of a process may lose its
    /// acknowledged commits.
    func allowed(_ processes: [IncrementProcess]) -> ClosedRange<Int> {
        let acknowledged = processes.reduce(0) { $0 + $1.acknowledged }
        let attempted = processes.reduce(acknowledged) { $0 + $1.uncertain }
        let isKept = context.test.durability != .none || processes.allSatisfy { $0.end == .done }
        return (isKept ? acknowledged : 0)...attempted
    }
}
