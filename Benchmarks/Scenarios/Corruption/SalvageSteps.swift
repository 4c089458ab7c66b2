import Files
import Harness
import RunRecords

/// Read, check and salvage of one damaged copy.
struct SalvageSteps {
    private let context: CaseContext
    private let sweep: DamageSweep
    private let checking: any CheckingEngine
    /// nil for an engine that cannot salvage, or where this machine lacks its tool.
    private let salvaging: (any SalvagingEngine)?
    private let oracle: SalvageOracle
    private let rowCount: Int
    private let record: String

    /// Limit of each of the three steps.
    private static let seconds = 20.0

    var salvages: Bool { salvaging != nil }

    /// nil where the engine cannot make the shape: the sweep reports it.
    init?(_ context: CaseContext, _ sweep: DamageSweep) throws {
        self.context = context
        self.sweep = sweep
        guard let checking = context.engine as? any CheckingEngine else {
            throw HarnessError("\(context.test.engine) declares a check that it has not")
        }
        self.checking = checking
        record = context.directory + "/salvage-figures"
        let fixture = try DamageFixture(context, keepsOlder: false)
        if let objection = fixture.shape.reasonToDecline(context.engine) {
            context.report.inconclusive(objection)
            return nil
        }
        let tables = try context.tables()
        if let appended = try fixture.appended() {
            oracle = SalvageOracle(
                truth: ExactOracle(tables.appending(appended)), firstLogged: tables.main.rowCount)
        } else {
            oracle = SalvageOracle(truth: try fixture.states().last ?? ExactOracle(tables))
        }
        rowCount = oracle.truth.tables.values.reduce(0) { $0 + $1.liveCount }
        salvaging = Self.salvaging(context)
    }

    private static func salvaging(_ context: CaseContext) -> (any SalvagingEngine)? {
        let engine = context.engine
        guard engine.capabilities.contains(.salvages), let salvaging = engine as? any SalvagingEngine else {
            context.report.note("no salvage: \(engine.name) has none")
            return nil
        }
        if let reason = salvaging.reasonNotToSalvage() {
            context.report.note("NO SALVAGE: \(reason)")
            return nil
        }
        context.report.note("salvage: \(salvaging.salvageMeans)")
        return salvaging
    }

    // MARK: Trials

    /// A salvage that loses rows of an intact database, or refuses an intact database, is wrong already without damage.
    func tryUndamaged() throws {
        let location = try context.emptyLocation("undamaged")
        try sweep.place(at: location) { $0.bytes }
        let (trial, _) = try judge(FaultAddress(text: "undamaged"), location)
        switch trial.outcome {
        case .correct: return
        case .detectedAtOpen, .detectedAtRead, .refused, .fellBack, .repaired:
            context.report.inconclusive("the undamaged copy: \(trial.detail)")
        default:
            context.report.add(
                Trial(address: trial.address, outcome: trial.outcome, detail: "the undamaged copy: \(trial.detail)"))
        }
    }

    func run(_ address: FaultAddress, _ location: DatabaseLocation) throws -> Trial {
        let (trial, figures) = try judge(address, location)
        try FileTree.append(record, Array((figures.line + "\n").utf8))
        return trial
    }

    /// Figures of the trials that ran, by fault.
    func figures(in order: [String]) throws -> [SalvageFigures] {
        var sums: [String: SalvageFigures] = [:]
        if FileTree.exists(record) {
            for line in try FileTree.readText(record).split(separator: "\n") {
                guard let figures = SalvageFigures(line: line) else {
                    throw HarnessError("a trial left figures that cannot be read: \(line)")
                }
                sums[figures.fault, default: SalvageFigures(fault: figures.fault)].add(figures)
            }
        }
        return order.compactMap { sums[$0] }
    }

