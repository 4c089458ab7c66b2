import FaultModel
import Files
import Harness
import RunRecords

/// A database whose files are damaged in one place per trial, opened and read in full.
///
/// The rows are compared with the exact data. In shape `log` rows of the last transactions may be missing without an
/// error, because a log ends at its first broken record. A missing last transaction is `fell-back`, since damage in the
/// last record cannot be told from a crash before its acknowledgement. If more are missing, or if a complete older
/// state is read, the outcome is `lost-commit`.
///
/// An undamaged copy is judged first, in the same way: if it is not read as written, no trial means anything. Nor does
/// any trial if no damage was noticed in any of them. A trial that would change no byte is left out.
struct DamageSweep {
    let context: CaseContext
    let damaged: DamagedFiles
    /// The files of an earlier copy, empty where they did not exist; nil where no copy was kept.
    let older: DamagedFiles?
    /// The directory of the copies: in memory where the system has such a file system, since every open of files that
    /// were not closed syncs, and a sweep opens thousands. The next run removes what a killed process leaves there.
    private let scratch: ScratchDirectory
    private let oracle: DamageReadOracle
    /// Why the engine cannot make the shape; nil where it can.
    private let objection: String?

    /// Reads the fixture's files, without opening the database.
    init(_ context: CaseContext, keepsOlder: Bool = false) throws {
        self.context = context
        let fixture = try DamageFixture(context, keepsOlder: keepsOlder)
        objection = fixture.shape.reasonToDecline(context.engine)
        let location = try context.fixtureLocation()
        damaged = DamagedFiles(try Self.files(context.engine, at: location))
        if keepsOlder {
            let kept = DatabaseLocation(directory: location.directory + "/" + DamageFixture.older)
            let bytes = Dictionary(try Self.files(context.engine, at: kept)) { first, _ in first }
            older = DamagedFiles(damaged.files.map { ($0.name, bytes[$0.name] ?? []) })
        } else {
            older = nil
        }
        guard damaged.byteCount > 0 || objection != nil else {
            throw HarnessError("the fixture of \(context.test.engine) has no files")
        }
        let memory = ScratchDirectory.memory
        scratch = try ScratchDirectory.make(in: FileTree.isDirectory(memory) ? memory : context.directory)
        oracle = try DamageReadOracle(fixture)
        context.report.note(
            "files: " + files.map { "\($0.name) \($0.bytes.count) bytes" }.joined(separator: ", "))
    }

    private static func files(
        _ engine: any Engine, at location: DatabaseLocation
    ) throws -> [(name: String, bytes: [UInt8])] {
        let paths = engine.files(at: location).filter { $0.role != .lock }.map(\.path)
        return try paths.map { (DamageFixture.name(of: $0), try FileTree.readBytes($0)) }
    }

    /// In the order of the engine's list.
    var files: [DamagedFiles.File] { damaged.files }

    static let pageBytes = 4_096

    // MARK: What is tried

    /// As many damages of that kind as `count` says, chosen by the seed; all of them where it is 0.
    func damages(_ kind: FileDamage.Kind, count: Int, random label: String) -> [FileDamage] {
        var random = context.random(label)
        return damaged.damages(
            kind, count: count == 0 ? nil : count, pageSize: Self.pageBytes, older: older, random: &random)
    }

    /// As ``damages(_:count:random:)``, with all pairs of the first pages of each file in addition: headers are there,
    /// and a sample seldom hits them.
    func damagesWithHeads(_ kind: FileDamage.Kind, count: Int, random label: String) -> [FileDamage] {
        var chosen = Set(damages(kind, count: count, random: label))
        for file in files {
            let pages = (0..<3).map { file.start + $0 * Self.pageBytes }
            for page in pages {
                let heads =
                    kind.hasTwoPlaces
                    ? pages.map { FileDamage(kind, page, $0) }.filter { kind != .swap || $0.position < $0.other }
                    : [FileDamage(kind, page)]
                chosen.formUnion(heads.filter { change($0) != nil })
            }
        }
        return chosen.sorted { ($0.position, $0.other) < ($1.position, $1.other) }
    }

    private func change(_ damage: FileDamage) -> FileChange? {
        damaged.change(damage, pageSize: Self.pageBytes, older: older)
    }

    /// The change of a file that the address names; nil where it changes nothing, or is not an address of damage.
    func change(at address: FaultAddress) -> FileChange? {
        FileDamage(address.text).flatMap { change($0) }
    }

