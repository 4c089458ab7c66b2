internal import StrataStorage

/// Writes the recovered rows to a new store, in transactions of bounded size.
///
/// Concurrency: confined to the salvage.
final class SalvageWriter {
    private let survey: SalvageSurvey
    private let store: Store
    private let options: SalvageOptions
    private var count: SalvageCount
    private var rebuild: RebuildTransaction
    private var transaction: WriteTransaction { rebuild.transaction }
    /// The gaps of each collection that lost elements. Places in the log count the lost elements.
    private var gaps: [CollectionOwner: CollectionGaps] = [:]
    /// Collections whose elements the log has changed.
    private var changed: Set<CollectionOwner> = []
    private var pending = 0
    private var written = 0

    init(_ survey: SalvageSurvey, _ store: Store, _ options: SalvageOptions) throws(StorageError) {
        self.survey = survey
        self.store = store
        self.options = options
        count = SalvageCount(survey, options)
        rebuild = try RebuildTransaction(store)
    }

    deinit { transaction.rollback() }

    func write() throws(StorageError) -> SalvageReport {
        let version = survey.report.checkpoint.rawValue
        rebuild.raise(to: version)
        let limit = rebuild.version
        try transaction.apply(schema: survey.schema)
        for survey in survey.tables {
            guard let table = transaction.view.schema.position(of: survey.id) else { continue }
            rebuild.raiseNextKey(table, to: survey.nextKey)
        }
        for (table, definition) in survey.schema.tables.enumerated() {
            // Only `books` owns the counts while it reads: with a second owner, each class would copy the tables.
            var books = count
            count.report.tables.removeAll()
            try books.read(definition) { (key, created, cells) throws(StorageError) in
                try insert(table, key, created: min(created, limit), cells: cells)
            }
            count = books
        }
        gaps = count.gaps
        try replay()
        for owner in gaps.keys { try closeGaps(owner) }
        for owner in changed { try putInOrder(owner) }
        try removeDanglingLinks()
        if pending > 0 || written == 0 { try transaction.commit() }
        return count.finished()
    }

    /// - Returns: false if the key exists already.
    private func insert(
        _ table: Int, _ key: Int64, created: UInt64, cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) -> Bool {
        #if Zoo
            if PlantedMistake.salvageLosesRow.isPlanted, written == 0 {
                try wrote(cells)
                return true
            }
        #endif
        do throws(StorageError) {
            try rebuild.insert(table, key: RowKey(key), created: created, cells)
        } catch {
            if case .misuse = error { return false }
            throw error
        }
        try wrote(cells)
        return true
    }

    /// Commits and starts a new transaction if the open one is large.
    private func wrote(_ cells: UnsafeBufferPointer<Cell>) throws(StorageError) {
        // A long value counts as several rows.
        pending += 1
        written += 1
        for cell in cells where cell.kind == .bytes { pending += cell.count >> 10 }
        if pending < options.rowsPerTransaction { return }
        options.progress?(written)
        pending = 0
        try transaction.commit()
        rebuild = try RebuildTransaction(store)
    }

    // MARK: Collections

    private func closeGaps(_ owner: CollectionOwner) throws(StorageError) {
        guard var closed = gaps[owner] else { return }
        try rebuild.closeGaps(owner, &closed)
        gaps[owner] = closed
    }

    private func putInOrder(_ owner: CollectionOwner) throws(StorageError) {
        guard let done = try rebuild.putInOrder(owner, gaps[owner]) else { return }
        count.noteOrdered(owner, done.column, count: done.count, leftOut: done.leftOut)
        pending += done.count
    }

    // MARK: Log

