/// Identifies a collection by ids, which a change of the schema does not affect.
struct CollectionPlace: Hashable {
    var table: TableID
    var key: Int64
    var column: ColumnID
}

/// A collection that the open transaction has changed. Only this object references its tree.
final class OpenCollection {
    let place: CollectionPlace
    let shape: CollectionShape
    let definition: ColumnDefinition
    let column: CollectionColumn
    private let nodes: TransactionNodes
    private var kept: (root: NodeReference, count: Int)
    /// Whether it was changed since small collections were last stored in their rows.
    fileprivate(set) var isChanged = false
    /// Its editor; nil while it rests, because many other collections were opened after it.
    private var editor: CollectionEditor<TransactionNodes>?
    /// For an inner collection, the collection around it, and the place of the element that contains it.
    let parent: (collection: OpenCollection, place: Int)?

    init(
        _ place: CollectionPlace, shape: CollectionShape, definition: ColumnDefinition, column: CollectionColumn,
        root: NodeReference, nodes: TransactionNodes, in parent: (collection: OpenCollection, place: Int)? = nil
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
    /// Places of the elements around it, from the outside.
    var path: [Int] { parent.map { $0.collection.path + [$0.place] } ?? [] }
    var encoder: CollectionEncoder { CollectionEncoder(column: column, isLinks: isLinks) }

    /// Whether it has no editor.
    var isResting: Bool { editor == nil }

    /// Its editor.
    @inline(__always)
    func editing() throws(StorageError) -> CollectionEditor<TransactionNodes> {
        if let editor { return editor }
        let made = try CollectionEditor(kept.root, shape, writing: nodes, limits: nodes.limits)
        editor = made
        return made
    }

    /// Releases the editor, so that many open collections take little memory.
    func rest() {
        kept = (root, count)
        editor = nil
    }
}

/// The collections that the open transaction has changed, until they are stored in their rows. Meanwhile the cell of
/// each has a ``CollectionCell/handle(birth:)``.
///
/// Guarded by the write gate.
struct OpenCollections {
    private var open: [CollectionPlace: OpenCollection] = [:]
    /// The last one that was requested.
    private var last: OpenCollection?
    /// Collections with an editor, in the order of opening.
    private var recent: [CollectionPlace] = []
    /// Collections that were changed since small ones were last stored in their rows. Only these can have become small.
    private var changed: Set<CollectionPlace> = []
    /// Inner collections, each in an element of the one before it, the first in a row's own. After each operation their
    /// elements reference their current roots.
    ///
    /// Only the one that was changed last, and those around it, are kept. Before an operation on another collection,
    /// those that do not contain it are closed, and small ones are stored in their elements. So the moment of storing
    /// depends on the operations alone, and a replay stores at the same moment.
    var inner: [OpenCollection] = []
    /// Most open collections that have an editor, which takes a page of memory.
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

    /// Notes that an open collection is about to change.
    @inline(__always)
    mutating func noteChange(_ collection: OpenCollection) {
        if collection.isChanged { return }
        collection.isChanged = true
        changed.insert(collection.place)
    }

    /// The collections changed since the last call, in an order that is the same in each run. A replay calls this after
    /// each record, so its cost must not depend on the number of all open collections.
    mutating func takeChanged() -> [OpenCollection] {
        if changed.isEmpty { return [] }
        let found = changed.compactMap { open[$0] }
        for collection in found { collection.isChanged = false }
        changed = []
        return Self.sorted(found)
    }

    /// Adds a collection that has an editor.
    /// - Returns: the collection that was opened first of too many with an editor: the caller stores it in its row if
    ///   it is small, else has it rest.
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
