import StrataStorage

/// The effects of a migration, determined on a copy by ``Realm/dryRunMigration(for:)``.
public struct MigrationReport: Sendable, Equatable {
    /// One transaction: a step of the plan, or the block.
    public struct Step: Sendable, Equatable {
        public internal(set) var fromVersion: UInt64
        public internal(set) var toVersion: UInt64
        public internal(set) var summary: String
        /// Changes of classes and properties, a sentence each.
        public internal(set) var schemaChanges: [String] = []
        /// Classes with changed objects, by name.
        public internal(set) var classes: [ClassReport] = []
    }

    /// Changes of the objects of one class.
    public struct ClassReport: Sendable, Equatable {
        public internal(set) var className: String
        public internal(set) var objectsBefore: Int
        public internal(set) var objectsAfter: Int
        public internal(set) var created: Int
        public internal(set) var deleted: Int
        /// Number of objects with a changed value, by property, for properties that exist before and after, possibly
        /// renamed.
        public internal(set) var changed: [String: Int]
    }

    public internal(set) var fromVersion: UInt64
    public internal(set) var toVersion: UInt64
    /// Empty if the file needs no migration.
    public internal(set) var steps: [Step] = []
    public internal(set) var fileBytesBefore = 0
    /// The size of the copy on which the steps ran.
    public internal(set) var fileBytesAfter = 0

    init(_ version: UInt64) {
        fromVersion = version
        toVersion = version
    }

    mutating func note(_ step: MigrationStep, _ change: SchemaChange, from old: Snapshot, to new: Snapshot) throws {
        if steps.isEmpty { fromVersion = old.view.schema.userVersion }
        var noted = Step(
            fromVersion: old.view.schema.userVersion, toVersion: step.schemaVersion, summary: step.summary)
        noted.schemaChanges = change.reasons
        for table in new.view.schema.tables where old.view.schema.position(named: table.name) == nil {
            noted.schemaChanges.append("class '\(table.name)' was added")
        }
        for table in old.view.schema.tables where new.view.schema.position(named: table.name) == nil {
            noted.schemaChanges.append("class '\(table.name)' was removed with its objects")
        }
        let names = Set((old.view.schema.tables + new.view.schema.tables).map(\.name))
        for name in names.sorted() {
            let found = try storage { () throws(StorageError) in
                try ClassComparison(name, old.view, new.view).run()
            }
            if found.created > 0 || found.deleted > 0 || !found.changed.isEmpty { noted.classes.append(found) }
        }
        steps.append(noted)
    }
}

/// Compares the rows of a class in two versions.
private struct ClassComparison {
    private let old: ReadView
    private let new: ReadView
    private let oldTable: Int?
    private let newTable: Int?
    /// The columns that both versions have, with their positions there.
    private var shared: [(name: String, old: Int, new: Int, tag: ColumnTag)] = []
    private var report: MigrationReport.ClassReport

    init(_ name: String, _ old: ReadView, _ new: ReadView) throws(StorageError) {
        self.old = old
        self.new = new
        oldTable = old.schema.position(named: name)
        newTable = new.schema.position(named: name)
        report = MigrationReport.ClassReport(
            className: name, objectsBefore: 0, objectsAfter: 0, created: 0, deleted: 0, changed: [:])
        if let oldTable { report.objectsBefore = try old.rowCount(oldTable) }
        if let newTable { report.objectsAfter = try new.rowCount(newTable) }
        guard let oldTable, let newTable else { return }
        for (position, column) in new.schema.tables[newTable].columns.enumerated() {
            guard let tag = ColumnTag(rawValue: column.tag),
                let before = old.schema.tables[oldTable].position(of: column.id)
            else { continue }
            shared.append((column.name, before, position, tag))
        }
    }

    /// - Complexity: O(rows log rows); memory does not depend on their number.
    func run() throws(StorageError) -> MigrationReport.ClassReport {
        var report = report
        guard let oldTable, let newTable else {
            report.created = report.objectsAfter
            report.deleted = report.objectsBefore
            return report
        }
        var from: Int64? = .min
        var kept = 0
        while let start = from {
            var keys: [Int64] = []
            try old.scan(oldTable, columns: [], from: RowKey(start)) { (batch) throws(StorageError) in
                keys.append(contentsOf: UnsafeBufferPointer(start: batch.keys, count: batch.count))
                return keys.isEmpty
            }
            for key in keys where try compare(key, in: oldTable, and: newTable, into: &report) { kept += 1 }
            from = keys.last.flatMap { $0 == .max ? nil : $0 + 1 }
        }
        report.deleted = report.objectsBefore - kept
        report.created = report.objectsAfter - kept
        return report
    }

    /// - Returns: whether the object exists in both.
    private func compare(
        _ key: Int64, in oldTable: Int, and newTable: Int, into report: inout MigrationReport.ClassReport
    ) throws(StorageError) -> Bool {
        guard let before = try old.locate(oldTable, RowKey(key)), let after = try new.locate(newTable, RowKey(key)),
            try old.creationVersion(before) == new.creationVersion(after)
        else { return false }
        for column in shared {
            let a = try old.value(before, column.old, column.tag)
            let b = try new.value(after, column.new, column.tag)
            if a != b { report.changed[column.name, default: 0] += 1 }
        }
        return true
    }
}

extension Realm {
    /// Runs the migration of a configuration on a copy of its file, and reports its effects.
    ///
    ///     let report = try Realm.dryRunMigration(for: configuration)
    ///     for step in report.steps { print(step.toVersion, step.schemaChanges, step.classes) }
    ///
    /// The file is opened read-only and is not changed. The copy beside it, `NAME.dry-run`, needs its space once more,
    /// and is removed before this returns.
    /// - Throws: the errors of the migration.
    public static func dryRunMigration(
        for configuration: Configuration = .defaultConfiguration
    ) throws -> MigrationReport {
        guard configuration.inMemoryIdentifier == nil else {
            throw RealmError(.invalidInput, "a Realm in memory has no file to try a migration on")
        }
        var reading = configuration
        reading.readOnly = true
        let store = try SchemaSetup.openFile(reading)
        defer { SchemaSetup.close(store) }
        let known = try storage { () throws(StorageError) in try store.snapshot().view.schema.userVersion }
        if known == configuration.schemaVersion { return MigrationReport(known) }
        if known > configuration.schemaVersion {
            throw RealmError(
                .schemaMismatch,
                "\(configuration.path) has schema version \(known), the configuration asks for "
                    + "\(configuration.schemaVersion); the file was written by a newer program")
        }
        return try MigrationCopy(configuration, suffix: ".dry-run").rehearse(store)
    }
}
