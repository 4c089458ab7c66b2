#if SQLite
    import CoreDataFiles
    import Dispatch

    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    /// A store of Core Data, written without Apple's framework: rows, many-to-many, Z_OPT, Z_MAX and, where the store
    /// has it, history, in one transaction.
    ///
    /// A model is a table of the store: an entity and those below it. Its name is that of the entity above all, the key
    /// is Z_PK (`coreDataKey`), and `coreDataEntity` names the entity of a row where there are several. The file that
    /// `strata coredata import` makes has these classes.
    ///
    /// No other connection may have the store open: Core Data caches rows, and would overwrite changes that it does not
    /// know.
    ///
    /// Unchecked: `file` is read and set on `queue` alone.
    public final class CoreDataStore: PrimaryStore, @unchecked Sendable {
        public let path: String
        public let models: [RecordModel]
        private let shape: CoreDataShape
        private let busyMilliseconds: Int32
        private let queue = DispatchQueue(label: "migration.coredata")
        private var file: SQLiteFile?

        /// - Parameters:
        ///   - model: a compiled model, `.mom` or `.momd`; nil to use the store's cached model.
        ///   - leavingOut: properties, as `Entity.property`, that are neither written nor compared.
        /// - Throws: `unknownShape` for tables that this adapter cannot write; `storeFailed`.
        public init(
            _ path: String, model: String? = nil, leavingOut: Set<String> = [], busyMilliseconds: Int = 5_000
        ) throws {
            self.path = path
            self.busyMilliseconds = Int32(clamping: busyMilliseconds)
            let opened = try SQLiteFile(path, .write, busyMilliseconds: self.busyMilliseconds)
            let given = try model.map { try ModelSources.model(at: $0) }
            shape = try CoreDataShape(opened, try LayoutReading.read(opened, model: given), leavingOut: leavingOut)
            models = shape.models
            file = opened
        }

        public func reopen() throws {
            try queue.sync {
                if file != nil { return }
                let opened = try SQLiteFile(path, .write, busyMilliseconds: busyMilliseconds)
                let uuid = try opened.statement("SELECT Z_UUID FROM Z_METADATA")
                guard try uuid.step(), uuid.text(0) == shape.layout.uuid else {
                    throw MigrationError(.unknownShape, "\(path) is another store now; make a new CoreDataStore of it")
                }
                file = opened
            }
        }

        public func close() throws {
            queue.sync {
                file?.close()
                file = nil
            }
        }

        public func compact() throws {
            try queue.sync {
                guard file == nil else {
                    throw MigrationError(.wrongPhase, "\(path) is open; call close() before compact()")
                }
                try SQLiteFile(path, .write, busyMilliseconds: busyMilliseconds).run("VACUUM")
            }
        }

        private func onQueue<Output>(_ body: (SQLiteFile) throws -> Output) throws -> Output {
            try queue.sync {
                guard let file else { throw MigrationError(.closed, "\(path) is closed; call reopen() first") }
                return try body(file)
            }
        }

        /// The key of the next new record of a model, as Core Data would assign it. The caller must insert that record
        /// before the next call.
        public func nextKey(of model: String) throws -> Int64 {
            let table = try shape.table(model)
            return try onQueue { file in
                let rows = try file.integer("SELECT max(Z_PK) FROM \(quoted(table.hierarchy.table))") ?? 0
                let kept =
                    try file.integer(
                        "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(table.hierarchy.root.number)") ?? 0
                let (next, overflow) = max(rows, kept).addingReportingOverflow(1)
                if overflow { throw MigrationError(.storeFailed, "\(path): \(model) has no key left") }
                return next
            }
        }

        public func asKept(_ change: RecordChange) throws -> RecordChange {
            _ = try CoreDataWriting.key(change.id)
            guard case .upsert(var record) = change else { return change }
            let table = try shape.table(record.id.model)
            if case .text(let name)? = record.values["coreDataEntity"], table.hierarchy.isMixed {
                _ = try CoreDataWriting.entity(named: name, of: record.id, table)
            }
            for (name, value) in record.values { record.values[name] = value.withoutSignOfZero }
            return .upsert(record)
        }

        public func apply(_ changes: [RecordChange]) throws {
            try onQueue { file in
                try file.inTransaction {
                    var writing = try CoreDataWriting(file, shape)
                    // Inserts rows first: a link may refer to a later record.
                    for change in changes {
                        switch change {
                        case .upsert(let record): try writing.writeRow(record)
                        case .delete(let id): try writing.delete(id)
                        }
                    }
                    for case .upsert(let record) in changes { try writing.writeLinks(record) }
                    try writing.finish(at: Date().timeIntervalSinceReferenceDate)
                }
            }
        }

        // MARK: Reading

        public func records(_ ids: [RecordID]) throws -> [RecordID: Record] {
            try onQueue { file in
                var found: [RecordID: Record] = [:]
                for (model, ids) in Dictionary(grouping: ids, by: \.model) {
                    let reading = try CoreDataReading(file, shape, shape.table(model))
                    for id in ids {
                        guard case .integer(let key) = id.key, let values = try reading.values(of: key) else {
                            continue
                        }
                        let names = reading.table.model.fields.map(\.name)
                        found[id] = Record(id, Dictionary(zip(names, values), uniquingKeysWith: { a, _ in a }))
                    }
                }
                return found
            }
        }

        /// Read from the history if it reaches back to the token; else all records count as changed.
        public func changes(since token: ChangeToken?) throws -> StoreChanges {
            try onQueue { file in
                let newest = shape.layout.hasHistory ? try file.integer("SELECT max(Z_PK) FROM ATRANSACTION") : nil
                let oldest = shape.layout.hasHistory ? try file.integer("SELECT min(Z_PK) FROM ATRANSACTION") : nil
                guard let token, let newest, let oldest, token.value >= oldest - 1 else {
                    var changed: [RecordID] = []
                    for model in models {
                        let table = try shape.table(model.name).hierarchy.table
                        let keys = try file.statement("SELECT Z_PK FROM \(quoted(table))")
                        while try keys.step() { changed.append(RecordID(model.name, .integer(keys.integer(0)))) }
                    }
                    return StoreChanges(
                        changed: changed, deleted: [], knowsDeletions: false, token: ChangeToken(newest ?? 0))
                }
                var last: [RecordID: Int64] = [:]
                let rows = try file.statement(
                    """
                    SELECT ZENTITY, ZENTITYPK, ZCHANGETYPE FROM ACHANGE WHERE ZTRANSACTIONID > \(token.value) \
                    ORDER BY ZTRANSACTIONID, Z_PK
                    """)
                while try rows.step() {
                    guard let entity = shape.layout.entity(rows.integer(0)),
                        let place = shape.layout.hierarchy(of: entity.name)
                    else { continue }
                    last[RecordID(shape.models[place].name, .integer(rows.integer(1)))] = rows.integer(2)
                }
                return StoreChanges(
                    changed: last.filter { $0.value != 2 }.keys.sorted(),
                    deleted: last.filter { $0.value == 2 }.keys.sorted(), knowsDeletions: true,
                    token: ChangeToken(newest))
            }
        }

        public func scan(_ model: RecordModel, _ body: (RecordKey, [FieldValue]) throws -> Void) throws {
            let reader = try SQLiteFile(path, .read, busyMilliseconds: busyMilliseconds)
            defer { reader.close() }
            try CoreDataReading(reader, shape, shape.table(model.name)).scan(body)
        }
    }
#endif
