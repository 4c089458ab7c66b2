/// Does what a record says of the elements of collections, one operation after the other: each to what the ones before
/// it left.
package struct CollectionReplay {
    private let transaction: WriteTransaction
    /// What operations on elements apply to; nil where they apply to nothing.
    private var target: (table: Int, key: RowKey, column: Int)?

    package init(in transaction: WriteTransaction) { self.transaction = transaction }

    /// - Parameter changes: where the operation was read; the cells that belong to it are read there.
    /// - Returns: false, with nothing done, when the operation is of another kind.
    /// - Throws: `misuse` when the table, the column, the row or the place is not there, or a cell is of another kind
    ///   or cannot be read.
    package mutating func apply(
        _ change: Change, _ changes: inout ChangeReader
    ) throws(StorageError) -> Bool {
        switch change {
        case .collection(let table, let key, let column, let cells):
            target = try find(table, key, column, cells)
        case .insertElements(let place, let count, let isEach):
            let (table, key, column) = try required()
            try forEach(count, isEach) { (part) throws(StorageError) in
                let elements = try read(part.count, &changes, table, column, onlyValues: false)
                try transaction.collections.insert(table, key, column, elements, at: place + part.lowerBound)
            }
        case .setElements(let place, let count, let isEach):
            let (table, key, column) = try required()
            try forEach(count, isEach) { (part) throws(StorageError) in
                let elements = try read(part.count, &changes, table, column, onlyValues: true)
                try transaction.collections.set(table, key, column, elements, at: place + part.lowerBound)
            }
        case .removeElements(let place, let count, let isEach):
            let (table, key, column) = try required()
            try forEach(count, isEach) { (part) throws(StorageError) in
                try transaction.collections.remove(table, key, column, place..<(place + part.count))
            }
        case .moveElements(let place, let count, let end):
            let (table, key, column) = try required()
            try transaction.collections.move(table, key, column, place..<(place + count), to: end)
        case .insert, .set, .delete, .deleteAll, .schema, .nextKey:
            target = nil
            return false
        }
        return true
    }

    /// Hands out all elements at once, or one after the other, as it was done.
    private func forEach(
        _ count: Int, _ isEach: Bool, _ body: (Range<Int>) throws(StorageError) -> Void
    ) throws(StorageError) {
        if !isEach { return try body(0..<count) }
        for index in 0..<count { try body(index..<(index + 1)) }
    }

    private func required() throws(StorageError) -> (table: Int, key: RowKey, column: Int) {
        guard let target else { throw .misuse(.noSuchRow) }
        return target
    }

    private func find(
        _ id: TableID, _ key: RowKey, _ column: ColumnID, _ cells: Int
    ) throws(StorageError) -> (table: Int, key: RowKey, column: Int) {
        let schema = transaction.view.schema
        guard let table = schema.position(of: id) else { throw .misuse(.noSuchTable) }
        guard let position = schema.tables[table].position(of: column) else { throw .misuse(.noSuchColumn) }
        guard let collection = schema.tables[table].columns[position].collection,
            cells == (collection.isKeyed ? 2 : 1)
        else { throw .misuse(.wrongType) }
        return (table, key, position)
    }

    private func read(
        _ count: Int, _ changes: inout ChangeReader, _ table: Int, _ column: Int, onlyValues: Bool
    ) throws(StorageError) -> CollectionElements {
        guard let collection = transaction.view.schema.tables[table].columns[column].collection else {
            throw .misuse(.wrongType)
        }
        let elements = CollectionElements(collection)
        for _ in 0..<count {
            if collection.isKeyed && !onlyValues {
                let key = try cell(&changes)
                let value = try cell(&changes)
                guard key.kind == .bytes, elements.takes(value) else { throw .misuse(.wrongType) }
                elements.append(key: key, value)
            } else {
                let value = try cell(&changes)
                guard elements.takes(value) else { throw .misuse(.wrongType) }
                elements.append(value)
            }
        }
        return elements
    }

    private func cell(_ changes: inout ChangeReader) throws(StorageError) -> Cell {
        do throws(StorageError) { if let cell = try changes.element() { return cell } } catch {}
        throw .misuse(.wrongType)
    }
}
