#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The order of a set's elements and of a map's keys, as far as storage knows it.
enum CollectionOrder {
    /// Null before all, NaN before all numbers; texts and data by their bytes.
    static func precedes(_ a: Cell, _ b: Cell) -> Bool {
        if a.isNull || b.isNull { return a.isNull && !b.isNull }
        switch (a.kind, b.kind) {
        case (.integer, .integer): return a.integerValue < b.integerValue
        case (.double, .double):
            return a.doubleValue.isNaN ? !b.doubleValue.isNaN : a.doubleValue < b.doubleValue
        case (.bytes, .bytes):
            let (a, b) = (a.bytesValue, b.bytesValue)
            guard let first = a.baseAddress, let second = b.baseAddress else { return a.count < b.count }
            let order = memcmp(first, second, min(a.count, b.count))
            return order == 0 ? a.count < b.count : order < 0
        default: return false
        }
    }

    /// What a check holds the elements of a column's sets, or the keys of its maps, against. Of those that are in an
    /// order of the application's, no more is known than that null comes first, and once.
    static func check(_ column: CollectionColumn) -> (Cell, Cell) -> Bool {
        if column.element == .opaque && column.isSorted { return { _, later in !later.isNull } }
        return precedes
    }
}

extension CollectionPayload {
    /// Whether the elements of a set, or the keys of a map, ascend.
    /// - Complexity: O(count).
    package func isInOrder(_ column: CollectionColumn) -> Bool {
        guard column.isSorted || column.isKeyed, count > 1 else { return true }
        let precedes = CollectionOrder.check(column)
        func ordered(_ place: Int) -> Cell { column.isKeyed ? key(place) : value(place) }
        return (1..<count).allSatisfy { precedes(ordered($0 - 1), ordered($0)) }
    }
}
