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
    let definition: ColumnDefinition
    let column: CollectionColumn
    private let nodes: TransactionNodes
    private var kept: (root: NodeReference, count: Int)
    /// It stands among those that were changed since all small ones went to their rows.
    fileprivate(set) var isChanged = false
    /// What changes it, while it is one of those that were changed last.
    private var editor: CollectionEditor<TransactionNodes>?
    /// Of one that stands in an element: in which, of which.
    let parent: (collection: OpenCollection, place: Int)?

    init(
        _ place: CollectionPlace, _ shape: CollectionShape, _ definition: ColumnDefinition, _ column: CollectionColumn,
        _ root: NodeReference, _ nodes: TransactionNodes, in parent: (collection: OpenCollection, place: Int)? = nil
    ) throws(StorageError) {
        self.parent = parent
        self.place = place
        self.shape = shape
        self.definition = definition
        self.column = column
        self.nodes = nodes
        let made = try CollectionEditor(root, shape, writing: nodes, limits: nodes.limits)
        kept = (root, made.count)
        editor = made
    }

    var root: NodeReference { editor?.root ?? kept.root }
    var count: Int { editor?.count ?? kept.count }
    var cell: CollectionCell { count == 0 ? .empty : .tree(root: root, count: count) }
    var isLinks: Bool { definition.type == .links }
    /// The places at which it stands in elements, from the row's own collection on.
    var path: [Int] { parent.map { $0.collection.path + [$0.place] } ?? [] }
    var encoder: CollectionEncoder { CollectionEncoder(column: column, isLinks: isLinks) }

    /// Nothing changes it now.
    var isResting: Bool { editor == nil }

    /// What changes it.
    @inline(__always)
    func editing() throws(StorageError) -> CollectionEditor<TransactionNodes> {
        if let editor { return editor }
        let made = try CollectionEditor(kept.root, shape, writing: nodes, limits: nodes.limits)
        editor = made
        return made
    }

    /// Lets go of what changes it, so that many of them take little memory.
    func rest() {
        kept = (root, count)
        editor = nil
    }
}

/// The collections that the open transaction has changed, until they go to their rows. The cell of each has a
/// ``CollectionCell/handle(birth:)`` meanwhile.
///
/// Guarded by the write lock.
struct OpenCollections {
    private var open: [CollectionPlace: OpenCollection] = [:]
    /// What was asked for last.
    private var last: OpenCollection?
    /// Those that take memory of their own, the one that was opened first in front.
    private var recent: [CollectionPlace] = []
    /// Those that were changed since all small ones went to their rows: no other has become small.
    private var changed: Set<CollectionPlace> = []
    /// Collections that stand in elements, each in one of the one before it, the first in one of a row's own. What
    /// leads to their roots stands in those elements after each operation.
    ///
    /// Only the last that was changed, and those around it, are known: what is done to another one, or around them, has
    /// the small ones go into their elements first. So it depends on the operations alone when they do.
    var inner: [OpenCollection] = []
    /// So many small ones stay open: each takes a page of memory.
    private static let mostRecent = 64

    var isEmpty: Bool { open.isEmpty }

    /// All of them, in an order that is the same in each run.
    var sorted: [OpenCollection] { Self.sorted(open.values) }

    private static func sorted(_ collections: some Sequence<OpenCollection>) -> [OpenCollection] {
        collections.sorted { a, b in
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

    /// Says that an open collection is about to be changed.
    @inline(__always)
    mutating func noteChange(_ collection: OpenCollection) {
        if collection.isChanged { return }
        collection.isChanged = true
        changed.insert(collection.place)
    }

    /// Those that were changed since this was asked for last, in an order that is the same in each run. A replay asks
    /// after each record: it would be slow if it were handed all that are open.
    mutating func takeChanged() -> [OpenCollection] {
        if changed.isEmpty { return [] }
        let found = changed.compactMap { open[$0] }
        for collection in found { collection.isChanged = false }
        changed = []
        return Self.sorted(found)
    }

    /// - Returns: a collection that should go to its row, if it is small, and rest if it is not.
    mutating func add(_ collection: OpenCollection) -> OpenCollection? {
        open[collection.place] = collection
        last = collection
        noteChange(collection)
        recent.append(collection.place)
        if recent.count <= Self.mostRecent { return nil }
        let oldest = recent.removeFirst()
        return oldest == collection.place ? nil : open[oldest]
    }

    mutating func remove(_ place: CollectionPlace) {
        open[place] = nil
        if inner.first?.place == place { inner = [] }
        changed.remove(place)
        if last?.place == place { last = nil }
    }

    mutating func removeAll() {
        if open.isEmpty && recent.isEmpty { return }
        open = [:]
        last = nil
        inner = []
        recent = []
        changed = []
    }
}
