/// Verifies the collections of one column in one version, each against its row's cell. ``GroupCheck`` calls it for each
/// cell, ``DamageSurvey`` for each tree; both keep the version meanwhile.
///
/// Numbers in comments are those of the rules in docs/file-format.md.
struct CollectionCheck {
    private let reader: PageReader
    /// The version that is checked. A reference with a later birth is no node of it.
    private let version: UInt64
    private let table: TableDefinition
    private let definition: ColumnDefinition
    private let column: CollectionColumn

    /// Nil for a column that holds no collections.
    init?(_ view: ReadView, _ table: TableDefinition, _ definition: ColumnDefinition) {
        guard let column = definition.collection else { return nil }
        reader = view.reader
        version = view.state.version
        self.table = table
        self.definition = definition
        self.column = column
    }

    private func broken(_ what: String, _ row: Int64) -> InvariantViolation {
        InvariantViolation("\(table.name): \(definition.name) of row \(row) \(what)")
    }

    /// Checks a collection that is a tree. Each node is noted before its children are read, so that a node with two
    /// parents ends the walk.
    /// - Parameter reached: the nodes that the whole check has noted so far, of other rows and columns, too.
    /// - Throws: `InvariantViolation` for a rule that this check or `reached` finds broken; `corrupt` for one that the
    ///   walk finds broken, or a bad page; errors of reading.
    func checkTree(_ root: LongValue, row: Int64, _ reached: inout ReachedPages) throws {
        guard let shape = CollectionShape(definition, table: table.id.rawValue, owner: row) else { return }
        // 20: a handle in the cell means that its transaction has not closed the collection.
        if root.reference.birth > version { throw broken("was being changed", row) }
        // The walk and its closures throw nothing but a StorageError. So a violation is kept here, a StorageError in
        // its place ends the walk, and the violation is thrown at the end.
        var violation: (any Error)?
        func stop(_ error: any Error, _ reference: NodeReference) -> StorageError {
            violation = error
            return .structure(reference)
        }
        func note(_ reference: NodeReference) throws(StorageError) {
            do { try reached.note(reference) } catch { throw stop(error, reference) }
        }
        do {
            try check(root, shape: shape, holds: column, row: row, note: note) { stop($0, $1) }
        } catch {
            throw violation ?? error
        }
    }

    /// Checks a tree of elements, and the trees of inner collections. ``CollectionWalk`` checks levels, counts, order
    /// keys, that sets and the keys of maps ascend (17), and nulls (18).
    /// - Parameters:
    ///   - holds: type of the elements.
    ///   - note: called for each node of a tree, and for the node of each long element.
    ///   - stop: keeps a violation, and makes the error that ends the walk at a node.
    private func check(
        _ root: LongValue, shape: CollectionShape, holds: CollectionColumn, row: Int64,
        note: (NodeReference) throws(StorageError) -> Void, stop: (any Error, NodeReference) -> StorageError
    ) throws(StorageError) {
        var count: UInt64 = 0
        let walk = CollectionWalk(
            nodes: reader, shape: shape, allowsNulls: holds.allowsNulls, precedes: CollectionOrder.check(holds))
        try walk.run(root.reference) { (reference) throws(StorageError) in
            try note(reference)
            // 15: the walk has compared form, column and owner, and the table is compared here.
            guard let kind = NodeKind(rawValue: reference.kindCode),
                NodeHeader.table(try reader.node(reference, kind)) == shape.table
            else { throw stop(broken("has a node of another table", row), reference) }
        } visitRun: { (run) throws(StorageError) in
            count += UInt64(run.leaf.count)
            for segment in [run.leaf.keys, run.leaf.values].compactMap(\.self) where segment.kind == .bytes {
                let isValues = segment.base == run.leaf.values.base
                // Only long elements, and values that may be inner collections, need a check of their own.
                if !(isValues && holds.takesNested) && segment.flags & Segment.hasLong == 0 { continue }
                for slot in 0..<segment.rows {
                    try checkElement(
                        segment, slot: slot, holds: isValues ? holds : nil, shape: shape, row: row, note: note,
                        stop: stop)
                }
            }
        }
        // 13: the cell's count is the number of elements.
        if count != root.count {
            throw stop(broken("counts \(root.count) elements where \(count) are", row), root.reference)
        }
    }

    /// Checks an element: the tree that it leads to, or its long value and the inner collection in its bytes.
    /// - Parameter holds: nil for a key of a map.
    private func checkElement(
        _ segment: Segment, slot: Int, holds: CollectionColumn?, shape: CollectionShape, row: Int64,
        note: (NodeReference) throws(StorageError) -> Void, stop: (any Error, NodeReference) -> StorageError
    ) throws(StorageError) {
        let value = segment.cellValue(slot)
        if let long = value.long, long.isTree {
            // 19: only elements of any type hold trees, to a limited depth.
            guard let holds, holds.takesNested else {
                throw stop(broken("has a tree in an element that must be a value", row), long.reference)
            }
            let isKeyed = try NestedCollection.isKeyed(long.reference, reader)
            let inner = try shape.nested(isKeyed: isKeyed, in: long.reference)
            return try check(long, shape: inner, holds: .nested(isKeyed: isKeyed), row: row, note: note, stop: stop)
        }
        // 19: other long elements are values.
        let cell = try CollectionTree.element(segment, slot, reader)
        if let long = value.long { try note(long.reference) }
        if let holds, cell.kind == .bytes, !NestedCollection.isRight(cell.bytesValue, holds, shape.depth) {
            throw stop(broken("has an element that contradicts itself", row), value.long?.reference ?? .null)
        }
    }

    /// Checks a collection that is stored in its row.
    /// - Throws: `InvariantViolation`.
    func checkBytes(_ bytes: UnsafeRawBufferPointer, row: Int64) throws {
        guard let payload = CollectionPayload(bytes, column, isLinks: definition.type == .links) else {
            throw broken("contradicts itself", row)
        }
        // 17: sets and maps ascend.
        if let order = AscendingCheck(column), !order.ascends(payload) { throw broken("does not ascend", row) }
        // 19: inner maps ascend, too.
        if !NestedCollection.areRight(payload, column, 0) {
            throw broken("has an element that contradicts itself", row)
        }
    }
}
