import Platform

/// The order of a set's elements and of a map's keys, as far as storage knows it.
enum CollectionOrder {
    /// Null is first, NaN is before all numbers; texts and data are ordered bytewise.
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

    /// The order of a column's sets, or of the keys of its maps, as far as a check can verify it. If the application
    /// defines the order, a check can verify only that null comes first, and once.
    static func check(_ column: CollectionColumn) -> (Cell, Cell) -> Bool {
        if column.isOrderedElsewhere && column.isSorted { return { _, later in !later.isNull } }
        return precedes
    }
}

/// Checks that a set's elements, or a map's keys, ascend, as far as storage knows their order. A transaction refuses to
/// write elements that do not ascend, and a check of the store reports stored ones.
package struct AscendingCheck {
    let isKeyed: Bool
    let precedes: (Cell, Cell) -> Bool

    /// Nil if there is no order.
    package init?(_ column: CollectionColumn) {
        guard column.isKeyed || column.isSorted else { return nil }
        isKeyed = column.isKeyed
        precedes = CollectionOrder.check(column)
    }

    /// The ordered part of an element.
    func ordered(_ elements: CollectionElements, _ index: Int) -> Cell {
        (isKeyed ? elements.keys : elements.values)?.cellValue(index).cell ?? .null
    }

    /// Whether elements ascend.
    /// - Complexity: O(count).
    func ascends(_ elements: CollectionElements) -> Bool { ascends(elements.count) { ordered(elements, $0) } }

    /// Whether the elements of a whole collection ascend.
    /// - Complexity: O(count).
    package func ascends(_ payload: CollectionPayload) -> Bool {
        ascends(payload.count) { isKeyed ? payload.key($0) : payload.value($0) }
    }

    private func ascends(_ count: Int, _ ordered: (Int) -> Cell) -> Bool {
        for place in 1..<max(count, 1) where !precedes(ordered(place - 1), ordered(place)) { return false }
        return true
    }
}
