import Files
import Harness
import RunRecords
import SimulatedDisk
import StrataFiles

/// Wraps another engine, with one mistake.
package struct PlantedEngine: Engine, CompactOnLaunchEngine, CheckingEngine, SalvagingEngine, ListEngine,
    ColumnChangingEngine, EncryptingEngine
{
    let base: any Engine
    let mistake: EngineMistake

    /// The engine with that mistake; it keeps all its capabilities.
    package static func wrap(_ base: any Engine, _ mistake: EngineMistake) -> any Engine {
        let planted = PlantedEngine(base: base, mistake: mistake)
        guard let simulated = base as? any SimulatableEngine else { return planted }
        return PlantedSimulatableEngine(planted: planted, simulated: simulated)
    }

    package var name: String { base.name }
    package var library: String { base.library }
    package var peerLibrary: EngineFile? { base.peerLibrary }
    package var libraryFunction: String? { base.libraryFunction }
    package var assertions: [String] { base.assertions }
    package var libraryObjection: String? { base.libraryObjection }
    package var compiledSettings: [EngineSetting] { base.compiledSettings }
    package var constantPatterns: [String] { base.constantPatterns }
    package var changesFilesAtOpen: Bool { base.changesFilesAtOpen }
    package var version: String { base.version }
    package var capabilities: Set<Capability> { base.capabilities }
    package var promises: [Promise] { base.promises }
    package var durabilityClasses: [DurabilityClass] { base.durabilityClasses }
    package var rareBranches: [String] { base.rareBranches }
    package var logPatterns: [String] { base.logPatterns }
    package var coordinationPatterns: [String] { base.coordinationPatterns }
    package func settings(for durability: DurabilityClass) -> EngineSettings { base.settings(for: durability) }
    package func reasonToDecline(_ dataset: any DatasetSource) -> String? { base.reasonToDecline(dataset) }
    package func reasonToDecline(_ durability: DurabilityClass) -> String? { base.reasonToDecline(durability) }
    package func learn(_ tables: TableSet) { base.learn(tables) }
    package func writeBackMarks(at location: DatabaseLocation) -> [String] { base.writeBackMarks(at: location) }
    package func workNote(_ work: Work) -> WorkNote? { base.workNote(work) }
    package func inspectionCommands(at location: DatabaseLocation) -> [String] {
        base.inspectionCommands(at: location)
    }

    package func files(at location: DatabaseLocation) -> [DatabaseFile] {
        var files = base.files(at: location)
        if mistake == .lockFileAlone { files.removeAll { $0.role == .lock } }
        if mistake == .compactionGrows {
            let copy = PlantedCopy.path(at: location)
            if FileTree.exists(copy) { files.append(DatabaseFile(path: copy, role: .data)) }
        }
        return files
    }

    package func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session {
        let existed = existed(at: location)
        if mistake == .emptyLockRefused { try refuseEmptyLock(at: location) }
        let older = try OlderState.noteOpen(location, mistake == .olderState && existed)
        return PlantedSession(
            try base.open(location, settings: real(settings)), self, location, older: older)
    }

    package func open(
        _ location: DatabaseLocation, settings: EngineSettings,
        compactOnLaunch decide: @escaping (_ totalBytes: Int, _ usedBytes: Int) -> Bool
    ) throws(EngineError) -> any Session {
        guard let base = base as? any CompactOnLaunchEngine else {
            throw EngineError(.unsupported, "\(name) does not compact on launch")
        }
        let existed = existed(at: location)
        let older = try OlderState.noteOpen(location, mistake == .olderState && existed)
        let isIdle = mistake == .compactionNothing
        let session = try base.open(location, settings: real(settings)) { total, used in
            let answer = decide(total, used)
            return answer && !isIdle
        }
        return PlantedSession(session, self, location, older: older)
    }

    package var hasOwnLists: Bool { (base as? any ListEngine)?.hasOwnLists ?? false }

    package func openLists(
        _ location: DatabaseLocation, settings: EngineSettings, keeping: ListKeeping
    ) throws(EngineError) -> any ListSession {
        guard let base = base as? any ListEngine else { throw EngineError(.unsupported, "\(name) has no lists") }
        let existed = existed(at: location)
        let older = try OlderState.noteOpen(location, mistake == .olderState && existed)
        return PlantedLists(
            try base.openLists(location, settings: real(settings), keeping: keeping), mistake, older: older)
    }

    package var encrypted: any Engine {
        Self.wrap((base as? any EncryptingEngine)?.encrypted ?? base, mistake)
    }

    package func sealedUnits(in bytes: [UInt8], of path: String, at offset: Int) -> [SealedUnit] {
        (base as? any EncryptingEngine)?.sealedUnits(in: bytes, of: path, at: offset) ?? []
    }

    private func changing() throws(EngineError) -> any ColumnChangingEngine {
        guard let base = base as? any ColumnChangingEngine else {
            throw EngineError(.unsupported, "\(name) changes no columns")
        }
        return base
    }

    package func addResidents(
        _ rows: [ResidentRow], _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) {
        try changing().addResidents(rows, location, settings: real(settings))
    }

    package func change(
        _ change: ColumnChange, _ location: DatabaseLocation, settings: EngineSettings, changed: () -> Void
    ) throws(EngineError) {
        if mistake == .commitMissing { return changed() }
        let older = try OlderState.noteOpen(location, mistake == .olderState)
        try changing().change(change, location, settings: real(settings), changed: changed)
        try older?.noteClose()
    }

    package func readResidents(
        after change: ColumnChange, _ location: DatabaseLocation, settings: EngineSettings,
        _ body: ([Value]) -> Bool
    ) throws(EngineError) {
        let base = try changing()
        guard mistake == .columnsHalf || mistake == .columnsRowLost else {
            return try base.readResidents(after: change, location, settings: settings, body)
        }
        var rows: [[Value]] = []
        try base.readResidents(after: change, location, settings: settings) { row in
            rows.append(row)
            return true
        }
        if mistake == .columnsRowLost { rows.removeLast() }
        for (place, row) in rows.enumerated() {
            var row = row
            if mistake == .columnsHalf, place >= rows.count / 2 { row[row.count - 1] = .null }
            guard body(row) else { return }
        }
    }

    package func check(_ location: DatabaseLocation) throws(EngineError) {
        guard let base = base as? any CheckingEngine else {
            throw EngineError(.unsupported, "\(name) has no check of its own")
        }
        if mistake == .checkNothing { return }
        if mistake == .checkOpensOnly { return try base.open(location, settings: base.settings(for: .full)).close() }
        try base.check(location)
        if mistake == .checkAlarm { throw EngineError(.damaged, "planted alarm") }
    }

    private func salvaging() -> (any SalvagingEngine)? { base as? any SalvagingEngine }
    package var salvageMeans: String { salvaging()?.salvageMeans ?? "" }
    package func reasonNotToSalvage() -> String? { salvaging()?.reasonNotToSalvage() }

    package func salvage(
        _ damaged: DatabaseLocation, into rescued: DatabaseLocation
    ) throws(EngineError) -> SalvageClaim? {
        guard let salvaging = salvaging() else { throw EngineError(.unsupported, "\(name) salvages nothing") }
        return try PlantedSalvage(base: salvaging, mistake: mistake).run(damaged, into: rescued)
    }

    private func refuseEmptyLock(at location: DatabaseLocation) throws(EngineError) {
        for file in base.files(at: location) where file.role == .lock {
            let size: Int
            // A file that is removed meanwhile is not empty.
            do { size = try FileTree.size(file.path) } catch { continue }
            if size == 0 { throw EngineError(.refused, "planted: the lock file is empty") }
        }
    }

    private func existed(at location: DatabaseLocation) -> Bool {
        let exists = base.files(at: location).contains { $0.role == .data }
        if exists && mistake == .crashAtOpen { fatalError("planted crash at open") }
        return exists
    }

    /// The settings that are really applied, while the engine states `settings`.
    func real(_ settings: EngineSettings) -> EngineSettings {
        if mistake == .keyLeftOut {
            var plain = settings
            plain.encryptionKey = nil
            return plain
        }
        guard mistake == .syncLeftOut, settings.durability == .full else { return settings }
        var real = base.settings(for: .none)
        real.writers = settings.writers
        return real
    }
}

