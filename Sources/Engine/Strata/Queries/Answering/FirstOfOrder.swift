import StrataStorage

/// Finds the first rows of an order without sorting all: one pass over the first property of the order keeps the rows
/// that may be among them, and these few are sorted.
struct FirstOfOrder {
    private let instance: RealmInstance
    private let access: ClassAccess
    /// In the sequence in which they are applied.
    private let sorts: [[SortDescriptor]]
    private let first: SortDescriptor
    private let reader: ColumnReader
    private let column: Int
    private let type: ColumnType

    /// Nil if values of the first property do not compare as numbers or as bytes, or if it is behind a link.
    init?(_ source: ObjectSource, _ sorts: [[SortDescriptor]]) {
        guard let first = sorts.last?.first,
            let reader = ColumnReader.ofSort(source.instance, source.access, first),
            let property = reader.path.ownStep?.property, !property.isCollection
        else { return nil }
        switch property.tag.columnType {
        case .integer, .double, .link: break
        case .bytes:
            guard !property.tag.comparesByItself, case .scalars = first.order.kind else { return nil }
        case .links: return nil
        }
        instance = source.instance
        access = source.access
        self.sorts = sorts
        self.first = first
        self.reader = reader
        column = property.column
        type = property.tag.columnType
    }

    /// The first `most` rows of the class.
    /// - Returns: nil if too many rows are equal in the first property while others decide.
    func keys(_ most: Int, _ view: ReadView) throws(StorageError) -> [Int64]? {
        guard column >= 0 else { return nil }
        var best = makeBest(most)
        try view.scan(access.table, columns: [column]) { (batch) throws(StorageError) in
            add(batch, to: &best)
            return !best.isLost
        }
        return try sorted(&best, most, view)
    }

    /// The first `most` of some rows, whose keys ascend.
    func keys(_ most: Int, of keys: [Int64], _ view: ReadView) throws(StorageError) -> [Int64]? {
        var best = makeBest(most)
        var place = 0
        try reader.forEach(keys, view) { value in
            let key = keys[place]
            place += 1
            switch value {
            case .null: best.addNull(key)
            case .integer(let value): best.add(value, key)
            case .double(let value): best.add(value, key)
            case .bytes(let bytes): best.add(bytes, key)
            // Of another type than the property has.
            case .other: best.addNull(key)
            }
        }
        return try sorted(&best, most, view)
    }

    /// Sorts some rows, whose keys ascend.
    func sorted(_ keys: [Int64], _ view: ReadView) throws(StorageError) -> [Int64] {
        var keys = keys
        for descriptors in sorts { keys = try RowSort(instance, access, descriptors).sorted(keys, view) }
        return keys
    }

    private func makeBest(_ most: Int) -> BestRows {
        let isAlone = sorts.count == 1 && sorts[0].count == 1
        return BestRows(most, ascending: first.ascending, keepsTies: !isAlone)
    }

    private func sorted(_ best: inout BestRows, _ most: Int, _ view: ReadView) throws(StorageError) -> [Int64]? {
        let keys = best.keys()
        return best.isLost ? nil : Array(try sorted(keys, view).prefix(most))
    }

    private func add(_ batch: RowBatch, to best: inout BestRows) {
        let keys = batch.keys
        let mayHaveNulls = batch.mayHaveNulls(0)
        switch type {
        case .integer, .link:
            let values = batch.integers(0)
            for row in 0..<batch.count {
                if mayHaveNulls && batch.isNull(0, row) {
                    best.addNull(keys[row])
                } else {
                    best.add(values[row], keys[row])
                }
            }
        case .double:
            let values = batch.doubles(0)
            for row in 0..<batch.count {
                if mayHaveNulls && batch.isNull(0, row) {
                    best.addNull(keys[row])
                } else {
                    best.add(values[row], keys[row])
                }
            }
        case .bytes, .links:
            for row in 0..<batch.count {
                if mayHaveNulls && batch.isNull(0, row) {
                    best.addNull(keys[row])
                } else {
                    best.add(batch.bytes(0, row), keys[row])
                }
            }
        }
    }
}