    private func replay() throws(StorageError) {
        guard let log = survey.log else { return }
        if log.isLost || options.ignoresLog {
            count.report.log = .lost
            return
        }
        let from = survey.report.checkpoint.rawValue
        var last = from
        let isWhole = try log.forEachRecord(after: from) { (record) throws(StorageError) in
            guard try apply(record) else { return false }
            if let base = record.baseAddress { last = base.u64(8) }
            return true
        }
        rebuild.raise(to: last)
        let isPartial = !isWhole || log.isCutShort
        if last > from || isPartial {
            count.report.log =
                isPartial ? .partly(through: TransactionID(last)) : .replayed(through: TransactionID(last))
        }
    }

    /// Applies the changes of one commit; changes of lost rows are skipped.
    /// - Returns: false if the record cannot be read, or does not fit the schema.
    private func apply(_ record: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        var changes: ChangeReader
        do throws(StorageError) { changes = try ChangeReader(record) } catch { return false }
        // Rows inserted by the record have its version as their creation version, so the transaction's must not be
        // lower.
        rebuild.raise(to: changes.lsn)
        var collections = CollectionReplay(in: transaction)
        var owner: CollectionOwner?
        while true {
            let change: Change?
            do throws(StorageError) { change = try changes.next() } catch { return false }
            guard let change else { return true }
            do throws(StorageError) {
                if try collections.apply(change, &changes) {
                    if case .collection(let table, let key, let column, _, let path) = change {
                        let outer = CollectionOwner(table: table.rawValue, column: column, key: key.rawValue)
                        changed.insert(outer)
                        // The gaps of inner collections are not tracked: nulls stand for their lost elements.
                        owner = path.isEmpty ? outer : nil
                    } else if let owner {
                        gaps[owner]?.follow(change)
                    }
                } else {
                    try apply(change, changes)
                    forgetGaps(change)
                }
            } catch {
                // The damaged file lost the row, or elements of its collection: the change is skipped.
                if error == .misuse(.noSuchRow) || error == .misuse(.noSuchPlace) { continue }
                // Misuse is detected before any change: an unknown table or column, or a wrong type.
                guard case .misuse = error else { throw error }
                return false
            }
            pending += 1
        }
    }

    /// Forgets the gaps of collections that a change replaces by a new value, or whose row it deletes or inserts.
    private func forgetGaps(_ change: Change) {
        if gaps.isEmpty { return }
        switch change {
        case .set(let table, let key, let column, _):
            gaps[CollectionOwner(table: table.rawValue, column: column, key: key.rawValue)] = nil
        case .delete(let table, let key), .insert(let table, let key):
            guard let position = transaction.view.schema.position(of: table) else { return }
            for column in transaction.view.schema.tables[position].columns where column.collection != nil {
                gaps[CollectionOwner(table: table.rawValue, column: column.id, key: key.rawValue)] = nil
            }
        case .deleteAll(let table): gaps = gaps.filter { $0.key.table != table.rawValue }
        default: break
        }
    }

    private func apply(_ change: Change, _ changes: borrowing ChangeReader) throws(StorageError) {
        switch change {
        case .insert(let table, let key): try insert(table, key, changes)
        case .set(let table, let key, let column, let cell):
            let position = try position(table)
            guard let index = transaction.view.schema.tables[position].position(of: column) else {
                throw .misuse(.noSuchColumn)
            }
            try check(cell, transaction.view.schema.tables[position].columns[index])
            if try transaction.view.locate(position, key) != nil {
                try transaction.set(position, key, column: index, to: cell)
            }
        case .delete(let table, let key):
            let position = try position(table)
            if try transaction.view.locate(position, key) != nil {
                try transaction.delete(position, key)
                adjust(table) { $0.rowsRecovered -= 1 }
            } else {
                adjust(table) { $0.rowsLost = max(0, $0.rowsLost - 1) }
            }
        case .deleteAll(let table):
            try transaction.deleteAll(try position(table))
            adjust(table) { $0 = SalvageReport.Table(id: $0.id, name: $0.name) }
        case .schema(let bytes):
            let schema: StoreSchema
            do throws(StorageError) { schema = try SchemaCoding.decode(bytes) } catch { throw .misuse(.noSuchTable) }
            try transaction.apply(schema: schema)
            rearrange(schema)
        case .nextKey(let table, let key): rebuild.raiseNextKey(try position(table), to: key.rawValue)
        case .collection, .insertElements, .removeElements, .setElements, .moveElements: break
        }
    }

