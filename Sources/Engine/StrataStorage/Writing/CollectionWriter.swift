/// Changes collections in the open transaction: a row's own, and inner ones.
///
/// ``CollectionOpening`` says where changed collections are until the commit.
package struct CollectionWriter {
    private let transaction: TransactionChanges
    /// Places of the elements around the collection, from the outside; empty for a row's own.
    private let path: [Int]
    private let opening: CollectionOpening
    private var view: ReadView { transaction.view }
    private var workspace: WriterWorkspace { transaction.workspace }
    private var nodes: TransactionNodes { transaction.nodes }

    init(_ transaction: TransactionChanges, _ path: [Int] = []) {
        self.transaction = transaction
        self.path = path
        opening = CollectionOpening(transaction, path)
    }

    // MARK: Elements

    /// Performs one operation: checks the transaction, makes a guest claim ownership first if the elements require it,
    /// and spills nodes afterwards if they take too much memory.
    private func perform(
        on table: Int, adding elements: CollectionElements? = nil, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        try transaction.check(table)
        if let elements {
            if transaction.lentTurn != nil { try transaction.prepareAsGuest(elements) }
            nodes.usesReserve = false
        }
        do throws(StorageError) {
            try body()
            try transaction.spillIfLarge()
        } catch {
            throw transaction.noted(error)
        }
    }

    /// Checks that elements have the type of the column.
    /// - Returns: the column's kind of collection.
    @discardableResult
    private func check(
        _ elements: CollectionElements, table: Int, key: RowKey, column: Int, onlyValues: Bool
    ) throws(StorageError) -> CollectionColumn {
        let collection = try opening.elementColumn(table, key, column)
        let columns = transaction.plans[table].columns
        guard elements.suits(collection, onlyValues: onlyValues) else { throw .misuse(.wrongType) }
        if !NestedCollection.areRight(elements, collection, path.count) { throw .misuse(.wrongType) }
        if !collection.allowsNulls && elements.hasNulls { throw .misuse(.notOptional) }
        // A link with this number would be read as null once the collection is stored in its row.
        if columns[column].type == .links, elements.hasInteger(LinkPayload.null) { throw .misuse(.wrongType) }
        return collection
    }

    /// Checks that a set or a map ascends after elements were replaced.
    private func checkOrder(
        _ elements: CollectionElements, collection: CollectionColumn, table: Int, key: RowKey, column: Int,
        at place: Int, replacing count: Int
    ) throws(StorageError) {
        guard transaction.keepsOrder, let order = AscendingCheck(collection) else { return }
        let reader = try opening.reader(table, key, column)
        guard place >= 0, place <= reader.count, count <= reader.count - place else { throw .misuse(.noSuchPlace) }
        guard try order.ascends(reader, replacing: place..<(place + count), with: elements) else {
            throw .misuse(.notAscending)
        }
    }

    /// Inserts elements before `place`, or at the end; in a set or a map at a place from a search, so that it keeps its
    /// order. The buffer of elements is consumed.
    /// - Throws: `misuse` with `noSuchRow`, `noSuchColumn`, `wrongType`, `notOptional`, `noSuchPlace` or
    ///   `notAscending`; `noSpace`.
    /// - Complexity: O(log count + elements); no search next to the last change.
    package func insert(
        _ table: Int, _ key: RowKey, column: Int, elements: CollectionElements, at place: Int
    ) throws(StorageError) {
        try perform(on: table, adding: elements) { () throws(StorageError) in
            let holds = try check(elements, table: table, key: key, column: column, onlyValues: false)
            try checkOrder(elements, collection: holds, table: table, key: key, column: column, at: place, replacing: 0)
            let suits = { (count: Int) in place >= 0 && place <= count }
            guard let collection = try opening.opened(table, key, column, changes: elements.count > 0, where: suits)
            else {
                return
            }
            record(collection) { $0.insertElements(at: place, count: elements.count) }
            write(elements)
            if collection.isLinks { try ElementLinks(transaction, collection, table).noteNew(elements) }
            try collection.editing().insert(elements, at: place)
            try noteInner(collection)
        }
    }

    /// Inserts one element before `place`, or at the end; in a map with its key. Allocates no buffer.
    /// - Throws: as ``insert(_:_:column:elements:at:)``.
    package func insert(
        _ table: Int, _ key: RowKey, column: Int, one value: Cell, mapKey: Cell = .null, at place: Int
    ) throws(StorageError) {
        let elements = try single(value, table: table, key: key, column: column)
        if elements.keys == nil {
            elements.append(value)
        } else {
            guard mapKey.kind == .bytes else { throw .misuse(.wrongType) }
            elements.append(key: mapKey, value)
        }
        try insert(table, key, column: column, elements: elements, at: place)
        forget(value, mapKey)
    }

    /// Replaces one element, or in a map its value. Allocates no buffer.
    /// - Throws: as ``insert(_:_:column:elements:at:)``.
    package func set(
        _ table: Int, _ key: RowKey, column: Int, one value: Cell, at place: Int
    ) throws(StorageError) {
        let elements = try single(value, table: table, key: key, column: column)
        elements.append(value)
        try set(table, key, column: column, elements: elements, at: place)
        forget(value, .null)
    }

    private func single(
        _ value: Cell, table: Int, key: RowKey, column: Int
    ) throws(StorageError) -> CollectionElements {
        try transaction.check(table)
        let elements = workspace.single(try opening.elementColumn(table, key, column))
        guard elements.takes(value) else { throw .misuse(.wrongType) }
        return elements
    }

    private func forget(_ value: Cell, _ mapKey: Cell) {
        let longest = nodes.limits.inlineBytes
        if value.kind == .bytes && value.count > longest || mapKey.kind == .bytes && mapKey.count > longest {
            workspace.forgetSingles()
        }
    }

    /// Replaces elements from `place` on; in a map their values. The buffer of elements is consumed.
    /// - Throws: as ``insert(_:_:column:elements:at:)``.
    package func set(
        _ table: Int, _ key: RowKey, column: Int, elements: CollectionElements, at place: Int
    ) throws(StorageError) {
        try perform(on: table, adding: elements) { () throws(StorageError) in
            try replace(table, key, column: column, elements: elements, at: place)
        }
    }

    /// Sets elements to null, for a deletion: unlike other changes, this may use the reserve on a full disk.
    func setNull(_ table: Int, _ key: RowKey, column: Int, range: Range<Int>) throws(StorageError) {
        try perform(on: table) { () throws(StorageError) in
            let nulls = CollectionElements(try view.collectionShape(table, key, column))
            for _ in range { nulls.append(.null) }
            try replace(table, key, column: column, elements: nulls, at: range.lowerBound)
        }
    }

    private func replace(
        _ table: Int, _ key: RowKey, column: Int, elements: CollectionElements, at place: Int
    ) throws(StorageError) {
        let holds = try check(elements, table: table, key: key, column: column, onlyValues: true)
        let (end, overflow) = place.addingReportingOverflow(elements.count)
        // In a map only values are replaced, so its order stays.
        if !holds.isKeyed {
            try checkOrder(
                elements, collection: holds, table: table, key: key, column: column, at: place,
                replacing: elements.count)
        }
        let suits = { (count: Int) in place >= 0 && !overflow && end <= count }
        guard let collection = try opening.opened(table, key, column, changes: elements.count > 0, where: suits) else {
            return
        }
        record(collection) { $0.setElements(at: place, count: elements.count) }
        write(elements)
        if collection.isLinks {
            try ElementLinks(transaction, collection, table).noteGone(place..<end)
            try ElementLinks(transaction, collection, table).noteNew(elements)
        }
        try collection.editing().set(elements, at: place)
        try noteInner(collection)
    }

    /// Updates the elements around an inner collection, whose root may have changed.
    @inline(__always)
    private func noteInner(_ collection: OpenCollection) throws(StorageError) {
        if collection.parent != nil { try InnerCollections(transaction).note(collection) }
    }

    /// Removes elements.
    /// - Throws: `misuse` with `noSuchRow`, `noSuchColumn`, `wrongType` or `noSuchPlace`.
    /// - Complexity: O(log count), and the dropped nodes; for links O(elements).
    package func remove(
        _ table: Int, _ key: RowKey, column: Int, range: Range<Int>
    ) throws(StorageError) {
        try perform(on: table) { () throws(StorageError) in
            let suits = { (count: Int) in range.lowerBound >= 0 && range.upperBound <= count }
            guard let collection = try opening.opened(table, key, column, changes: !range.isEmpty, where: suits) else {
                return
            }
            record(collection) { $0.removeElements(at: range.lowerBound, count: range.count) }
            if collection.isLinks { try ElementLinks(transaction, collection, table).noteGone(range) }
            if range.count == collection.count {
                try collection.editing().clear()
            } else {
                try collection.editing().remove(range)
            }
            try noteInner(collection)
        }
    }

    /// Removes all elements.
    /// - Throws: as ``remove(_:_:column:range:)``.
    package func clear(_ table: Int, _ key: RowKey, column: Int) throws(StorageError) {
        try transaction.check(table)
        try remove(table, key, column: column, range: 0..<(try opening.reader(table, key, column).count))
    }

    /// Moves elements of a list; `target` is the place of the first one afterwards.
    /// - Throws: as ``remove(_:_:column:range:)``.
    package func move(
        _ table: Int, _ key: RowKey, column: Int, range: Range<Int>, to target: Int
    ) throws(StorageError) {
        try perform(on: table) { () throws(StorageError) in
            let holds = try opening.elementColumn(table, key, column)
            if holds.isKeyed || holds.isSorted { throw .misuse(.wrongType) }
            let suits = { (count: Int) in
                range.lowerBound >= 0 && range.upperBound <= count && target >= 0 && target <= count - range.count
            }
            let isMove = !range.isEmpty && target != range.lowerBound
            guard let collection = try opening.opened(table, key, column, changes: isMove, where: suits) else { return }
            nodes.usesReserve = false
            record(collection) { $0.moveElements(at: range.lowerBound, count: range.count, to: target) }
            try collection.editing().move(range, to: target)
            try noteInner(collection)
        }
    }

    /// Sets a collection to `elements`, which are consumed.
    /// - Throws: as ``insert(_:_:column:elements:at:)``.
    package func assign(
        _ table: Int, _ key: RowKey, column: Int, elements: CollectionElements
    ) throws(StorageError) {
        try transaction.check(table)
        try check(elements, table: table, key: key, column: column, onlyValues: false)
        try CollectionAssignment(transaction, path: path, table: table, key: key, column: column, wanted: elements)
            .run()
    }

    // MARK: Recording

    private func record(_ collection: OpenCollection, _ body: (inout ChangeRecorder) -> Void) {
        if transaction.isReplay || workspace.recorder.isTooLarge { return }
        let place = collection.place
        workspace.recorder.collection(
            place.table, RowKey(place.key), place.column, cells: collection.shape.form == .map ? 2 : 1,
            path: collection.parent == nil ? [] : path)
        body(&workspace.recorder)
    }

    /// Records the cells of an operation.
    private func write(_ elements: CollectionElements) {
        if transaction.isReplay { return }
        for index in 0..<elements.values.count {
            if workspace.recorder.isTooLarge { return }
            if let keys = elements.keys, keys.count > 0 { workspace.recorder.element(keys.cellValue(index).cell) }
            workspace.recorder.element(elements.values.cellValue(index).cell)
        }
    }
}

