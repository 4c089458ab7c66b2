/// Adjacent elements: those of a leaf, or all of a collection that is stored in its row.
///
/// Borrowed from the version, or from the open transaction until its next change.
package struct CollectionPart {
    enum Source {
        case leaf(CollectionLeaf, PageReader)
        case payload(CollectionPayload)
    }

    let source: Source
    /// The place of the first element.
    package let first: Int
    package let count: Int

    @inline(__always) package var end: Int { first + count }

    /// Whether values may lie in a range, judged by the base and width of their encoding.
    func mayHaveIntegers(_ range: ClosedRange<Int64>) -> Bool {
        guard case .leaf(let leaf, _) = source else { return true }
        return leaf.values.mayHave(range)
    }

    /// Calls `body` with the values that are integers, and their places.
    @inline(__always)
    func forEachInteger(_ body: (_ place: Int, _ value: Int64) -> Void) {
        switch source {
        case .leaf(let leaf, _):
            let values = leaf.values
            guard values.kind == .integer else { return }
            for slot in 0..<count where !values.isNull(slot) { body(first + slot, values.integer(slot)) }
        case .payload(let payload):
            for place in 0..<count {
                let value = payload.value(place)
                if value.kind == .integer { body(first + place, value.integerValue) }
            }
        }
    }

    /// The descriptor of an inner collection that is a tree; nil for any other value.
    func tree(at place: Int) -> LongValue? {
        precondition(place >= first && place < end, "no such place")
        guard case .leaf(let leaf, _) = source, leaf.flags & CollectionLeaf.hasTrees != 0,
            let long = leaf.values.cellValue(place - first).long, long.isTree
        else { return nil }
        return long
    }

    /// Whether the element is an inner collection with a tree, which ``CollectionReader/nested(at:)`` reads.
    package func isTree(at place: Int) -> Bool { tree(at: place) != nil }

    /// The element at a place, or a map's value.
    /// - Throws: `corrupt` if its own node does not verify; `misuse(.wrongType)` if it is an inner collection with a
    ///   tree.
    package func value(at place: Int) throws(StorageError) -> Cell {
        precondition(place >= first && place < end, "no such place")
        switch source {
        case .leaf(let leaf, let reader): return try CollectionTree.element(leaf.values, place - first, reader)
        case .payload(let payload): return payload.value(place - first)
        }
    }

    /// The key at a place of a map; null for others.
    package func key(at place: Int) throws(StorageError) -> Cell {
        precondition(place >= first && place < end, "no such place")
        switch source {
        case .leaf(let leaf, let reader):
            return try leaf.keys.map { (keys) throws(StorageError) in
                try CollectionTree.element(keys, place - first, reader)
            } ?? .null
        case .payload(let payload): return payload.key(place - first)
        }
    }
}

