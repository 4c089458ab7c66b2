import StrataStorage

/// Converts the elements of lists, sets or maps of one property to another property by a rule.
///
/// Elements are read and written in batches: small collections together, up to some ten thousand elements, and a large
/// collection in parts. A large collection is complete before the next object is read. After the first element for
/// which the rule gives no value, nothing more is written, and further such elements are only counted.
struct CollectionConversion {
    private let source: RealmInstance
    private let target: RealmInstance
    private let old: ClassAccess
    private let new: ClassAccess
    private let from: BoundProperty
    private let into: BoundProperty
    private var following: Int64? = .min
    /// The large collection that is being read, and the place of its next element.
    private var large: (key: Int64, place: Int)?
    private var failedObject: Int64?
    private var failedElements = 0
    private var failedObjects = 0
    private var objectsDone = 0

    /// Adjacent elements of one collection: all of them, or a part.
    private struct Piece {
        var key: Int64
        /// Place of the first one; nil for the whole collection.
        var first: Int?
        var elements: StoredCollection
    }

    /// Most elements in memory at once, besides those of one more object.
    private static let elementsAtOnce = 1 << 15

    /// - Throws: why elements cannot be converted one by one.
    init(
        source: RealmInstance, old: ClassAccess, from: BoundProperty, target: RealmInstance, new: ClassAccess,
        into: BoundProperty
    ) throws(RealmError) {
        let isSuited =
            from.isCollection && from.tag.collection == into.tag.collection && from.tag.type != .any
            && ![.any, .object, .linkingObjects].contains(into.tag.type) && from.column >= 0 && into.column >= 0
        guard isSuited else {
            throw RealmError(
                .invalidInput,
                "'\(old.name).\(from.name)' is \(from.tag.phrase) and '\(new.name).\(into.name)' \(into.tag.phrase); "
                    + "elements are converted one by one between two lists, sets or maps, to plain values; else use "
                    + "convertProperty")
        }
        self.source = source
        self.target = target
        self.old = old
        self.new = new
        self.from = from
        self.into = into
    }

    /// Converts the elements of all objects.
    /// - Parameter progress: called with the number of objects read so far.
    mutating func run(_ rule: (Any?) throws -> Any?, _ progress: (Int) -> Void) rethrows {
        while let pieces = next() {
            for piece in pieces {
                var values: [_StoredValue] = []
                values.reserveCapacity(piece.elements.values.count)
                for element in piece.elements.values {
                    if let value = stored(try rule(shown(element)), of: piece) { values.append(value) }
                }
                write(values, of: piece)
            }
            progress(objectsDone)
        }
    }

    // MARK: Reading

    /// The next elements; nil at the end, and if they cannot be read, which fails the migration.
    private mutating func next() -> [Piece]? {
        guard let view = source.currentView else { return nil }
        do throws(StorageError) {
            while true {
                if let large { return [try part(of: large.key, from: large.place, view)] }
                guard let start = following else { return nil }
                let found = try pieces(from: start, view)
                if !found.isEmpty { return found }
            }
        } catch {
            target.fail(RealmError(error))
            return nil
        }
    }

