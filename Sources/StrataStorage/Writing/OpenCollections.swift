/// Which collection: by ids, which a change of the schema does not move.
struct CollectionPlace: Hashable {
    var table: TableID
    var key: Int64
    var column: ColumnID
}

/// A collection that the open transaction has changed. Its tree stands where nothing leads to it but this.
final class OpenCollection {
    let place: CollectionPlace
    let shape: CollectionShape
    let column: CollectionColumn
    let isLinks: Bool
    let editor: CollectionEditor<TransactionNodes>

    init(
        _ place: CollectionPlace, _ shape: CollectionShape, _ column: CollectionColumn, isLinks: Bool,
        _ editor: CollectionEditor<TransactionNodes>
    ) {
        self.place = place
        self.shape = shape
        self.column = column
        self.isLinks = isLinks
        self.editor = editor
    }

    var cell: CollectionCell { editor.count == 0 ? .empty : .tree(root: editor.root, count: editor.count) }
}

/// The collections that the open transaction has changed, until they go to their rows. The cell of each has a
/// ``CollectionCell/handle(birth:)`` meanwhile.
///
/// Guarded by the write lock.
struct OpenCollections {
    private var open: [CollectionPlace: OpenCollection] = [:]
    /// What was asked for last.
    private var last: OpenCollection?
    /// Those that may be small, the one that was opened first in front.
    private var recent: [CollectionPlace] = []
    /// So many small ones stay open: each takes a page of memory.
    private static let mostRecent = 64

    var isEmpty: Bool { open.isEmpty }

    /// All of them, in an order that is the same in each run.
    var sorted: [OpenCollection] {
        open.values.sorted { a, b in
            let (a, b) = (a.place, b.place)
            if a.table != b.table { return a.table < b.table }
            return a.key != b.key ? a.key < b.key : a.column < b.column
        }
    }

    @inline(__always)
    mutating func find(_ place: CollectionPlace) -> OpenCollection? {
        if let last, last.place == place { return last }
        guard let found = open[place] else { return nil }
        last = found
        return found
    }

    /// - Returns: a collection that should go to its row, if it is small, before there are too many.
    mutating func add(_ collection: OpenCollection) -> OpenCollection? {
        open[collection.place] = collection
        last = collection
        recent.append(collection.place)
        if recent.count <= Self.mostRecent { return nil }
        return open[recent.removeFirst()]
    }

    mutating func remove(_ place: CollectionPlace) {
        open[place] = nil
        if last?.place == place { last = nil }
    }

    mutating func removeAll() {
        if open.isEmpty && recent.isEmpty { return }
        open = [:]
        last = nil
        recent = []
    }
}
