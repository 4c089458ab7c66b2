import Harness
import Measuring
import RunRecords
import Strata
import StrataFiles
import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A Realm on the thread that opened it.
final class StrataSession: TableSession {
    let location: DatabaseLocation
    private(set) var configuration: Realm.Configuration
    private let settings: EngineSettings?
    /// The file of the family `queries`, if the case asks for it.
    var probes: Realm?
    let files: any FileSystem
    private(set) var group: ClassGroup?
    /// The path of the group's file. Kept, because every timed pass ends with a look at the reports.
    private var path: String?
    /// nil while the database has no file: its classes are unknown before the first table.
    private(set) var realm: Realm?
    var pinned: [SnapshotToken: Realm] = [:]
    var pinCount = 0
    var held: (any HeldObjects)?
    /// Of `KeyedRowSession`.
    var keyedRows: (any KeyedObjects)?

    init(
        _ location: DatabaseLocation, configuration: Realm.Configuration, settings: EngineSettings? = nil,
        files: any FileSystem
    ) throws(EngineError) {
        self.location = location
        self.settings = settings
        self.configuration = configuration
        self.files = files
        if let group = ClassGroup.found(at: location, in: files) { try open(group) }
    }

    private func open(_ group: ClassGroup) throws(EngineError) {
        let path = group.path(at: location)
        configuration.fileURL = URL(fileURLWithPath: path)
        configuration.objectTypes = group.classes.map { $0 }
        DamageReports.shared.listen(&configuration, path, settings: settings)
        do {
            realm = try Realm(configuration: configuration, fileSystem: files)
        } catch {
            throw EngineError(error)
        }
        self.group = group
        self.path = path
    }

    func openRealm() throws(EngineError) -> (realm: Realm, group: ClassGroup) {
        guard let realm, let group else { throw EngineError(.refused, "there is no database yet") }
        return (realm, group)
    }

    /// Throws when a read that could not throw has reported an error.
    func checkReports() throws(EngineError) {
        if let path { try DamageReports.shared.check(path) }
    }

    /// Runs the body, and throws its error or one that was reported meanwhile.
    func checked<Output>(_ body: () throws -> Output) throws(EngineError) -> Output {
        let output: Output
        do { output = try body() } catch { throw EngineError(error) }
        try checkReports()
        return output
    }

    func sizes() throws(EngineError) -> SizePoint {
        guard let realm else { return SizePoint(fileBytes: 0) }
        do throws(StorageError) {
            let space = try realm.store.space()
            return SizePoint(
                fileBytes: space.fileBytes, liveBytes: space.liveBytes, freeBytes: space.freeBytes,
                logBytes: space.logBytes, oldestPinnedVersion: Int(space.oldestProtected.rawValue))
        } catch {
            throw EngineError(error)
        }
    }

    func close() throws(EngineError) {
        // Releasing the last Realm of a file closes it; an error of the close shows at the next open.
        letGo()
    }

    func letGo() {
        held = nil
        keyedRows = nil
        pinned = [:]
        probes = nil
        realm = nil
    }

    /// Closes the file and opens it again, asking for compaction.
    func reopenCompacting() throws(EngineError) {
        guard let group else { return }
        letGo()
        configuration.shouldCompactOnLaunch = { _, _ in true }
        defer { configuration.shouldCompactOnLaunch = nil }
        try open(group)
    }

    // MARK: Tables

    func create(_ tables: TableSet) throws(EngineError) {
        try open(try ClassGroup.holding(tables.tables))
    }

    func load(_ tables: TableSet) throws(EngineError) {
        try create(tables)
        let (realm, group) = try openRealm()
        try checked {
            try realm.write {
                var loader = Loader(realm: realm, group: group, tables: tables.tables)
                for table in Self.targetsFirst(tables.tables) { try loader.load(table) }
                loader.setLateLinks()
            }
        }
    }

    /// Tables in an order in which links lead to earlier ones, unless there is a cycle.
    private static func targetsFirst(_ tables: [Table]) -> [Table] {
        var sorted: [Table] = []
        var left = tables
        while !left.isEmpty {
            let done = Set(sorted.map(\.name))
            let next = left.firstIndex { table in
                table.linkTargets.allSatisfy { done.contains($0) || $0 == table.name }
            }
            sorted.append(left.remove(at: next ?? 0))
        }
        return sorted
    }

    func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
        let (realm, group) = try openRealm()
        let type = try group.type(of: rows.name)
        let inserter = RowInserter(realm: realm, group: group, rows: rows)
        try checked { try inserter.insertEach(type, latency: latency) }
        return rows.rowCount
    }

    func insertAll(_ rows: Table) throws(EngineError) {
        let (realm, group) = try openRealm()
        let type = try group.type(of: rows.name)
        let inserter = RowInserter(realm: realm, group: group, rows: rows)
        try checked { try inserter.insertAll(type) }
    }

    func rowCount(table: String) throws(EngineError) -> Int {
        let (realm, group) = try openRealm()
        let type = try group.type(of: table)
        realm.refresh()
        return try checked { Self.count(type, in: realm) }
    }

    private static func count<Element: TableObject>(_ type: Element.Type, in realm: Realm) -> Int {
        realm.objects(type).count
    }
}

extension StrataSession: SettingsSession {
    func observedSettings() throws(EngineError) -> [EngineSetting] {
        let (realm, _) = try openRealm()
        return realm.store.observedSettings + [
            EngineSetting("invalidAccess", "\(realm.configuration.invalidAccess)")
        ]
    }
}

extension Table {
    var linkTargets: [String] {
        columns.compactMap { column in
            switch column.values {
            case .link(let target, _), .links(let target, _): target
            default: nil
            }
        }
    }

    /// Row indexes that a row links to.
    func targets(_ row: Int, column: Int) -> [Int] {
        switch columns[column].values {
        case .link(_, let rows): rows[row] < 0 ? [] : [Int(rows[row])]
        case .links(_, let lists): lists[row].map { Int($0) }
        default: []
        }
    }
}