    private mutating func pieces(from start: Int64, _ view: ReadView) throws(StorageError) -> [Piece] {
        var found: [Piece] = []
        var elements = 0
        var done = 0
        var next: Int64?
        var many: Int64?
        try view.scan(old.table, columns: [from.column], from: RowKey(start)) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                let key = batch.key(row).rawValue
                if batch.isTree(0, row) {
                    // A large collection is read separately, after those before it.
                    if found.isEmpty { many = key } else { next = key }
                    return false
                }
                done += 1
                next = key == .max ? nil : key + 1
                if batch.isNull(0, row) || batch.bytes(0, row).isEmpty { continue }
                guard let contents = StoredCollection(batch.bytes(0, row), from.tag) else {
                    throw view.missingRow(in: old.table)
                }
                found.append(Piece(key: key, first: nil, elements: contents))
                elements += contents.values.count
                if elements >= Self.elementsAtOnce { return false }
            }
            return found.isEmpty
        }
        try view.confirm()
        following = next
        if let many {
            following = many == .max ? nil : many + 1
            large = (many, 0)
            done += 1
        }
        objectsDone += done
        return found
    }

    /// A batch of a large collection.
    private mutating func part(of key: Int64, from place: Int, _ view: ReadView) throws(StorageError) -> Piece {
        let reader = try CollectionReader(view, table: old.table, key: RowKey(key), column: from.column)
        var elements = StoredCollection()
        try reader.forEachBatch(from: place) { (batch) throws(StorageError) in
            guard try batch.append(0..<batch.count, from.tag, to: &elements.values) else {
                throw view.missingRow(in: old.table)
            }
            if from.isMap {
                for index in 0..<batch.count { elements.keys.append(SmallString.make(try batch.key(index))) }
            }
            return false
        }
        try view.confirm()
        let end = place + elements.values.count
        large = end < reader.count && end > place ? (key, end) : nil
        return Piece(key: key, first: place, elements: elements)
    }

    /// An element as the argument of a rule.
    private func shown(_ value: _StoredValue) -> Any? {
        if case .link(let key) = value {
            return old.target(of: from).flatMap { source.materialize($0, RowKey(key)) }
        }
        return value.any(as: from.tag.type)
    }

    // MARK: Writing

    /// A rule's result in the new property's stored form; nil, and counted, if it does not fit.
    private mutating func stored(_ value: Any?, of piece: Piece) -> _StoredValue? {
        if let value = _flatten(value) {
            if let stored = _StoredValue(any: value, as: into.tag.type) { return stored }
        } else if into.tag.isOptional {
            return .null
        }
        failedElements += 1
        if failedObject != piece.key { failedObjects += 1 }
        failedObject = piece.key
        return nil
    }

    /// Writes the converted elements to their object, unless the migration has deleted it.
    private func write(_ values: [_StoredValue], of piece: Piece) {
        guard failedElements == 0, let write = target.write, write.failure == nil else { return }
        if let first = piece.first { return append(values, of: piece, at: first) }
        do throws(StorageError) {
            if target.migration?.hasDeleted == true, try !isThere(piece.key) { return }
            let contents =
                into.tag.collection == .set ? .set(values) : StoredCollection(keys: piece.elements.keys, values: values)
            target.shown.marks.markSet(table: new.table, column: into.column, key: piece.key, stamp: target.stamp &+ 1)
            try _StoredValue.bytes(contents.encoded(into.tag)).withCell { (cell) throws(StorageError) in
                try write.transaction.set(new.table, RowKey(piece.key), column: into.column, to: cell)
            }
        } catch {
            target.fail(RealmError(error))
        }
        target.invalidateMarked()
    }

    private func isThere(_ key: Int64) throws(StorageError) -> Bool {
        guard let before = source.currentView, let now = target.currentView,
            let row = try before.locate(old.table, RowKey(key)), let twin = try now.locate(new.table, RowKey(key))
        else { return false }
        return try before.creationVersion(row) == now.creationVersion(twin)
    }

    private func append(_ values: [_StoredValue], of piece: Piece, at first: Int) {
        do throws(StorageError) { if try !isThere(piece.key) { return } } catch {
            return target.fail(RealmError(error))
        }
        guard let object = target.materialize(new, RowKey(piece.key)), let place = new.positions[into.name],
            let editor = ElementEditor(_CollectionColumn(object, place))
        else { return }
        if first == 0 { editor.remove(0..<editor.count) }
        if into.tag.collection == .set {
            // A converted member may belong before members that were written earlier.
            for value in values { editor.insertMember(value) }
        } else {
            editor.insert(values, keys: piece.elements.keys, at: editor.count)
        }
    }

    /// The error for elements without a value; nil if there are none.
    var failure: RealmError? {
        if failedElements == 0 { return nil }
        let elements = failedElements == 1 ? "1 element" : "\(failedElements) elements"
        let objects = failedObjects == 1 ? "1 object" : "\(failedObjects) objects"
        return RealmError(
            .missingValues,
            "'\(new.name).\(into.name)' is \(into.tag.phrase), and the rule gave \(elements) of \(objects) no value "
                + "that it can hold. Nothing was changed")
    }
}