    private func judge(
        _ address: FaultAddress, _ location: DatabaseLocation
    ) throws -> (Trial, SalvageFigures) {
        let copies = ["check", "salvage", "rescued"].map { DatabaseLocation(directory: location.directory + "." + $0) }
        for copy in copies { try FileTree.remove(copy.directory) }
        for copy in copies.dropLast() { try FileTree.copy(from: location.directory, to: copy.directory) }
        try FileTree.createDirectory(copies[2].directory)
        defer { removeCopies(copies) }
        let read = try ForkedReader.finding(seconds: Self.seconds) {
            let (outcome, detail) = sweep.read(at: location)
            return ContentFinding(outcome, detail)
        }
        let check = try ForkedReader.finding(seconds: Self.seconds) {
            try checking.check(copies[0])
            return ContentFinding(.correct)
        }
        var figures = SalvageFigures(fault: address.faultWord)
        figures[.copies] = 1
        figures[.wrongReads] = read.outcome.isHonest ? 0 : 1
        let checked = Self.judge(check, after: read)
        if checked.outcome == .silentlyWrong { figures[.missedChecks] = 1 }
        guard let salvaging else {
            return (Trial(address: address, outcome: checked.outcome, detail: checked.detail), figures)
        }
        let salvaged = try salvage(salvaging, copies[1], copies[2], wasRight: read.outcome == .correct)
        note(salvaged, in: &figures)
        let isGraver = checked.outcome.gravity > salvaged.outcome.gravity && !checked.outcome.isHonest
        let worst = isGraver ? checked : salvaged
        return (Trial(address: address, outcome: worst.outcome, detail: worst.detail), figures)
    }

    private func removeCopies(_ copies: [DatabaseLocation]) {
        for copy in copies {
            do { try FileTree.remove(copy.directory) } catch { context.report.note("left behind: \(error)") }
        }
    }

    /// Judges a check that found nothing where a read found something. In shape `log` the last transaction may be
    /// missing without an error, which no check can know.
    private static func judge(_ check: ContentFinding, after read: ContentFinding) -> ContentFinding {
        guard check.outcome == .correct, ![.correct, .fellBack].contains(read.outcome) else {
            return check.outcome == .correct
                ? check : ContentFinding(check.outcome, "the check says: \(check.detail)")
        }
        return ContentFinding(
            .silentlyWrong,
            "the check found nothing, and a read was \(read.outcome.rawValue): \(read.detail)")
    }

    // MARK: Salvage

    /// Numbers: right, partial, wrong and missing rows, whether losses were reported, and whether the report is true.
    private func salvage(
        _ engine: any SalvagingEngine, _ damaged: DatabaseLocation, _ rescued: DatabaseLocation, wasRight: Bool
    ) throws -> ContentFinding {
        try ForkedReader.finding(seconds: Self.seconds) {
            let claim = try engine.salvage(damaged, into: rescued)
            let rows = SalvagedRows()
            var failure: EngineError?
            do throws(EngineError) { try read(rescued, into: rows) } catch { failure = error }
            var finding = oracle.compare(rows, claim: claim)
            if let failure, !finding.lacksNames {
                finding.lies.append(.unreported("what was salvaged cannot be read: \(failure)"))
            }
            let (outcome, detail) = finding.outcome(wasRight: wasRight)
            let isTrue = finding.lies.isEmpty
            return ContentFinding(
                outcome, detail.isEmpty ? "" : "the salvage: \(detail)",
                numbers: [
                    Int64(finding.right), Int64(finding.partial), Int64(finding.wrong), Int64(finding.missing),
                    claim == nil ? 0 : 1, isTrue ? 1 : 0,
                ])
        }
    }

    private func read(_ location: DatabaseLocation, into rows: SalvagedRows) throws(EngineError) {
        let session = try context.engine.open(location, settings: context.settings)
        guard let tables = session as? any TableSession else {
            throw EngineError(.unsupported, "\(context.engine.name) has no tables")
        }
        // Table by table: one that cannot be read does not stop the others.
        var failure: EngineError?
        for table in oracle.truth.schema.tables {
            do throws(EngineError) {
                try tables.readAll(oracle.truth.schema.only(table), into: rows)
            } catch {
                failure = failure ?? error
            }
        }
        try session.close()
        if let failure { throw failure }
    }

    private func note(_ salvaged: ContentFinding, in figures: inout SalvageFigures) {
        let numbers = salvaged.numbers.compactMap { $0.map(Int.init) }
        guard numbers.count == 6 else {
            figures[.rowsMissing] = rowCount
            return
        }
        figures[.salvaged] = 1
        figures[.rowsRight] = numbers[0]
        figures[.rowsPartial] = numbers[1]
        figures[.rowsWrong] = numbers[2]
        figures[.rowsMissing] = numbers[3]
        if numbers[4] == 1 { figures[numbers[5] == 1 ? .trueClaims : .falseClaims] = 1 }
    }
}

extension TableSet {
    /// The same data set with only one of its tables.
    fileprivate func only(_ table: Table) -> TableSet {
        TableSet(dataset: dataset, tables: [table], digest: digest)
    }
}