    private func insert(
        _ table: TableID, _ key: RowKey, _ changes: borrowing ChangeReader
    ) throws(StorageError) {
        let position = try position(table)
        let columns = transaction.view.schema.tables[position].columns
        var cells: [Cell] = []
        for column in columns {
            let place = changes.columns.firstIndex(of: column.id)
            cells.append(place.map { changes.cells[$0] } ?? column.missingCell)
        }
        for (column, cell) in zip(columns, cells) { try check(cell, column) }
        var failure: StorageError?
        let created = changes.lsn
        cells.withUnsafeBufferPointer { buffer in
            do throws(StorageError) {
                if try transaction.view.locate(position, key) == nil {
                    try rebuild.insert(position, key: key, created: created, buffer)
                    adjust(table) { $0.rowsRecovered += 1 }
                } else {
                    // The row was recovered already, but is uncertain: the log's values replace those recovered.
                    for column in columns.indices {
                        try transaction.set(position, key, column: column, to: buffer[column])
                    }
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// - Throws: `misuse` for a value that the column cannot hold.
    private func check(_ cell: Cell, _ column: ColumnDefinition) throws(StorageError) {
        guard cell.kind == .bytes, cell.count > 0, let rules = ValueRules(column) else { return }
        if !rules.accepts(cell.bytesValue) { throw .misuse(.wrongType) }
    }

    private func position(_ table: TableID) throws(StorageError) -> Int {
        guard let position = transaction.view.schema.position(of: table) else { throw .misuse(.noSuchTable) }
        return position
    }

    private func adjust(_ table: TableID, _ body: (inout SalvageReport.Table) -> Void) {
        if let index = count.position(table) { body(&count.report.tables[index]) }
    }

    /// Adopts the final schema for the report.
    private func rearrange(_ schema: StoreSchema) { count.rearrange(schema) }

    // MARK: Links

    /// Removes the links to missing rows, like the deletion of the rows.
    private func removeDanglingLinks() throws(StorageError) {
        for (origin, definition) in transaction.view.schema.tables.enumerated() {
            for (column, link) in definition.columns.enumerated() where link.type.isLink {
                // A class that no schema names has no rows.
                let target = link.target.flatMap { transaction.view.schema.position(of: $0) }
                try removeDanglingLinks(origin, column, to: target)
            }
        }
    }

    private func removeDanglingLinks(_ origin: Int, _ column: Int, to target: Int?) throws(StorageError) {
        var next: Int64? = .min
        while let from = next {
            let (missing, resume) = try missingTargets(origin, column, target, from: from)
            for key in missing {
                let links = try transaction.view.backlinkCount(to: RowKey(key), of: origin, column)
                adjust(transaction.view.schema.tables[origin].id) { $0.linksRemoved += links }
                try rebuild.unlink(origin, column, from: RowKey(key))
                pending += links
            }
            next = resume
        }
    }

    /// At most 10 000 keys to which links lead and that have no row, and the key to continue with.
    private func missingTargets(
        _ origin: Int, _ column: Int, _ target: Int?, from: Int64
    ) throws(StorageError) -> (missing: [Int64], resume: Int64?) {
        var missing: [Int64] = []
        var resume: Int64?
        try rebuild.forEachTarget(of: origin, column, from: from) { (key) throws(StorageError) in
            if missing.count >= 10_000 {
                resume = key
                return false
            }
            let row = if let target { try transaction.view.locate(target, RowKey(key)) } else { RowLocation?.none }
            if row == nil { missing.append(key) }
            return true
        }
        return (missing, resume)
    }
}
