/// Replays a record's operations on elements of collections, each on the result of the operations before it.
package struct CollectionReplay {
    private let transaction: TransactionChanges
    /// The collection that operations on elements apply to; nil if the record has named none since its last operation
    /// on a row or table.
    private var target: Target?

    private struct Target {
        var table: Int
        var key: RowKey
        var column: Int
        /// Places of the elements around an inner collection; empty for a row's own.
        var path: [Int]
        var collection: CollectionColumn
    }

    package init(in transaction: TransactionChanges) { self.transaction = transaction }

    /// Applies an operation on a collection.
    /// - Parameter changes: the reader that returned the operation; its cells are read here.
    /// - Returns: false, without any change, if the operation is of another kind.
    /// - Throws: `misuse` if the table, the column, the row or the place does not exist, or a cell is of another kind
    ///   or unreadable.
    package mutating func apply(
        _ change: Change, _ changes: inout ChangeReader
    ) throws(StorageError) -> Bool {
        switch change {
        case .collection(let table, let key, let column, let cells, let path):
            target = nil
            target = try find(table, key, column: column, cells: cells, path: path)
        case .insertElements(let place, let count, let isEach):
            let (target, writer) = try required()
            try forEach(count, isEach) { (part) throws(StorageError) in
                let elements = try read(part.count, &changes, target.collection, onlyValues: false)
                try writer.insert(
                    target.table, target.key, column: target.column, elements: elements, at: place + part.lowerBound)
            }
        case .setElements(let place, let count, let isEach):
            let (target, writer) = try required()
            try forEach(count, isEach) { (part) throws(StorageError) in
                let elements = try read(part.count, &changes, target.collection, onlyValues: true)
                try writer.set(
                    target.table, target.key, column: target.column, elements: elements, at: place + part.lowerBound)
            }
        case .removeElements(let place, let count, let isEach):
            let (target, writer) = try required()
            try forEach(count, isEach) { (part) throws(StorageError) in
                try writer.remove(target.table, target.key, column: target.column, range: place..<(place + part.count))
            }
        case .moveElements(let place, let count, let end):
            let (target, writer) = try required()
            try writer.move(target.table, target.key, column: target.column, range: place..<(place + count), to: end)
        case .insert, .set, .delete, .deleteAll, .schema, .nextKey:
            target = nil
            return false
        }
        return true
    }

    /// Calls `body` for all elements at once, or for one after the other, as recorded.
    private func forEach(
        _ count: Int, _ isEach: Bool, _ body: (Range<Int>) throws(StorageError) -> Void
    ) throws(StorageError) {
        if !isEach { return try body(0..<count) }
        for index in 0..<count { try body(index..<(index + 1)) }
    }

    private func required() throws(StorageError) -> (Target, CollectionWriter) {
        guard let target else { throw .misuse(.noSuchRow) }
        return (target, transaction.collections(at: target.path))
    }

    private func find(
        _ id: TableID, _ key: RowKey, column: ColumnID, cells: Int, path: [Int]
    ) throws(StorageError) -> Target {
        let schema = transaction.view.schema
        guard let table = schema.position(of: id) else { throw .misuse(.noSuchTable) }
        guard let position = schema.tables[table].position(of: column) else { throw .misuse(.noSuchColumn) }
        guard var collection = schema.tables[table].columns[position].collection else { throw .misuse(.wrongType) }
        if !path.isEmpty {
            collection = try inner(table, key, column: position, path: path)
        }
        guard cells == (collection.isKeyed ? 2 : 1) else { throw .misuse(.wrongType) }
        return Target(table: table, key: key, column: position, path: path, collection: collection)
    }

    /// - Throws: also `misuse(.noSuchPlace)` if an element is no collection.
    private func inner(
        _ table: Int, _ key: RowKey, column: Int, path: [Int]
    ) throws(StorageError) -> CollectionColumn {
        do throws(StorageError) {
            return try CollectionReader(transaction.view, table: table, key: key, column: column, path: path).column
        } catch {
            throw error == .misuse(.wrongType) ? .misuse(.noSuchPlace) : error
        }
    }

    private func read(
        _ count: Int, _ changes: inout ChangeReader, _ collection: CollectionColumn, onlyValues: Bool
    ) throws(StorageError) -> CollectionElements {
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
