/// Changes collections in the open transaction.
///
/// 1. A collection that is changed is open: it has a tree that nothing leads to but ``OpenCollections``, and a handle
///    in its cell. So its nodes are changed where they stand, and its row is not.
/// 2. ``CollectionPlacing`` takes it to its row when the transaction ends, or spills.
package struct CollectionWriter {
    private let transaction: WriteTransaction
    private var view: ReadView { transaction.view }
    private var workspace: WriterWorkspace { transaction.workspace }
    private var nodes: TransactionNodes { transaction.nodes }

    init(_ transaction: WriteTransaction) { self.transaction = transaction }

    private func place(_ table: Int, _ key: RowKey, _ column: Int) -> CollectionPlace {
        let plan = transaction.plans[table]
        return CollectionPlace(table: plan.id, key: key.rawValue, column: plan.ids[column])
    }

    // MARK: Whole values

    /// A collection made of its bytes, which were checked, for ``add(_:)``.
    func build(
        _ bytes: UnsafeRawBufferPointer, _ table: Int, _ key: RowKey, _ column: Int
    ) throws(StorageError) -> OpenCollection {
        let made = try make(.null, table, key, column)
        guard let payload = CollectionPayload(bytes, made.column, isLinks: made.isLinks) else {
            throw .misuse(.wrongType)
        }
        try fill(made, payload)
        return made
    }

    private func fill(_ collection: OpenCollection, _ payload: CollectionPayload) throws(StorageError) {
        let elements = CollectionElements(collection.shape)
        elements.append(borrowing: payload)
        try collection.editing().insert(elements, at: 0)
    }

    private func make(
        _ root: NodeReference, _ table: Int, _ key: RowKey, _ column: Int
    ) throws(StorageError) -> OpenCollection {
        let shape = try view.collectionShape(table, key, column)
        let definition = transaction.plans[table].columns[column]
        guard let collection = definition.collection else { throw .misuse(.wrongType) }
        return try OpenCollection(place(table, key, column), shape, definition, collection, root, nodes)
    }

    /// Opens a collection whose row has a handle.
    func add(_ collection: OpenCollection) throws(StorageError) {
        guard let oldest = workspace.collections.add(collection) else { return }
        if try CollectionPlacing(transaction).putInRow(oldest) { view.generation &+= 1 } else { oldest.rest() }
    }

    /// Gives up what a row's collection leads to. The cell stays as it is, and is void.
    func giveUp(_ table: Int, _ key: RowKey, _ column: Int, _ row: RowLocation) throws(StorageError) {
        let shape = try view.collectionShape(table, key, column)
        try workspace.giveUp(place(table, key, column), shape, try view.longValue(row, column))
    }

    // MARK: Elements

    /// Opens a collection, to be changed.
    /// - Parameters:
    ///   - changes: whether anything is to be done. A collection that is opened and stays as it is could become a tree
    ///     that a replay does not make.
    ///   - suits: whether what is to be done can be, with so many elements.
    /// - Returns: nil when nothing is to be done.
    /// - Throws: `misuse` with `noSuchRow`, `noSuchColumn`, `wrongType`, or `noSuchPlace` when it cannot; nothing has
    ///   changed then.
    private func opened(
        _ table: Int, _ key: RowKey, _ column: Int, changes: Bool, where suits: (Int) -> Bool
    ) throws(StorageError) -> OpenCollection? {
        guard column >= 0, column < transaction.plans[table].ids.count else { throw .misuse(.noSuchColumn) }
        if let found = workspace.collections.find(place(table, key, column)) {
            guard suits(found.count) else { throw .misuse(.noSuchPlace) }
            if found.isResting { try add(found) }
            if changes { workspace.collections.noteChange(found) }
            return changes ? found : nil
        }
        return try open(table, key, column, changes, where: suits)
    }

    @inline(never)
    private func open(
        _ table: Int, _ key: RowKey, _ column: Int, _ changes: Bool, where suits: (Int) -> Bool
    ) throws(StorageError) -> OpenCollection? {
        let shape = try view.collectionShape(table, key, column)
        guard let row = try view.locate(table, key) else { throw .misuse(.noSuchRow) }
        let cell = try view.collectionCell(row, column)
        let reader = try CollectionReader(cell, view, table, key, column)
        guard suits(reader.count) else { throw .misuse(.noSuchPlace) }
        if !changes { return nil }
        var root = NodeReference.null
        if case .tree(let reference, let count) = cell {
            root = reference
            guard try CollectionTree.count(root, shape, reading: nodes) == count else {
                throw CollectionTree.damaged(root)
            }
        }
        let collection = try make(root, table, key, column)
        if let payload = reader.payload {
            if transaction.keepsOrder, let order = AscendingCheck(collection.column), !order.ascends(payload) {
                throw view.damage(at: row)
            }
            try fill(collection, payload)
            if let long = try view.longValue(row, column) { nodes.drop(long.reference) }
        }
        let handle = CollectionCell.handle(birth: nodes.version)
        try transaction.editor(table).use { (editor) throws(StorageError) in
            try editor.set(key.rawValue, column, CellValue(.null, long: handle), keepsLong: true)
        }
        view.generation &+= 1
        if !transaction.isReplay {
            transaction.changes.modified(table, key.rawValue, collection.place.column.rawValue)
        }
        try add(collection)
        return collection
    }

    /// Does one operation.
    private func perform(
        on table: Int, adding elements: CollectionElements? = nil, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        try transaction.check(table)
        if let elements {
            if transaction.guest != nil { try transaction.prepareAsGuest(elements) }
            nodes.usesReserve = false
        }
        do throws(StorageError) {
            try body()
            try transaction.spillIfLarge()
        } catch {
            throw transaction.noted(error)
        }
    }

    /// Whether elements are what the column holds.
    private func check(
        _ elements: CollectionElements, _ table: Int, _ column: Int, onlyValues: Bool
    ) throws(StorageError) {
        let columns = transaction.plans[table].columns
        guard columns.indices.contains(column) else { throw .misuse(.noSuchColumn) }
        guard let collection = columns[column].collection, elements.suits(collection, onlyValues: onlyValues) else {
            throw .misuse(.wrongType)
        }
        if !collection.allowsNulls && elements.hasNulls { throw .misuse(.notOptional) }
        // In a row it would be read as null.
        if columns[column].type == .links, elements.hasInteger(LinkPayload.null) { throw .misuse(.wrongType) }
    }

    /// Whether a set or a map ascends with elements in the place of others.
    private func checkOrder(
        _ elements: CollectionElements, _ table: Int, _ key: RowKey, _ column: Int, _ place: Int, replacing count: Int
    ) throws(StorageError) {
        guard transaction.keepsOrder, let collection = transaction.plans[table].columns[column].collection,
            let order = AscendingCheck(collection)
        else { return }
        let reader = try CollectionReader(view, table, key, column)
        guard place >= 0, place <= reader.count, count <= reader.count - place else { throw .misuse(.noSuchPlace) }
        guard try order.ascends(reader, replacing: place..<(place + count), with: elements) else {
            throw .misuse(.notAscending)
        }
    }

    /// Puts elements before the one at `place`, or at the end: in a set or a map where a search said, so that it stays
    /// in its order. The elements are used up.
    /// - Throws: `misuse` with `noSuchRow`, `noSuchColumn`, `wrongType`, `notOptional`, `noSuchPlace` or
    ///   `notAscending`; `noSpace`.
    /// - Complexity: O(log count + elements); beside the last change no search.
    package func insert(
        _ table: Int, _ key: RowKey, _ column: Int, _ elements: CollectionElements, at place: Int
    ) throws(StorageError) {
        try perform(on: table, adding: elements) { () throws(StorageError) in
            try check(elements, table, column, onlyValues: false)
            try checkOrder(elements, table, key, column, place, replacing: 0)
            let suits = { (count: Int) in place >= 0 && place <= count }
            guard let collection = try opened(table, key, column, changes: elements.count > 0, where: suits) else {
                return
            }
            record(collection) { $0.insertElements(at: place, count: elements.count) }
            write(elements)
            if collection.isLinks { try noteLinks(elements, collection, table) }
            try collection.editing().insert(elements, at: place)
        }
    }

    /// Puts one element before the one at `place`, or at the end; in a map with its key. It costs no memory of its own.
    /// - Throws: as ``insert(_:_:_:_:at:)``.
    package func insert(
        _ table: Int, _ key: RowKey, _ column: Int, one value: Cell, mapKey: Cell = .null, at place: Int
    ) throws(StorageError) {
        let elements = try single(value, table, column)
        if elements.keys == nil {
            elements.append(value)
        } else {
            guard mapKey.kind == .bytes else { throw .misuse(.wrongType) }
            elements.append(key: mapKey, value)
        }
        try insert(table, key, column, elements, at: place)
        forget(value, mapKey)
    }

    /// Replaces one element, or in a map its value. It costs no memory of its own.
    /// - Throws: as ``insert(_:_:_:_:at:)``.
    package func set(
        _ table: Int, _ key: RowKey, _ column: Int, one value: Cell, at place: Int
    ) throws(StorageError) {
        let elements = try single(value, table, column)
        elements.append(value)
        try set(table, key, column, elements, at: place)
        forget(value, .null)
    }

    private func single(_ value: Cell, _ table: Int, _ column: Int) throws(StorageError) -> CollectionElements {
        try transaction.check(table)
        let columns = transaction.plans[table].columns
        guard columns.indices.contains(column) else { throw .misuse(.noSuchColumn) }
        guard let collection = columns[column].collection else { throw .misuse(.wrongType) }
        let elements = workspace.single(collection)
        guard elements.takes(value) else { throw .misuse(.wrongType) }
        return elements
    }

    private func forget(_ value: Cell, _ mapKey: Cell) {
        let longest = nodes.limits.inlineBytes
        if value.kind == .bytes && value.count > longest || mapKey.kind == .bytes && mapKey.count > longest {
            workspace.forgetSingles()
        }
    }

    /// Replaces elements from `place` on; in a map their values. The elements are used up.
    /// - Throws: as ``insert(_:_:_:_:at:)``.
    package func set(
        _ table: Int, _ key: RowKey, _ column: Int, _ elements: CollectionElements, at place: Int
    ) throws(StorageError) {
        try perform(on: table, adding: elements) { () throws(StorageError) in
            try replace(table, key, column, elements, at: place)
        }
    }

    /// Makes elements null. It counts as taking something away: a full disk has room for it.
    func setNull(_ table: Int, _ key: RowKey, _ column: Int, _ range: Range<Int>) throws(StorageError) {
        try perform(on: table) { () throws(StorageError) in
            let nulls = CollectionElements(try view.collectionShape(table, key, column))
            for _ in range { nulls.append(.null) }
            try replace(table, key, column, nulls, at: range.lowerBound)
        }
    }

    private func replace(
        _ table: Int, _ key: RowKey, _ column: Int, _ elements: CollectionElements, at place: Int
    ) throws(StorageError) {
        try check(elements, table, column, onlyValues: true)
        let (end, overflow) = place.addingReportingOverflow(elements.count)
        // The keys of a map stay.
        if transaction.plans[table].columns[column].collection?.isKeyed == false {
            try checkOrder(elements, table, key, column, place, replacing: elements.count)
        }
        let suits = { (count: Int) in place >= 0 && !overflow && end <= count }
        guard let collection = try opened(table, key, column, changes: elements.count > 0, where: suits) else { return }
        record(collection) { $0.setElements(at: place, count: elements.count) }
        write(elements)
        if collection.isLinks {
            try noteRemoval(place..<end, collection, table)
            try noteLinks(elements, collection, table)
        }
        try collection.editing().set(elements, at: place)
    }

    /// Takes elements out.
    /// - Throws: `misuse` with `noSuchRow`, `noSuchColumn`, `wrongType` or `noSuchPlace`.
    /// - Complexity: O(log count), and the nodes that are given up; of links O(elements).
    package func remove(
        _ table: Int, _ key: RowKey, _ column: Int, _ range: Range<Int>
    ) throws(StorageError) {
        try perform(on: table) { () throws(StorageError) in
            let suits = { (count: Int) in range.lowerBound >= 0 && range.upperBound <= count }
            guard let collection = try opened(table, key, column, changes: !range.isEmpty, where: suits) else { return }
            record(collection) { $0.removeElements(at: range.lowerBound, count: range.count) }
            if collection.isLinks { try noteRemoval(range, collection, table) }
            if range.count == collection.count {
                try collection.editing().clear()
            } else {
                try collection.editing().remove(range)
            }
        }
    }

    /// Takes all elements out.
    /// - Throws: as ``remove(_:_:_:_:)``.
    package func clear(_ table: Int, _ key: RowKey, _ column: Int) throws(StorageError) {
        try transaction.check(table)
        try remove(table, key, column, 0..<(try CollectionReader(view, table, key, column).count))
    }

    /// Moves elements of a list; `target` is where the first of them stands afterwards.
    /// - Throws: as ``remove(_:_:_:_:)``.
    package func move(
        _ table: Int, _ key: RowKey, _ column: Int, _ range: Range<Int>, to target: Int
    ) throws(StorageError) {
        try perform(on: table) { () throws(StorageError) in
            guard try view.collectionShape(table, key, column).form == .list else { throw .misuse(.wrongType) }
            let suits = { (count: Int) in
                range.lowerBound >= 0 && range.upperBound <= count && target >= 0 && target <= count - range.count
            }
            let isMove = !range.isEmpty && target != range.lowerBound
            guard let collection = try opened(table, key, column, changes: isMove, where: suits) else { return }
            nodes.usesReserve = false
            record(collection) { $0.moveElements(at: range.lowerBound, count: range.count, to: target) }
            try collection.editing().move(range, to: target)
        }
    }

    /// Makes a collection what `elements` are. They are used up.
    /// - Throws: as ``insert(_:_:_:_:at:)``.
    package func assign(
        _ table: Int, _ key: RowKey, _ column: Int, _ elements: CollectionElements
    ) throws(StorageError) {
        try transaction.check(table)
        try check(elements, table, column, onlyValues: false)
        try CollectionAssignment(transaction, table, key, column, elements).run()
    }

    // MARK: What follows from elements

    private func record(_ collection: OpenCollection, _ body: (inout ChangeRecorder) -> Void) {
        if transaction.isReplay || workspace.recorder.isTooLarge { return }
        let place = collection.place
        workspace.recorder.collection(
            place.table, RowKey(place.key), place.column, cells: collection.shape.form == .map ? 2 : 1)
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

    private func noteLinks(
        _ elements: CollectionElements, _ collection: OpenCollection, _ table: Int
    ) throws(StorageError) {
        let place = collection.place
        for index in 0..<elements.count {
            try workspace.entries.noteLink(
                elements.values.cellValue(index).cell, of: RowKey(place.key), table, place.column, view, delta: 1)
        }
    }

    /// Takes the links that stand at some places out of the backlinks.
    private func noteRemoval(
        _ range: Range<Int>, _ collection: OpenCollection, _ table: Int
    ) throws(StorageError) {
        let place = collection.place
        let reader = try CollectionReader(collection.cell, collection.shape, collection.definition, nodes.reader)
        try reader.forEachPart(from: range.lowerBound) { (part) throws(StorageError) in
            for index in max(part.first, range.lowerBound)..<min(part.end, range.upperBound) {
                try workspace.entries.noteLink(
                    try part.value(at: index), of: RowKey(place.key), table, place.column, view, delta: -1)
            }
            return part.end < range.upperBound
        }
    }
}

extension WriteTransaction {
    var hasOpenCollections: Bool { !workspace.collections.isEmpty }

    /// What the transaction has made of a collection; nil when it has not changed it.
    func openCollection(_ table: Int, _ key: RowKey, _ column: Int) -> CollectionCell? {
        if workspace.collections.isEmpty { return nil }
        let plan = plans[table]
        return workspace.collections.find(
            CollectionPlace(table: plan.id, key: key.rawValue, column: plan.ids[column]))?.cell
    }
}
