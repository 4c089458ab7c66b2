/// Whether a set's elements, or a map's keys, ascend as far as storage knows their order: a tree whose elements do not
/// would be refused by whoever reads it.
struct AscendingCheck {
    private let isKeyed: Bool
    private let precedes: (Cell, Cell) -> Bool

    /// Nil where there is no order.
    init?(_ column: CollectionColumn) {
        guard column.isKeyed || column.isSorted else { return nil }
        isKeyed = column.isKeyed
        precedes = CollectionOrder.check(column)
    }

    private func ordered(_ elements: CollectionElements, _ index: Int) -> Cell {
        (isKeyed ? elements.keys : elements.values)?.cellValue(index).cell ?? .null
    }

    private func ordered(_ reader: CollectionReader, _ place: Int) throws(StorageError) -> Cell {
        let part = try reader.part(at: place)
        return isKeyed ? try part.key(at: place) : try part.value(at: place)
    }

    /// Whether elements ascend.
    func ascends(_ elements: CollectionElements) -> Bool {
        for index in 1..<max(elements.count, 1)
        where !precedes(ordered(elements, index - 1), ordered(elements, index)) {
            return false
        }
        return true
    }

    /// Whether the elements of a whole collection ascend.
    func ascends(_ payload: CollectionPayload) -> Bool {
        for place in 1..<max(payload.count, 1) {
            let before = isKeyed ? payload.key(place - 1) : payload.value(place - 1)
            if !precedes(before, isKeyed ? payload.key(place) : payload.value(place)) { return false }
        }
        return true
    }

    /// Whether a collection ascends still when elements come in the place of some of its own.
    func ascends(
        _ reader: CollectionReader, replacing range: Range<Int>, with elements: CollectionElements
    ) throws(StorageError) -> Bool {
        if elements.count == 0 { return true }
        guard ascends(elements) else { return false }
        if range.lowerBound > 0 {
            let before = try ordered(reader, range.lowerBound - 1)
            if !precedes(before, ordered(elements, 0)) { return false }
        }
        if range.upperBound < reader.count {
            let after = try ordered(reader, range.upperBound)
            if !precedes(ordered(elements, elements.count - 1), after) { return false }
        }
        return true
    }
}
