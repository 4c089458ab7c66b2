import StrataStorage

/// Walks the elements that a list or a set has at the moment when the walk begins.
public struct ColumnIterator<Element: RealmCollectionValue>: IteratorProtocol {
    /// Of a managed collection. It keeps the owner, and so the Realm, alive.
    private let column: _CollectionColumn?
    private let context: _ElementContext
    /// One of the three is walked: rows, other values, elements of an unmanaged collection.
    private var keys: [Int64] = []
    private var values: [_StoredValue] = []
    private var unmanaged: [Element] = []
    private var place = 0

    init(_ column: _CollectionColumn) {
        self.column = column
        context = column.context
        if column.leadsToObjects { keys = column.keys } else { values = column.contents.values }
    }

    init(_ unmanaged: [Element]) {
        column = nil
        context = .unmanaged
        self.unmanaged = unmanaged
    }

    public mutating func next() -> Element? {
        defer { place += 1 }
        if place < keys.count { return element(.link(keys[place])) }
        if place < values.count { return element(values[place]) }
        return place < unmanaged.count ? unmanaged[place] : nil
    }

    private func element(_ value: _StoredValue) -> Element {
        Element._decodeElement(value, context) ?? Element._substituteElement(context)
    }
}
