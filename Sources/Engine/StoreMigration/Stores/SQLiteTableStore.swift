#if SQLite
    import CoreDataFiles
    import Dispatch

    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    /// A table of an SQLite database, and the mapping of its columns.
    public struct SQLiteTable: Sendable {
        public var model: RecordModel
        public var table: String
        public var keyColumn: String
        /// Columns by field; an unnamed field uses the column of its own name.
        public var columns: [String: String]
        /// A column that each change sets to a new maximum, such as a counter of saves. Without it all rows count as
        /// changed.
        public var changeColumn: String?
        /// The epoch of dates, in seconds after 1970-01-01 00:00 UTC; 978 307 200 is Core Data's 2001.
        public var dateOrigin: Double

        public init(
            _ model: RecordModel, table: String, keyColumn: String, columns: [String: String] = [:],
            changeColumn: String? = nil, dateOrigin: Double = 0
        ) {
            self.model = model
            self.table = table
            self.keyColumn = keyColumn
            self.columns = columns
            self.changeColumn = changeColumn
            self.dateOrigin = dateOrigin
        }
    }

    /// Tables of an SQLite database as the store that an application leaves. A field is a column, a link the key of its
    /// target. To-many links are refused, since they are tables of their own.
    ///
    /// Unchecked: `file` is read and set on `queue` alone.
    public final class SQLiteTableStore: PrimaryStore, @unchecked Sendable {
        public let models: [RecordModel]
        public let path: String
        private let tables: [SQLiteTable]
        private let busyMilliseconds: Int32
        private let queue = DispatchQueue(label: "migration.sqlite")
        private var file: SQLiteFile?

        /// - Throws: `invalidModel` if a table or a column is missing; `storeFailed`.
        public init(_ path: String, _ tables: [SQLiteTable], busyMilliseconds: Int = 5_000) throws {
            self.path = path
            self.tables = tables
            self.busyMilliseconds = Int32(clamping: busyMilliseconds)
            models = tables.map(\.model)
            try reopen()
        }

        public func reopen() throws {
            try queue.sync {
                if file != nil { return }
                let opened = try SQLiteFile(path, .write, busyMilliseconds: busyMilliseconds)
                for table in tables { try Self.check(table, opened) }
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

        private func table(_ model: String) throws -> SQLiteTable {
            if let table = tables.first(where: { $0.model.name == model }) { return table }
            throw MigrationError(.invalidModel, "\(path): no table is given for \(model)")
        }

        private static func check(_ table: SQLiteTable, _ file: SQLiteFile) throws {
            var known: [String: Bool] = [:]
            let statement = try file.statement("PRAGMA table_info(\(quoted(table.table)))")
            while try statement.step() { known[statement.text(1)] = statement.integer(5) > 0 }
            if known.isEmpty { throw MigrationError(.invalidModel, "\(file.path) has no table \(table.table)") }
            for column in [table.keyColumn] + table.model.fields.map({ table.column($0) }) where known[column] == nil {
                throw MigrationError(
                    .invalidModel,
                    "\(file.path): \(table.table) has no column \(column); name another one in `columns`")
            }
            for field in table.model.fields {
                if case .links = field.kind {
                    throw MigrationError(
                        .invalidModel,
                        "\(table.model.name).\(field.name): a column holds one link; make a model of the table between")
                }
            }
            // An upsert requires a unique key.
            if known[table.keyColumn] == true { return }
            let unique = try file.statement(
                """
                SELECT 1 FROM pragma_index_list(?1) l WHERE l."unique" AND (SELECT group_concat(name) FROM \
                pragma_index_info(l.name)) = ?2
                """)
            unique.bind(0, text: table.table)
            unique.bind(1, text: table.keyColumn)
            guard try unique.step() else {
                throw MigrationError(
                    .invalidModel, "\(file.path): \(table.table).\(table.keyColumn) needs a unique index")
            }
        }

        // MARK: Writing

        public func asKept(_ change: RecordChange) throws -> RecordChange {
            guard case .upsert(var record) = change else { return change }
            let origin = FieldValue.secondsTo2001 - (try table(record.id.model).dateOrigin)
            for (name, value) in record.values {
                if case .date(let date) = value {
                    record.values[name] = FieldValue.date((date + origin) - origin).withoutSignOfZero
                } else {
                    record.values[name] = value.withoutSignOfZero
                }
            }
            return .upsert(record)
        }

        public func apply(_ changes: [RecordChange]) throws {
            try onQueue { file in
                try file.inTransaction {
                    for change in changes {
                        let table = try table(change.id.model)
                        switch change {
                        case .upsert(let record): try Self.upsert(record, table, file)
                        case .delete(let id):
                            try file.run(
                                "DELETE FROM \(quoted(table.table)) WHERE \(quoted(table.keyColumn)) = ?1", id.key)
                            try dropLinks(to: id, file)
                        }
                    }
                    for case .upsert(let record) in changes { try setLinks(record, file) }
                }
            }
        }

        /// Sets links after all rows. A deletion in the batch may have made a link null whose target was inserted
        /// again.
        /// - Throws: `invalidChange` for a dangling link, which the other store cannot hold.
        private func setLinks(_ record: Record, _ file: SQLiteFile) throws {
            let table = try table(record.id.model)
            // A later change of the batch may have deleted it.
            guard try Self.holds(record.id.key, table, file) else { return }
            for field in table.model.fields {
                guard case .link(let to) = field.kind, case .link(let key)? = record.values[field.name],
                    let target = tables.first(where: { $0.model.name == to })
                else { continue }
                guard try Self.holds(key, target, file) else {
                    throw MigrationError(
                        .invalidChange,
                        "\(record.id): \"\(field.name)\" leads to \(to) \(key), which is not there; "
                            + "write that one first")
                }
                let column = quoted(table.column(field))
                let update = try file.statement(
                    """
                    UPDATE \(quoted(table.table)) SET \(column) = ?1 \
                    WHERE \(quoted(table.keyColumn)) = ?2 AND \(column) IS NOT ?1
                    """)
                update.bind(0, key: key)
                update.bind(1, key: record.id.key)
                try update.run()
            }
        }

        private static func holds(_ key: RecordKey, _ table: SQLiteTable, _ file: SQLiteFile) throws -> Bool {
            let found = try file.statement(
                "SELECT 1 FROM \(quoted(table.table)) WHERE \(quoted(table.keyColumn)) = ?1")
            found.bind(0, key: key)
            return try found.step()
        }

        /// Links to a deleted record become null, as in the other store.
        private func dropLinks(to id: RecordID, _ file: SQLiteFile) throws {
            for table in tables {
                for field in table.model.fields where field.kind == .link(to: id.model) {
                    let column = quoted(table.column(field))
                    try file.run("UPDATE \(quoted(table.table)) SET \(column) = NULL WHERE \(column) = ?1", id.key)
                }
            }
        }

        private static func upsert(_ record: Record, _ table: SQLiteTable, _ file: SQLiteFile) throws {
            let fields = table.model.fields
            // A new row gets all fields, an existing one only those that the record names.
            let new = table.model.filled(record)
            var columns = [quoted(table.keyColumn)] + fields.map { quoted(table.column($0)) }
            var values = (1...columns.count).map { "?\($0)" }
            // Each change sets the version column to a new maximum.
            if let change = table.changeColumn {
                columns.append(quoted(change))
                values.append("(SELECT coalesce(max(\(quoted(change))), 0) + 1 FROM \(quoted(table.table)))")
            }
            let named = fields.filter { record.values[$0.name] != nil }.map { quoted(table.column($0)) }
            let updates = (named + columns.dropFirst(fields.count + 1)).map { "\($0) = excluded.\($0)" }
                .joined(separator: ", ")
            let statement = try file.statement(
                """
                INSERT INTO \(quoted(table.table)) (\(columns.joined(separator: ", "))) \
                VALUES (\(values.joined(separator: ", "))) \
                ON CONFLICT (\(quoted(table.keyColumn))) DO \(updates.isEmpty ? "NOTHING" : "UPDATE SET \(updates)")
                """)
            statement.bind(0, key: record.id.key)
            for (place, field) in fields.enumerated() {
                statement.bind(place + 1, new[field.name], dateOrigin: table.dateOrigin)
            }
            try statement.run()
        }

        // MARK: Reading

        public func records(_ ids: [RecordID]) throws -> [RecordID: Record] {
            try onQueue { file in
                var found: [RecordID: Record] = [:]
                for (model, ids) in Dictionary(grouping: ids, by: \.model) {
                    let table = try table(model)
                    let statement = try file.statement(
                        "\(table.selection) WHERE \(quoted(table.keyColumn)) = ?1")
                    for id in ids {
                        statement.bind(0, key: id.key)
                        if try statement.step() {
                            let values = try table.values(statement)
                            found[id] = Record(
                                id,
                                Dictionary(
                                    zip(table.model.fields.map(\.name), values), uniquingKeysWith: { a, _ in a }))
                        }
                        statement.reset()
                    }
                }
                return found
            }
        }

        public func changes(since token: ChangeToken?) throws -> StoreChanges {
            try onQueue { file in
                var changed: [RecordID] = []
                var newest = token?.value ?? 0
                for table in tables {
                    var sql = "SELECT \(quoted(table.keyColumn)), \(table.changeColumn.map(quoted) ?? "0")"
                    sql += " FROM \(quoted(table.table))"
                    if let column = table.changeColumn { sql += " WHERE \(quoted(column)) > \(token?.value ?? .min)" }
                    let statement = try file.statement(sql)
                    while try statement.step() {
                        changed.append(RecordID(table.model.name, statement.key(0, table.model.hasIntegerKey)))
                        newest = max(newest, statement.integer(1))
                    }
                }
                return StoreChanges(
                    changed: changed, deleted: [], knowsDeletions: false, token: ChangeToken(newest))
            }
        }

        /// Reads on its own connection, some thousand rows at a time, so that a reader does not block a writer for
        /// long.
        public func scan(_ model: RecordModel, _ body: (RecordKey, [FieldValue]) throws -> Void) throws {
            let table = try table(model.name)
            let reader = try SQLiteFile(path, .read, busyMilliseconds: busyMilliseconds)
            defer { reader.close() }
            let order = " ORDER BY \(quoted(table.keyColumn)) LIMIT \(Self.rowsAtOnce)"
            let first = try reader.statement(table.selection + order)
            let next = try reader.statement(table.selection + " WHERE \(quoted(table.keyColumn)) > ?1" + order)
            var last: RecordKey?
            while true {
                let statement = last == nil ? first : next
                if let last { statement.bind(0, key: last) }
                var count = 0
                while try statement.step() {
                    let key = statement.key(0, table.model.hasIntegerKey)
                    try body(key, try table.values(statement))
                    last = key
                    count += 1
                }
                statement.reset()
                if count < Self.rowsAtOnce { return }
            }
        }

        private static let rowsAtOnce = 8_192
    }

    extension SQLiteTable {
        func column(_ field: RecordField) -> String { columns[field.name] ?? field.name }

        /// The key, then the fields.
        fileprivate var selection: String {
            let names = [keyColumn] + model.fields.map(column)
            return "SELECT \(names.map(quoted).joined(separator: ", ")) FROM \(quoted(table))"
        }

        fileprivate func values(_ statement: SQLiteStatement) throws -> [FieldValue] {
            if statement.isNull(0) {
                throw MigrationError(.storeFailed, "\(table).\(keyColumn) is null in a row; give the row a key")
            }
            return try model.fields.enumerated().map { place, field in
                guard let value = statement.value(place + 1, field.kind, dateOrigin: dateOrigin) else {
                    throw MigrationError(
                        .storeFailed,
                        "\(table).\(column(field)) of \(statement.text(0)) is \(statement.kind(place + 1)), "
                            + "and no \(field.kind); mend the row, or name another kind in the model")
                }
                return value
            }
        }
    }
#endif
