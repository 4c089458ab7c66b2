#if SQLite
    import StrataFiles
    import StrataStorage

    /// The new file: its schema, the record of its source, and the writing of cells.
    final class ImportTarget {
        let store: Store
        let path: String
        let layout: ClassLayout
        private(set) var state: State

        /// The one row of the class `CoreDataSource`.
        struct State: Equatable {
            var uuid: String
            var isComplete: Bool
            /// The last transaction of the store's history that was imported; 0 for none.
            var lastTransaction: Int64
            var rows: Int64
        }

        /// - Throws: `wrongInput` for a file of another store, or with another schema.
        init(_ path: String, _ layout: ClassLayout, isNew: Bool, readOnly: Bool = false) throws {
            self.path = path
            self.layout = layout
            // No other program opens the file of a first import, so its commits need no log. An import that is killed
            // is resumed after the rows that the file has.
            store = try Store.open(
                path: path, options: StoreOptions(durability: isNew ? .none : .full, readOnly: readOnly))
            state = State(uuid: layout.layout.uuid, isComplete: false, lastTransaction: 0, rows: 0)
            do {
                let view = try store.snapshot().view
                if view.schema.tables.isEmpty, isNew {
                    let transaction = try store.beginWrite()
                    try transaction.apply(schema: layout.schema)
                    try findPlaces(transaction.view.schema)
                    try write(state, transaction)
                    try transaction.commit()
                } else {
                    state = try check(view)
                }
            } catch {
                // An error of closing is dropped: the caller reports the first one.
                do { try store.close() } catch {}
                throw error
            }
        }

        /// Positions in the file's schema: an application that opens the file may reorder classes and properties, and
        /// add its own.
        struct Places {
            /// The table of each class, and last the state's.
            var tables: [Int]
            /// The column of each property of a class.
            var columns: [[Int]]
            /// An empty row, for a class with another order or other properties than ``ClassLayout``.
            var blanks: [[Cell]?]
        }

        private(set) var places = Places(tables: [], columns: [], blanks: [])

        /// The column of Z_OPT in the file's table of a class.
        func versionPlace(_ table: Int) -> Int {
            let columns = layout.classes[table].columns
            return places.columns[table][columns.firstIndex { $0.name == ClassLayout.versionName } ?? 0]
        }

        /// Whether the application, not an import, inserted a row.
        func isOwn(_ key: Int64, _ table: Int, _ view: ReadView) throws -> Bool {
            guard let row = try view.locate(places.tables[table], RowKey(key)) else { return false }
            return try view.integer(row, versionPlace(table)) == nil
        }

        var stateTable: Int { places.tables.last ?? 0 }

        private func other(_ reason: String) -> CoreDataError {
            CoreDataError(
                .wrongInput,
                "\(path) was not imported with this model and mapping (\(reason)): use the same ones, or import into "
                    + "another file")
        }

        /// Finds every class and property by its name.
        private func findPlaces(_ schema: StoreSchema) throws(CoreDataError) {
            let wanted = layout.schema.tables
            let names = Dictionary(
                schema.tables.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
            let wantedNames = Dictionary(wanted.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
            var found = Places(tables: [], columns: [], blanks: [])
            for table in wanted {
                guard let place = schema.tables.firstIndex(where: { $0.name == table.name }),
                    schema.tables[place].tag == table.tag
                else { throw other("class \(table.name)") }
                let columns = schema.tables[place].columns
                var positions: [Int] = []
                for column in table.columns {
                    guard let position = columns.firstIndex(where: { $0.name == column.name }),
                        columns[position].type == column.type,
                        columns[position].target.flatMap({ names[$0] })
                            == column.target.flatMap({ wantedNames[$0] })
                    else { throw other("\(table.name).\(column.name)") }
                    positions.append(position)
                }
                found.tables.append(place)
                found.columns.append(positions)
                found.blanks.append(positions == Array(columns.indices) ? nil : columns.map(Self.blank))
            }
            places = found
        }

        private static func blank(_ column: ColumnDefinition) -> Cell {
            if column.isOptional { return .null }
            switch column.type {
            case .integer: return .integer(column.defaultBits.map { Int64(bitPattern: $0) } ?? 0)
            case .double: return .double(column.defaultBits.map { Double(bitPattern: $0) } ?? 0)
            case .link: return .null
            case .bytes, .links: return .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }

        /// Inserts a row of a class.
        /// - Parameter cells: in the order of ``ClassLayout``.
        func insert(
            _ table: Int, key: RowKey, _ cells: UnsafeMutableBufferPointer<Cell>, _ transaction: WriteTransaction
        ) throws(StorageError) {
            guard var row = places.blanks[table] else {
                return try transaction.insert(places.tables[table], key: key, UnsafeBufferPointer(cells))
            }
            for (from, to) in places.columns[table].enumerated() { row[to] = cells[from] }
            var failure: StorageError?
            row.withUnsafeBufferPointer { buffer in
                do throws(StorageError) { try transaction.insert(places.tables[table], key: key, buffer) } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        }

        private func check(_ view: ReadView) throws -> State {
            try findPlaces(view.schema)
            guard let row = try view.locate(stateTable, RowKey(1)) else { throw other("no row of its source") }
            let columns = places.columns.last ?? []
            let uuid = try view.bytes(row, columns[0]).map { String(decoding: $0, as: UTF8.self) } ?? ""
            try view.confirm()
            guard uuid == layout.layout.uuid else {
                throw CoreDataError(
                    .wrongInput,
                    "\(path) was imported from the store \(uuid), and this one is \(layout.layout.uuid): a file is "
                        + "of one store")
            }
            return State(
                uuid: uuid, isComplete: try view.integer(row, columns[1]) == 1,
                lastTransaction: try view.integer(row, columns[2]) ?? 0, rows: try view.integer(row, columns[3]) ?? 0)
        }

        func write(_ new: State, _ transaction: WriteTransaction) throws {
            try Cell.withText(new.uuid) { (uuid) throws(StorageError) in
                let cells = [
                    uuid, .integer(new.isComplete ? 1 : 0), .integer(new.lastTransaction), .integer(new.rows),
                ]
                if try transaction.view.locate(stateTable, RowKey(1)) != nil {
                    if new == state { return }
                    for (column, cell) in zip(places.columns.last ?? [], cells) {
                        try transaction.set(stateTable, RowKey(1), column: column, to: cell)
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

        /// Makes the required columns optional for which a row has a null.
        /// - Returns: the changed properties.
        func admitNulls(
            _ table: Int, _ cells: UnsafeMutableBufferPointer<Cell>, count: Int, transaction: WriteTransaction
        ) throws -> [String] {
            var schema = transaction.view.schema
            let position = places.tables[table]
            var changed: [String] = []
            for place in 0..<count where cells[place].isNull {
                let columnPlace = places.columns[table][place]
                let column = schema.tables[position].columns[columnPlace]
                if column.isOptional { continue }
                let name = "\(schema.tables[position].name).\(column.name)"
                if column.tag & 1 << 13 != 0 {
                    throw CoreDataError(
                        .unfitValue, "\(name) is the key and null in a row: name another key in the mapping")
                }
                schema.tables[position].columns[columnPlace].isOptional = true
                schema.tables[position].columns[columnPlace].tag |= 1 << 12
                changed.append(name)
            }
            if !changed.isEmpty { try transaction.apply(schema: schema) }
            return changed
        }

        /// Updates an existing row from its source; equal values are not written.
        /// - Returns: whether any value was written.
        func change(
            _ table: Int, _ key: RowKey, cells: UnsafeMutableBufferPointer<Cell>, count: Int,
            transaction: WriteTransaction
        ) throws -> Bool {
            var changed = false
            for place in 0..<count {
                let position = places.tables[table]
                let column = places.columns[table][place]
                guard let row = try transaction.view.locate(position, key) else { return changed }
                if try isSame(cells[place], transaction.view, row: row, column: column, table: position) { continue }
                try transaction.set(position, key, column: column, to: cells[place])
                changed = true
            }
            return changed
        }

        private func isSame(
            _ cell: Cell, _ view: ReadView, row: RowLocation, column: Int, table: Int
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
                let isSame = !cell.isNull && bytes.elementsEqual(cell.bytesValue)
                try view.confirm()
                return isSame
            }
        }

        /// The keys of a list.
        static func list(_ view: ReadView, _ table: Int, key: RowKey, column: Int) throws(StorageError) -> [Int64] {
            var list: [Int64] = []
            let reader = try CollectionReader(view, table: table, key: key, column: column)
            try reader.forEachPart { (part) throws(StorageError) in
                for place in part.first..<part.end { list.append(try part.value(at: place).integerValue) }
                return true
            }
            return list
        }
    }
#endif