/// Reads one collection: a value of its owner's row, or a tree of elements.
///
/// In a transaction's view it is a snapshot: the next change of the collection invalidates it.
package struct CollectionReader {
    package let cell: CollectionCell
    /// Type of the elements.
    package let column: CollectionColumn
    let shape: CollectionShape
    let reader: PageReader
    /// Whether it is a map, or a set whose order storage knows: elements, or keys, ascend by ``CollectionOrder``.
    let isOrdered: Bool
    /// The collection's bytes, if it is stored in the row.
    let payload: CollectionPayload?
    package let count: Int

    /// - Throws: `misuse` with `noSuchColumn`, `wrongType` if the column has no collections, or `noSuchRow`; `corrupt`
    ///   if the value does not have the column's layout.
    package init(_ view: ReadView, table: Int, key: RowKey, column: Int) throws(StorageError) {
        let shape = try view.collectionShape(table, key, column)
        let cell = try view.collectionCell(table, key, column)
        try self.init(
            cell, shape: shape, definition: view.state.schema.tables[table].columns[column], reader: view.reader)
    }

    /// - Parameter cell: of this row and column.
    init(_ cell: CollectionCell, in view: ReadView, table: Int, key: RowKey, column: Int) throws(StorageError) {
        let shape = try view.collectionShape(table, key, column)
        try self.init(
            cell, shape: shape, definition: view.state.schema.tables[table].columns[column], reader: view.reader)
    }

    /// - Throws: `corrupt` if the value does not have the column's layout.
    init(
        _ cell: CollectionCell, shape: CollectionShape, definition: ColumnDefinition, reader: PageReader
    ) throws(StorageError) {
        guard let column = definition.collection else { throw .misuse(.wrongType) }
        try self.init(cell, shape: shape, column: column, isLinks: definition.type == .links, reader: reader)
    }

    /// Reads the collection of a located row.
    /// - Parameters:
    ///   - key: the row's.
    ///   - collection: the column's kind of collection, for a column that no version has declared.
    ///   - isLinks: whether elements are keys of rows.
    /// - Throws: `corrupt` if the value does not have that layout.
    package init(
        _ view: ReadView, row: RowLocation, key: RowKey, column: Int, as collection: CollectionColumn,
        isLinks: Bool
    ) throws(StorageError) {
        let cell = try view.collectionCell(row, key, column)
        let layout = view.state.layouts[Int(row.table)]
        let shape = CollectionShape(
            collection, table: layout.table, column: layout.ids[column + RowSet.firstUserColumn], owner: key.rawValue)
        try self.init(cell, shape: shape, column: collection, isLinks: isLinks, reader: view.reader)
    }

    init(
        _ cell: CollectionCell, shape: CollectionShape, column: CollectionColumn, isLinks: Bool,
        reader: PageReader
    ) throws(StorageError) {
        self.cell = cell
        self.column = column
        self.shape = shape
        self.reader = reader
        isOrdered = column.isKeyed || column.isSorted && !column.isOrderedElsewhere
        switch cell {
        case .empty: (payload, count) = (nil, 0)
        case .tree(_, let elements): (payload, count) = (nil, elements)
        case .encoded(let bytes):
            guard let found = CollectionPayload(bytes, column, isLinks: isLinks) else {
                throw bytes.baseAddress.map(reader.damage) ?? .structure(.null)
            }
            (payload, count) = (found, found.count)
        }
    }

    /// - Parameter path: places of the elements that the collection is nested in, from the outside.
    /// - Throws: as ``init(_:table:key:column:)``; `misuse` with `noSuchPlace`, or `wrongType` for no collection there.
    package init(_ view: ReadView, table: Int, key: RowKey, column: Int, path: [Int]) throws(StorageError) {
        var reader = try CollectionReader(view, table: table, key: key, column: column)
        for place in path {
            guard let inner = try reader.nested(at: place) else { throw .misuse(.wrongType) }
            reader = inner
        }
        self = reader
    }

    /// Reads a list or a map that is a row's value of any type; nil for another value.
    /// - Parameter value: of a row, borrowed from the version.
    /// - Throws: `corrupt` if it does not have the layout.
    package init?(_ view: ReadView, value: UnsafeRawBufferPointer) throws(StorageError) {
        guard let (isKeyed, encoded) = NestedCollection.parse(value) else { return nil }
        let column = CollectionColumn.nested(isKeyed: isKeyed)
        let shape = try CollectionShape(column, table: 0, column: 0, owner: 0).nested(isKeyed: isKeyed)
        let cell: CollectionCell = encoded.isEmpty ? .empty : .encoded(encoded)
        try self.init(cell, shape: shape, column: column, isLinks: false, reader: view.reader)
    }

    /// The inner collection at a place; nil for another value.
    /// - Throws: `misuse(.noSuchPlace)`; `corrupt`.
    /// - Complexity: O(log count).
    package func nested(at place: Int) throws(StorageError) -> CollectionReader? {
        guard column.takesNested else { return nil }
        let part = try part(at: place)
        if let tree = part.tree(at: place) { return try nested(tree) }
        let value = try part.value(at: place)
        return value.kind == .bytes ? try nested(value.bytesValue) : nil
    }

    /// - Parameter tree: descriptor of an inner collection's tree.
    func nested(_ tree: LongValue) throws(StorageError) -> CollectionReader {
        guard column.takesNested else { throw .structure(tree.reference) }
        try tree.checkCount(reader)
        let isKeyed = try NestedCollection.isKeyed(tree.reference, reader)
        return try CollectionReader(
            .tree(root: tree.reference, count: Int(clamping: tree.count)),
            shape: shape.nested(isKeyed: isKeyed, in: tree.reference), column: .nested(isKeyed: isKeyed),
            isLinks: false, reader: reader)
    }

    /// - Parameter bytes: of an element.
    func nested(_ bytes: UnsafeRawBufferPointer) throws(StorageError) -> CollectionReader? {
        guard column.takesNested, let (isKeyed, encoded) = NestedCollection.parse(bytes) else { return nil }
        return try CollectionReader(
            encoded.isEmpty ? .empty : .encoded(encoded), shape: shape.nested(isKeyed: isKeyed),
            column: .nested(isKeyed: isKeyed), isLinks: false, reader: reader)
    }

    /// The root of the collection's tree; nil if it has none.
    var root: NodeReference? {
        guard case .tree(let root, _) = cell else { return nil }
        return root
    }

    /// The part that contains a place.
    /// - Throws: `misuse(.noSuchPlace)`; `corrupt`.
    /// - Complexity: O(log count).
    package func part(at place: Int) throws(StorageError) -> CollectionPart {
        guard place >= 0, place < count else { throw .misuse(.noSuchPlace) }
        if let payload { return CollectionPart(source: .payload(payload), first: 0, count: count) }
        guard case .tree(let root, _) = cell else { throw .misuse(.noSuchPlace) }
        return part(try CollectionTree.run(at: place, in: root, shape, of: count, reading: reader))
    }

    /// Calls `body`, which must not change the collection, with all elements from a place on, until it returns false.
    /// Throws as ``confirm()`` if `body` may have read a lost page: its results mean nothing then.
    package func forEachPart(
        from place: Int = 0, _ body: (CollectionPart) throws(StorageError) -> Bool
    ) throws(StorageError) {
        switch cell {
        case .empty: return
        case .encoded:
            guard place < count else { return }
            _ = try body(try part(at: place))
            try confirm()
        case .tree(let root, _):
            try CollectionTree.forEachRun(
                from: place, in: root, shape, of: count, reading: reader
            ) { (run) throws(StorageError) in
                let goesOn = try body(part(run))
                try confirm()
                return goesOn
            }
        }
    }

    /// As ``ReadView/confirm()``: callers that read borrowed elements call this before they use the result.
    @inline(__always)
    package func confirm() throws(StorageError) { try reader.confirm() }

    /// The place of the first element of a set, or key of a map, that does not precede the one sought.
    /// - Parameter precedes: whether an element precedes the one sought.
    /// - Complexity: O(log count).
    package func find(
        _ wanted: Cell, precedes: (Cell) throws(StorageError) -> Bool
    ) throws(StorageError) -> Int {
        if case .tree(let root, _) = cell {
            let place = try CollectionTree.find(
                shape.orderKey(wanted), in: root, shape, reading: reader, precedes: precedes)
            try confirm()
            return place
        }
        guard let payload else { return 0 }
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) >> 1
            let cell = shape.form == .map ? payload.key(middle) : payload.value(middle)
            if try precedes(cell) { low = middle + 1 } else { high = middle }
        }
        try confirm()
        return low
    }

    /// Copies of all elements, for another collection of the kind.
    /// - Complexity: O(elements and their bytes).
    package func elements() throws(StorageError) -> CollectionElements {
        let made = CollectionElements(shape)
        try forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                let value = try part.value(at: place)
                if shape.form == .map { made.append(key: try part.key(at: place), value) } else { made.append(value) }
            }
            return true
        }
        try reader.confirm()
        return made
    }

    /// Whether both hold the same elements in the same order. The other may be of another version.
    /// - Complexity: O(1) for one tree; O(leaves) for two that share their leaves; else O(elements).
    package func isSame(as other: CollectionReader) throws(StorageError) -> Bool {
        try CollectionComparison(earlier: self, later: other).isEqual()
    }

    private func part(_ run: CollectionRun) -> CollectionPart {
        CollectionPart(source: .leaf(run.leaf, reader), first: run.first, count: run.leaf.count)
    }
}