    /// Describes the position of an address: file, page of 4 KiB, and byte in it.
    func place(of address: FaultAddress) -> String {
        guard let damage = FileDamage(address.text) else { return "\(address)" }
        let place = damaged.place(of: damage.byte, pageSize: Self.pageBytes)
        guard damage.kind.hasTwoPlaces else { return place }
        let other = damage.kind == .misdirect ? damage.position : max(damage.position, damage.other)
        let page = (other - (damaged.file(at: other)?.start ?? 0)) / Self.pageBytes
        return place + (damage.kind == .swap ? ", in turn with page \(page)" : ", written over with page \(page)")
    }

    // MARK: Trials

    /// Runs a trial per damage, as `CaseContext.sweep` does, and removes the copies. A replay may ask for any damage
    /// of the same kinds.
    func run(_ damages: [FileDamage]) throws {
        try run(damages) { address, location in
            let (outcome, detail) = oracle.judge(
                engine: context.engine, settings: context.settings, location: location)
            return Trial(address: address, outcome: outcome, detail: detail)
        }
        if context.onlyTrial == nil, !damages.isEmpty, !context.report.isCut, context.report.brokenTrials.isEmpty,
            context.report.outcomes.keys.allSatisfy({ $0 == .correct })
        {
            context.report.inconclusive("no trial touched anything that is read")
        }
    }

    /// As ``run(_:)``, with a judge of the caller, which gets the damaged copy before any open.
    func run(
        _ damages: [FileDamage], secondsPerTrial: Double = 5,
        judge: @escaping (_ address: FaultAddress, _ location: DatabaseLocation) throws -> Trial
    ) throws {
        defer { removeCopies() }
        if let objection { return context.report.inconclusive(objection) }
        let kinds = Set(damages.map(\.kind))
        guard !kinds.isEmpty else {
            return context.report.inconclusive(
                older == nil
                    ? "the files hold nothing that could be damaged"
                    : "no page of the earlier copy was written over since: the files only grew, or are others")
        }
        try context.describeSweep(files.map { ($0.name, $0.bytes) })
        if context.onlyTrial == nil { try context.judgeSeals(files.map { ($0.name, $0.bytes) }) }
        try judgeUndamaged()
        try context.sweep(
            damages.map { FaultAddress(text: $0.description) }, secondsPerTrial: secondsPerTrial,
            accepts: { address in
                FileDamage(address.text).map { kinds.contains($0.kind) } == true && change(at: address) != nil
            }, directories: [scratch.files], place: { place(of: $0) }
        ) { address in
            guard let change = change(at: address) else { throw HarnessError("\(address) changes nothing") }
            let file = files[change.file]
            return try judge(address, try write(address, file.name, damaged: change.applied(to: file.bytes)))
        }
    }

    /// An engine that refuses undamaged files would pass every trial.
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

    /// Writes the files, with `damaged` as the content of the named one, opens, reads and judges. Runs in a child.
    func judge(_ address: FaultAddress, _ name: String, damaged: [UInt8]) throws -> Trial {
        let location = try write(address, name, damaged: damaged)
        let (outcome, detail) = oracle.judge(
            engine: context.engine, settings: context.settings, location: location)
        return Trial(address: address, outcome: outcome, detail: detail)
    }

    /// The outcome of a full read of the database at that location.
    func read(at location: DatabaseLocation) -> (outcome: Outcome, detail: String) {
        oracle.judge(engine: context.engine, settings: context.settings, location: location)
    }

    /// The copy of a trial. Two children run at a time: each has a directory of its own.
    private func write(_ address: FaultAddress, _ name: String, damaged: [UInt8]) throws -> DatabaseLocation {
        let location = DatabaseLocation(
            directory: scratch.files + "/" + DamageFixture.name(of: context.trialDirectory))
        try place(at: location) { $0.name == name ? damaged : $0.bytes }
        if address.fault.damagesFiles { try context.keepDatabase(at: location) }
        return location
    }

    /// Writes the files into a directory, and removes everything else in it.
    func place(at location: DatabaseLocation, _ bytes: (DamagedFiles.File) -> [UInt8]) throws {
        try FileTree.remove(location.directory)
        try FileTree.createDirectory(location.directory)
        for file in files { try FileTree.writeBytes(location.directory + "/" + file.name, bytes(file)) }
    }
}
