import Datasets
import FaultModel
import Harness
import RunRecords
import Seeds

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A database whose files are damaged in one place per trial, opened and read in full.
///
/// Shapes: `clean`: loaded and closed. `log`: the same, then opened again, one-row transactions committed, and its
/// files copied while it was open, as a kill leaves them: the log has to be replayed.
///
/// What came is compared with the exact data, row by row. In shape `log` the rows of the last transactions may be
/// missing without a word, because a log ends where its first broken record stands: the last transaction alone is
/// `fell-back`, since damage in the last record of a log cannot be told from a crash before it was acknowledged; more
/// is `lost-commit`.
///
/// The undamaged copy is judged first, by the same way: where that is not read as it was written, no trial would mean
/// anything. Nor do trials that nothing noticed, none of all.
struct DamageSweep {
    static let shape = ScenarioParameter(
        "shape", default: "clean", allowed: ["clean", "log"], summary: "closed, or killed with its log present")
    /// One-row transactions in the log of shape `log`.
    static let loggedCommits = 20

    let context: CaseContext
    let damaged: DamagedFiles
    /// Where the copies are: in memory where the system has a place for that, since every open of a file that was not
    /// closed syncs, and a sweep opens thousands. What a killed process leaves there, the next run removes.
    private let scratch: ScratchDirectory
    private let oracle: DamageReadOracle

    // MARK: Fixture

    static func fixture(for test: Case) -> FixtureRequest {
        test.parameter("shape") == "log" ? FixtureRequest(recipe: "log") : FixtureRequest()
    }

    static func buildFixture(_ context: CaseContext, at location: DatabaseLocation) throws {
        guard try context.text("shape") == "log" else {
            let session = try context.open(location, as: (any TableSession).self)
            try session.load(try context.tables())
            try session.close()
            return
        }
        let live = try context.emptyLocation("live")
        let loading = try context.open(live, as: (any TableSession).self)
        try loading.load(try context.tables())
        try loading.close()
        let session = try context.open(live, as: (any TableSession).self)
        _ = try session.insertEach(try loggedRows(context), latency: nil)
        for file in context.engine.files(at: live) where file.role != .lock {
            try FileTree.copy(from: file.path, to: location.directory + "/" + name(of: file.path))
        }
        try session.close()
    }

    private static func loggedRows(_ context: CaseContext) throws -> Table {
        let count = try context.tables().main.rowCount
        guard try context.tables().main.name == "DamagePerson" else {
            throw HarnessError("\(context.test.scenario) runs on the data set damage alone")
        }
        return DamageDataset.persons(count..<(count + loggedCommits), dogCount: count)
    }

    private static func name(of path: String) -> String {
        String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
    }

    // MARK: Trials

    /// Reads the fixture. Nothing is opened.
    init(_ context: CaseContext) throws {
        self.context = context
        let location = try context.fixtureLocation()
        let paths = context.engine.files(at: location).filter { $0.role != .lock }.map(\.path)
        damaged = DamagedFiles(try paths.map { (Self.name(of: $0), try FileTree.readBytes($0)) })
        guard damaged.byteCount > 0 else {
            throw HarnessError("the fixture of \(context.test.engine) has no files")
        }
        let memory = ScratchDirectory.memory
        scratch = try ScratchDirectory.make(in: FileTree.isDirectory(memory) ? memory : context.directory)
        let logged = try context.text("shape") == "log" ? try Self.loggedRows(context) : nil
        oracle = DamageReadOracle(try context.tables(), appended: logged)
        context.report.note(
            "files: " + files.map { "\($0.name) \($0.bytes.count) bytes" }.joined(separator: ", "))
    }

    /// In the order of the engine's list.
    var files: [DamagedFiles.File] { damaged.files }

    private func file(at position: Int) throws -> DamagedFiles.File {
        guard let file = damaged.file(at: position) else {
            throw HarnessError("position \(position) is beyond the files")
        }
        return file
    }

    /// Where the address points to: file, page of 4 KiB and byte in it. Each address names a bit or a byte.
    func place(of address: FaultAddress) -> String {
        guard let position = address.position else { return "\(address)" }
        return damaged.place(of: address.fault.byte(at: position), pageSize: Self.pageBytes)
    }

    static let pageBytes = 4_096

    /// Runs a trial per address, as `CaseContext.sweep` does, and removes the copies. A replay may ask for any of
    /// `positions`. `damage` gives the file's bytes as the trial finds them.
    func run(
        _ addresses: [FaultAddress], among positions: Range<Int>,
        _ damage: @escaping (_ position: Int, _ file: DamagedFiles.File) throws -> [UInt8]
    ) throws {
        defer { removeCopies() }
        let report = context.report
        guard let kind = addresses.first?.fault else {
            report.inconclusive("the files hold nothing that could be damaged")
            return
        }
        try context.describeSweep(files.map { ($0.name, $0.bytes) })
        try judgeUndamaged()
        let changes = TrialTally(context, "changed")
        try context.sweep(
            addresses, accepts: { $0.isFault(kind, at: positions) }, directories: [scratch.files],
            place: { place(of: $0) }
        ) { address in
            guard let position = address.position else { throw HarnessError("no position: \(address)") }
            let file = try file(at: kind.byte(at: position))
            let damaged = try damage(position, file)
            if damaged != file.bytes { try changes.add() }
            return try judge(address, file.name, damaged: damaged)
        }
        context.require(try changes.count(), "no trial changed a byte")
        if context.onlyTrial == nil, !report.isCut, report.brokenTrials.isEmpty,
            report.outcomes.keys.allSatisfy({ $0 == .correct })
        {
            report.inconclusive("no trial touched anything that is read")
        }
    }

    /// An engine that refuses what is not damaged would pass every trial.
    private func judgeUndamaged() throws {
        let finding = try ForkedReader.finding {
            let trial = try judge(FaultAddress(text: "undamaged"), "", damaged: [])
            return ContentFinding(trial.outcome, trial.detail)
        }
        switch finding.outcome {
        case .correct: return
        case .refused, .detectedAtOpen, .detectedAtRead, .fellBack:
            context.report.inconclusive("the undamaged copy was not read: \(finding.detail)")
        default:
            context.report.add(
                Trial(
                    address: FaultAddress(text: "undamaged"), outcome: finding.outcome,
                    detail: "the undamaged copy: \(finding.detail)"))
        }
    }

    func removeCopies() {
        do { try scratch.remove() } catch { context.report.note("left behind: \(error)") }
    }

    /// Writes the files with `damaged` in place of the file of that name, opens, reads and judges. Runs in a child.
    func judge(_ address: FaultAddress, _ name: String, damaged: [UInt8]) throws -> Trial {
        // Two children run at a time: each has a directory of its own.
        let directory = scratch.files + "/" + Self.name(of: context.trialDirectory)
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
        for file in files {
            try FileTree.writeBytes(directory + "/" + file.name, file.name == name ? damaged : file.bytes)
        }
        let location = DatabaseLocation(directory: directory)
        if address.fault.damagesFiles { try context.keepDatabase(at: location) }
        let (outcome, detail) = oracle.judge(
            engine: context.engine, settings: context.settings, location: location)
        return Trial(address: address, outcome: outcome, detail: detail)
    }
}