extension ReadView {
    /// - Throws: `misuse` with `noSuchTable`, `noSuchColumn`, or `wrongType` if the column has no collections.
    func collectionShape(
        _ table: Int, _ key: RowKey, _ column: Int
    ) throws(StorageError) -> CollectionShape {
        guard state.schema.tables.indices.contains(table) else { throw .misuse(.noSuchTable) }
        let definition = state.schema.tables[table]
        guard definition.columns.indices.contains(column) else { throw .misuse(.noSuchColumn) }
        guard
            let shape = CollectionShape(
                definition.columns[column], table: definition.id.rawValue, owner: key.rawValue)
        else { throw .misuse(.wrongType) }
        return shape
    }

    /// The current collection of a row, with the open transaction's changes.
    /// - Throws: `misuse(.noSuchRow)`.
    func collectionCell(_ table: Int, _ key: RowKey, _ column: Int) throws(StorageError) -> CollectionCell {
        if let open = heldBack?.openCollection(table, key, column: column) { return open }
        guard let row = try locate(table, key) else { throw .misuse(.noSuchRow) }
        return try collectionCell(row, column)
    }

    /// As ``collectionCell(_:_:_:)``, for a located row.
    @inline(__always)
    func collectionCell(
        _ row: RowLocation, _ key: RowKey, _ column: Int
    ) throws(StorageError) -> CollectionCell {
        let cell = try collectionCell(row, column)
        // The cell of an open collection holds a handle.
        guard case .tree = cell, let open = heldBack?.openCollection(Int(row.table), key, column: column) else {
            return cell
        }
        return open
    }