/// The same for an engine that also runs on the simulated disk.
struct PlantedSimulatableEngine: SimulatableEngine, CompactOnLaunchEngine, CheckingEngine, SalvagingEngine,
    ListEngine, ColumnChangingEngine, EncryptingEngine
{
    let planted: PlantedEngine
    let simulated: any SimulatableEngine

    var name: String { planted.name }
    var library: String { planted.library }
    var constantPatterns: [String] { planted.constantPatterns }
    var changesFilesAtOpen: Bool { planted.changesFilesAtOpen }
    var version: String { planted.version }
    var capabilities: Set<Capability> { planted.capabilities }
    var promises: [Promise] { planted.promises }
    var logPatterns: [String] { planted.logPatterns }
    var coordinationPatterns: [String] { planted.coordinationPatterns }
    func settings(for durability: DurabilityClass) -> EngineSettings { planted.settings(for: durability) }
    func reasonToDecline(_ dataset: any DatasetSource) -> String? { planted.reasonToDecline(dataset) }
    func reasonToDecline(_ durability: DurabilityClass) -> String? { planted.reasonToDecline(durability) }
    func learn(_ tables: TableSet) { planted.learn(tables) }
    func writeBackMarks(at location: DatabaseLocation) -> [String] { planted.writeBackMarks(at: location) }
    func workNote(_ work: Work) -> WorkNote? { planted.workNote(work) }
    func inspectionCommands(at location: DatabaseLocation) -> [String] { planted.inspectionCommands(at: location) }
    func files(at location: DatabaseLocation) -> [DatabaseFile] { planted.files(at: location) }

    func check(_ location: DatabaseLocation) throws(EngineError) { try planted.check(location) }

    var salvageMeans: String { planted.salvageMeans }
    func reasonNotToSalvage() -> String? { planted.reasonNotToSalvage() }

    func salvage(
        _ damaged: DatabaseLocation, into rescued: DatabaseLocation
    ) throws(EngineError) -> SalvageClaim? {
        try planted.salvage(damaged, into: rescued)
    }

    var encrypted: any Engine { planted.encrypted }

    func sealedUnits(in bytes: [UInt8], of path: String, at offset: Int) -> [SealedUnit] {
        planted.sealedUnits(in: bytes, of: path, at: offset)
    }

    var hasOwnLists: Bool { planted.hasOwnLists }

    func openLists(
        _ location: DatabaseLocation, settings: EngineSettings, keeping: ListKeeping
    ) throws(EngineError) -> any ListSession {
        try planted.openLists(location, settings: settings, keeping: keeping)
    }

    func addResidents(
        _ rows: [ResidentRow], _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) {
        try planted.addResidents(rows, location, settings: settings)
    }

    func change(
        _ change: ColumnChange, _ location: DatabaseLocation, settings: EngineSettings, changed: () -> Void
    ) throws(EngineError) {
        try planted.change(change, location, settings: settings, changed: changed)
    }

    func readResidents(
        after change: ColumnChange, _ location: DatabaseLocation, settings: EngineSettings,
        _ body: ([Value]) -> Bool
    ) throws(EngineError) {
        try planted.readResidents(after: change, location, settings: settings, body)
    }

    func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session {
        try planted.open(location, settings: settings)
    }

    func open(
        _ location: DatabaseLocation, settings: EngineSettings,
        compactOnLaunch decide: @escaping (_ totalBytes: Int, _ usedBytes: Int) -> Bool
    ) throws(EngineError) -> any Session {
        try planted.open(location, settings: settings, compactOnLaunch: decide)
    }

    func open(
        on disk: SimulatedDisk, _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session {
        let session = try simulated.open(on: disk, location, settings: planted.real(settings))
        return PlantedSession(session, planted, location, older: nil)
    }

    func openCompacting(
        on disk: SimulatedDisk, _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session {
        if planted.mistake == .compactionNothing { return try open(on: disk, location, settings: settings) }
        let leaves = planted.mistake == .compactionLeftover
        let leftover = PlantedCopy.path(at: location)
        if leaves { try plant { () throws(FileError) in _ = try disk.open(leftover, .createNew) } }
        let session = try simulated.openCompacting(on: disk, location, settings: planted.real(settings))
        if leaves { try plant { () throws(FileError) in try disk.remove(leftover) } }
        return PlantedSession(session, planted, location, older: nil)
    }

    private func plant(_ body: () throws(FileError) -> Void) throws(EngineError) {
        do { try body() } catch { throw EngineError(.unsupported, "the mistake cannot be planted: \(error)") }
    }

    func check(on disk: SimulatedDisk, _ location: DatabaseLocation) throws(EngineError) {
        try simulated.check(on: disk, location)
    }
}
