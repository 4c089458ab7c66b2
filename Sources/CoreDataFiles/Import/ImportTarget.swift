#if SQLite
    import StrataFiles
    import StrataStorage

    /// The new file: its schema, what it says of its source, and how cells get into it.
    final class ImportTarget {
        let store: Store
        let path: String
        let layout: ClassLayout
        private(set) var state: State

        /// The one row of the class `CoreDataSource`.
        struct State: Equatable {
            var uuid: String
            var isComplete: Bool
            /// The last transaction of the store's history that is in the file; 0 for none.
            var lastTransaction: Int64
            var rows: Int64
        }

        /// - Throws: `wrongInput` for a file of another store, or with another schema.
        init(_ path: String, _ layout: ClassLayout, isNew: Bool, readOnly: Bool = false) throws {
            self.path = path
            self.layout = layout
            // No other program opens the file of a first import: it needs no log, and goes on where it was.
            store = try Store.open(
                path: path, options: StoreOptions(durability: isNew ? .none : .full, readOnly: readOnly))
            state = State(uuid: layout.layout.uuid, isComplete: false, lastTransaction: 0, rows: 0)
            do {
                let view = try store.snapshot().view
                if view.schema.tables.isEmpty, isNew {
                    let transaction = try store.beginWrite()
                    try transaction.apply(schema: layout.schema)
                    try write(state, transaction)
                    try transaction.commit()
                } else {
                    state = try check(view)
                }
            } catch {
                // The error that led here is the one to report.
                do { try store.close() } catch {}
                throw error
            }
        }

        var stateTable: Int { layout.classes.count }

        /// Positions of classes are positions of tables: the schema is compared by names, types and targets.
        private func check(_ view: ReadView) throws -> State {
            let (wanted, found) = (layout.schema.tables, view.schema.tables)
            func other(_ reason: String) -> CoreDataError {
                CoreDataError(
                    .wrongInput,
                    "\(path) was not imported with this model and mapping (\(reason)): use the same ones, or import "
                        + "into another file")
            }
            guard found.count >= wanted.count else { throw other("it has \(found.count) classes") }
            for (table, wanted) in zip(found, wanted) {
                guard table.name == wanted.name, table.tag == wanted.tag else { throw other("class \(table.name)") }
                guard table.columns.count >= wanted.columns.count else { throw other("class \(table.name)") }
                for (column, wanted) in zip(table.columns, wanted.columns) {
                    guard column.name == wanted.name, column.type == wanted.type, column.target == wanted.target else {
                        throw other("\(table.name).\(column.name)")
                    }
                }
            }
            guard let row = try view.locate(stateTable, RowKey(1)) else { throw other("no row of its source") }
            let bytes = try view.bytes(row, 0)
            let uuid = bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
            guard uuid == layout.layout.uuid else {
                throw CoreDataError(
                    .wrongInput,
                    "\(path) was imported from the store \(uuid), and this one is \(layout.layout.uuid): a file is "
                        + "of one store")
            }
            return State(
                uuid: uuid, isComplete: try view.integer(row, 1) == 1, lastTransaction: try view.integer(row, 2) ?? 0,
                rows: try view.integer(row, 3) ?? 0)
        }

        func write(_ new: State, _ transaction: WriteTransaction) throws {
            try Cell.withText(new.uuid) { (uuid) throws(StorageError) in
                let cells = [
                    uuid, .integer(new.isComplete ? 1 : 0), .integer(new.lastTransaction), .integer(new.rows),
                ]
                if try transaction.view.locate(stateTable, RowKey(1)) != nil {
                    if new == state { return }
                    for (column, cell) in cells.enumerated() {
                        try transaction.set(stateTable, RowKey(1), column, cell)
                    }
                } else {
                    var failure: StorageError?
                    cells.withUnsafeBufferPointer { buffer in
                        do throws(StorageError) { try transaction.insert(stateTable, key: RowKey(1), buffer) } catch {
                            failure = error
                        }
                    }
                    if let failure { throw failure }
                }
            }
            state = new
        }

        // MARK: Rows

        /// Makes columns optional that meet a null and were not.
        /// - Returns: the properties.
        func admitNulls(
            _ table: Int, _ cells: UnsafeMutableBufferPointer<Cell>, _ count: Int, _ transaction: WriteTransaction
        ) throws -> [String] {
            var schema = transaction.view.schema
            var changed: [String] = []
            for place in 0..<count where cells[place].isNull && !schema.tables[table].columns[place].isOptional {
                let column = schema.tables[table].columns[place]
                if column.tag & 1 << 13 != 0 {
                    throw CoreDataError(
                        .unfitValue, "\(schema.tables[table].name).\(column.name) is the key and null in a row: name "
                            + "another key in the mapping")
                }
                schema.tables[table].columns[place].isOptional = true
                schema.tables[table].columns[place].tag |= 1 << 12
                changed.append("\(schema.tables[table].name).\(column.name)")
            }
            if !changed.isEmpty { try transaction.apply(schema: schema) }
            return changed
        }

        /// Gives a row that is there the values of its source; what is the same is not written.
        /// - Returns: whether anything was.
        func change(
            _ table: Int, _ key: RowKey, _ cells: UnsafeMutableBufferPointer<Cell>, _ count: Int,
            _ transaction: WriteTransaction
        ) throws -> Bool {
            var changed = false
            for place in 0..<count {
                guard let row = try transaction.view.locate(table, key) else { return changed }
                if try isSame(cells[place], transaction.view, row, place, table) { continue }
                try transaction.set(table, key, place, cells[place])
                changed = true
            }
            return changed
        }

        private func isSame(
            _ cell: Cell, _ view: ReadView, _ row: RowLocation, _ column: Int, _ table: Int
        ) throws -> Bool {
            switch view.schema.tables[table].columns[column].type {
            case .integer, .link:
                guard let value = try view.integer(row, column) else { return cell.isNull }
                return !cell.isNull && value == cell.integerValue
            case .double:
                guard let value = try view.double(row, column) else { return cell.isNull }
                return !cell.isNull && value.bitPattern == cell.bits
            case .bytes, .links:
                guard let bytes = try view.bytes(row, column) else { return cell.isNull }
                return !cell.isNull && bytes.elementsEqual(cell.bytesValue)
            }
        }

        /// The keys of a list.
        static func list(_ view: ReadView, _ table: Int, _ key: RowKey, _ column: Int) throws(StorageError) -> [Int64] {
            var list: [Int64] = []
            try CollectionReader(view, table, key, column).forEachPart { (part) throws(StorageError) in
                for place in part.first..<part.end { list.append(try part.value(at: place).integerValue) }
                return true
            }
            return list
        }
    }
#endif