    /// Whether the transaction has open collections, which filters cannot read.
    package var hasOpenCollections: Bool { heldBack?.hasOpenCollections ?? false }

    /// Number of links from one row to another by a link column of `table`, to which the first row belongs.
    /// - Complexity: O(log links).
    package func linkCount(
        from origin: RowKey, to key: RowKey, of table: Int, _ column: Int
    ) throws(StorageError) -> Int {
        try prepareEntries(table)
        guard let root = entryRoot(table, column, .backlinks) else { return 0 }
        var total = 0
        try EntryTree.forEach(
            in: root, from: (key.rawValue, origin.rawValue), through: (key.rawValue, origin.rawValue), reading: reader
        ) { (_, _, count) throws(StorageError) in
            total += Int(count)
            return true
        }
        try reader.confirm()
        return total
    }

    /// The content of a row's cell; in a transaction's view, for a changed collection, its handle.
    func collectionCell(_ row: RowLocation, _ column: Int) throws(StorageError) -> CollectionCell {
        guard let position = try position(row, column) else {
            try confirm()
            return .empty
        }
        let (segment, index) = try Group(row.group).value(position, at: row.slot, kind: .bytes, from: reader)
        let cell = try CollectionCell(segment, index, reader)
        try reader.confirm()
        return cell
    }
}

extension CollectionMatcher {
    /// - Parameters:
    ///   - collection: the column's kind of collection.
    ///   - isLinks: whether elements are keys of rows.
    ///   - holds: whether a collection matches.
    package convenience init(
        _ collection: CollectionColumn, isLinks: Bool,
        _ holds: @escaping @Sendable (CollectionReader) throws(StorageError) -> Bool
    ) {
        self.init { (bytes, isLong, column, reader) throws(StorageError) in
            // A filter does not know which row a cell belongs to.
            var shape = CollectionShape(collection, table: 0, column: column, owner: 0)
            shape.isAnyones = true
            let cell: CollectionCell =
                if isLong { try CollectionCell.long(bytes, reader) } else { bytes.isEmpty ? .empty : .encoded(bytes) }
            return try holds(CollectionReader(cell, shape: shape, column: collection, isLinks: isLinks, reader: reader))
        }
    }
}

extension CollectionReader {
    /// Calls `body` with the readable elements, part by part and in order, and skips nodes that cannot be read.
    /// - Parameter failed: called once for each unreadable node.
    package func forEachReadablePart(
        from place: Int = 0, _ body: (CollectionPart) -> Void, failed: (StorageError) -> Void
    ) {
        guard case .tree(let root, _) = cell else {
            do throws(StorageError) { if place < count { body(try part(at: place)) } } catch { failed(error) }
            return
        }
        CollectionTree.forEachReadableRun(
            from: place, in: root, shape, of: count, reading: reader, { body(part($0)) }, failed: failed)
    }
}
