/// Sets a collection to given elements: equal elements at both ends stay, and those between are replaced.
struct CollectionAssignment {
    private let transaction: TransactionChanges
    private let path: [Int]
    private let table: Int
    private let key: RowKey
    private let column: Int
    private let wanted: CollectionElements

    /// - Parameter path: of an inner collection.
    init(
        _ transaction: TransactionChanges, path: [Int], table: Int, key: RowKey, column: Int,
        wanted: CollectionElements
    ) {
        self.path = path
        self.transaction = transaction
        self.table = table
        self.key = key
        self.column = column
        self.wanted = wanted
    }

    /// - Complexity: O(elements), to compare equal ones, plus the change itself.
    func run() throws(StorageError) {
        let reader = try CollectionReader(transaction.view, table: table, key: key, column: column, path: path)
        let most = min(reader.count, wanted.count)
        let start = try equalAtStart(reader, most)
        let end = try equalAtEnd(reader, most - start)
        var old = start..<(reader.count - end)
        var new = start..<(wanted.count - end)
        let collections = transaction.collections(at: path)
        // In a set or a map, elements replaced in place could be out of order with those that are replaced after them.
        let isList = !reader.column.isKeyed && !reader.column.isSorted
        let replaced = isList ? min(old.count, new.count) : 0
        if replaced > 0 {
            try collections.set(table, key, column: column, elements: slice(start..<(start + replaced)), at: start)
            old = (start + replaced)..<old.upperBound
            new = (start + replaced)..<new.upperBound
        }
        if !old.isEmpty { try collections.remove(table, key, column: column, range: old) }
        if !new.isEmpty { try collections.insert(table, key, column: column, elements: slice(new), at: new.lowerBound) }
        // The slices borrow their bytes from `wanted`.
        withExtendedLifetime(wanted) {}
    }

    private func slice(_ range: Range<Int>) -> CollectionElements {
        let part = CollectionElements(like: wanted)
        part.append(wanted, range)
        return part
    }

    private func equalAtStart(_ reader: CollectionReader, _ most: Int) throws(StorageError) -> Int {
        var place = 0
        try reader.forEachPart { (part) throws(StorageError) in
            while place < min(part.end, most) {
                if try !isEqual(part, place, place) { return false }
                place += 1
            }
            return place < most
        }
        return place
    }

    private func equalAtEnd(_ reader: CollectionReader, _ most: Int) throws(StorageError) -> Int {
        var equal = 0
        while equal < most {
            let part = try reader.part(at: reader.count - 1 - equal)
            while equal < most, reader.count - 1 - equal >= part.first {
                if try !isEqual(part, reader.count - 1 - equal, wanted.count - 1 - equal) { return equal }
                equal += 1
            }
        }
        return equal
    }

    private func isEqual(_ part: CollectionPart, _ place: Int, _ index: Int) throws(StorageError) -> Bool {
        if let keys = wanted.keys, try !part.key(at: place).isSame(as: keys.cellValue(index).cell) { return false }
        if part.isTree(at: place) { return false }
        return try part.value(at: place).isSame(as: wanted.values.cellValue(index).cell)
    }
}

extension Cell {
    /// Whether both are the same value; doubles compare bitwise.
    fileprivate func isSame(as other: Cell) -> Bool {
        guard kind == other.kind, bits == other.bits else { return false }
        return kind != .bytes || bytesValue.elementsEqual(other.bytesValue)
    }
}
