/// Sorts the elements of a set, or the keys of a map, and removes duplicates. A salvage needs this after it has
/// replayed a log, whose operations name places, on the remains of a collection.
struct CollectionOrdering {
    private let transaction: TransactionChanges
    private let table: Int
    private let key: RowKey
    private let column: Int

    /// - Parameter column: one of collections.
    init(_ transaction: TransactionChanges, table: Int, key: RowKey, column: Int) {
        self.transaction = transaction
        self.table = table
        self.key = key
        self.column = column
    }

    /// - Parameter isPreferred: chooses the element that stays among equal ones; without a preference the first one.
    /// - Returns: the number of elements by now, and of removed ones; nil if there was no change.
    /// - Complexity: O(elements); memory for all of them if there is a change.
    func run(_ isPreferred: (_ place: Int) -> Bool) throws(StorageError) -> (count: Int, leftOut: Int)? {
        let reader = try CollectionReader(transaction.view, table: table, key: key, column: column)
        if try isInOrder(reader) { return nil }
        let (elements, leftOut) = try ordered(reader, isPreferred)
        let definition = transaction.view.schema.tables[table].columns[column]
        let encoder = CollectionEncoder(column: reader.column, isLinks: definition.type == .links)
        var failure: StorageError?
        Cell.withCopy(of: encoder.encode(elements)) { cell in
            do throws(StorageError) {
                try transaction.set(table, key, column: column, to: cell)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return (elements.count, leftOut)
    }

    private func isInOrder(_ reader: CollectionReader) throws(StorageError) -> Bool {
        let order = AscendingCheck(reader.column)
        if order == nil && !reader.column.takesNested { return true }
        var isRight = true
        var last: Cell?
        try reader.forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                if let order {
                    let element = order.isKeyed ? try part.key(at: place) : try part.value(at: place)
                    if let last, !order.precedes(last, element) { isRight = false }
                    last = element
                }
                if isRight, let inner = try nested(reader, part, place) { isRight = try isInOrder(inner) }
                if !isRight { return false }
            }
            return true
        }
        return isRight
    }

    private func nested(
        _ reader: CollectionReader, _ part: CollectionPart, _ place: Int
    ) throws(StorageError) -> CollectionReader? {
        guard reader.column.takesNested else { return nil }
        if let tree = part.tree(at: place) { return try reader.nested(tree) }
        let value = try part.value(at: place)
        return value.kind == .bytes ? try reader.nested(value.bytesValue) : nil
    }

    /// Copies of the elements that stay, each once, with their inner collections sorted.
    private func ordered(
        _ reader: CollectionReader, _ isPreferred: (Int) -> Bool
    ) throws(StorageError) -> (elements: CollectionElements, leftOut: Int) {
        let all = CollectionElements(reader.column)
        var leftOut = 0
        try reader.forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                let key = try part.key(at: place)
                guard let inner = try nested(reader, part, place) else {
                    all.append(key: key, try part.value(at: place))
                    continue
                }
                let (elements, without) = try ordered(inner) { _ in false }
                leftOut += without
                let type = inner.column.isKeyed ? NestedCollection.mapType : NestedCollection.listType
                let encoded = CollectionEncoder(column: inner.column, isLinks: false).encode(elements)
                Cell.withCopy(of: [type] + encoded) { all.append(key: key, $0) }
            }
            return true
        }
        guard let order = AscendingCheck(reader.column) else { return (all, leftOut) }
        let places = Self.places(all, order: order, column: reader.column, isPreferred: isPreferred)
        let kept = CollectionElements(like: all)
        for place in places {
            kept.append(key: all.keys?.cellValue(place).cell ?? .null, all.values.cellValue(place).cell)
        }
        return (kept, leftOut + all.count - places.count)
    }

    /// The places of the elements that stay, in order.
    private static func places(
        _ all: CollectionElements, order: AscendingCheck, column: CollectionColumn, isPreferred: (Int) -> Bool
    ) -> [Int] {
        func element(_ place: Int) -> Cell { order.ordered(all, place) }
        let places: [Int]
        if column.isOrderedElsewhere && !column.isKeyed {
            // If the application defines the order, storage knows only that null comes first.
            places = (0..<all.count).filter { element($0).isNull } + (0..<all.count).filter { !element($0).isNull }
        } else {
            // Equal elements keep their order.
            places = (0..<all.count).sorted { a, b in
                if order.precedes(element(a), element(b)) { return true }
                return !order.precedes(element(b), element(a)) && a < b
            }
        }
        var kept: [Int] = []
        for place in places {
            guard let last = kept.last, !order.precedes(element(last), element(place)) else {
                kept.append(place)
                continue
            }
            if isPreferred(place) && !isPreferred(last) { kept[kept.count - 1] = place }
        }
        return kept
    }
}
