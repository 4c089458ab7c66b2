import Harness
import RunRecords

/// One database that several processes use, on a copy of the case's fixture: they add to one row, and nobody touches
/// anything else.
///
/// Right is a database in which that row holds at least what was acknowledged, and at most one more for each process
/// that was ended or met an error on its way, and in which every other value of every row is as it was loaded.
struct IncrementTrial {
    let context: CaseContext
    let location: DatabaseLocation
    /// What the database was loaded with.
    let loaded: ExactOracle
    /// The value that the processes add to.
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

    /// Tells all of them to end.
    func stop() throws { try FileTree.writeText(stopFile, "") }

    /// Reads all of a database: this one, or a copy of it.
    func read(at place: DatabaseLocation? = nil, seconds: Double = 20) throws -> ContentFinding {
        try ForkedReader.read(context, at: place ?? location, expected: loaded, open: [cell], seconds: seconds)
    }

    /// Judges a full read: everything but the row as loaded, and the row within `allowed` increments.
    func judge(_ finding: ContentFinding, allowed: ClosedRange<Int>) -> (outcome: Outcome, detail: String) {
        guard finding.outcome == .correct else { return (finding.outcome, finding.detail) }
        guard let value = finding.numbers.first ?? nil else {
            return (.silentlyWrong, "\(cell.table) row \(cell.row) \(cell.column): no integer")
        }
        return IncrementSum.judge(
            initial: initial, acknowledged: Int64(allowed.lowerBound), attempted: Int64(allowed.upperBound),
            final: value)
    }

    /// What became of the processes, where that alone decides; nil when all of them ended as they should.
    ///
    /// Throws: `HarnessError` for what says nothing about the engine.
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
            case nil: throw HarnessError("a writer was not waited for")
            }
        }
        return worst
    }

    /// What to say of a process that was to write, and did not in the time that it had.
    func notWriting(_ process: IncrementProcess, _ address: FaultAddress) throws -> Trial {
        try stop()
        process.wait(seconds: 5)
        if let failure = try failure(of: [process], address) { return failure }
        return Trial(address: address, outcome: .hung, detail: "a writer committed nothing for 10 s")
    }

    /// Judges what is there after all processes have ended: first how they ended, then the database.
    ///
    /// - Parameter isUndamaged: nobody touched its files: not to be read is to have lost what was acknowledged.
    func judge(_ processes: [IncrementProcess], _ address: FaultAddress, isUndamaged: Bool = false) throws -> Trial {
        let failure = try failure(of: processes, address)
        if let failure, failure.outcome == .crashed { return failure }
        var (outcome, detail) = judge(try read(), allowed: allowed(processes))
        let unreadable: Set<Outcome> = [.refused, .detectedAtOpen, .detectedAtRead]
        if isUndamaged && unreadable.contains(outcome) { outcome = .lostCommit }
        if outcome != .correct { return Trial(address: address, outcome: outcome, detail: detail) }
        return failure ?? Trial(address: address, outcome: .correct)
    }

    /// How many increments may be there.
    ///
    /// In the class `none` the death of a process may take what it had acknowledged with it.
    func allowed(_ processes: [IncrementProcess]) -> ClosedRange<Int> {
        let acknowledged = processes.reduce(0) { $0 + $1.acknowledged }
        let attempted = processes.reduce(acknowledged) { $0 + $1.uncertain }
        let isKept = context.test.durability != .none || processes.allSatisfy { $0.end == .done }
        return (isKept ? acknowledged : 0)...attempted
    }
}