extension TransactionChanges: HeldBackChanges {
    package var collections: CollectionWriter { CollectionWriter(self) }

    /// Writes to inner collections.
    /// - Parameter path: places of the elements around the collection, from the outside; empty for a row's own.
    package func collections(at path: [Int]) -> CollectionWriter { CollectionWriter(self, path) }

    var hasOpenCollections: Bool { !workspace.collections.isEmpty }

    /// The open collection of a cell; nil if the transaction has not changed it.
    func openCollection(_ table: Int, _ key: RowKey, column: Int) -> CollectionCell? {
        if workspace.collections.isEmpty { return nil }
        let plan = plans[table]
        return workspace.collections.find(
            CollectionPlace(table: plan.id, key: key.rawValue, column: plan.ids[column]))?.cell
    }
}

extension AscendingCheck {
    /// Whether a collection still ascends if the elements of a range are replaced.
    fileprivate func ascends(
        _ reader: CollectionReader, replacing range: Range<Int>, with elements: CollectionElements
    ) throws(StorageError) -> Bool {
        if elements.count == 0 { return true }
        guard ascends(elements) else { return false }
        func own(_ place: Int) throws(StorageError) -> Cell {
            let part = try reader.part(at: place)
            return isKeyed ? try part.key(at: place) : try part.value(at: place)
        }
        var ascends = true
        if range.lowerBound > 0 { ascends = try precedes(own(range.lowerBound - 1), ordered(elements, 0)) }
        if ascends, range.upperBound < reader.count {
            ascends = try precedes(ordered(elements, elements.count - 1), own(range.upperBound))
        }
        try reader.confirm()
        return ascends
    }
}
