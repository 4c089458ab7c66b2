/// Verifies the collections of one column, each against what its row's cell says of it.
///
/// The numbers are those of docs/file-format.md.
struct CollectionCheck {
    private let reader: PageReader
    private let version: UInt64
    private let table: TableDefinition
    private let definition: ColumnDefinition
    private let column: CollectionColumn

    /// Nil for a column of anything else.
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

    /// A collection that is a tree. Its nodes are noted before anything below them is read, so that a node with two
    /// parents ends the walk.
    func checkTree(_ root: LongValue, row: Int64, _ reached: inout ReachedPages) throws {
        guard let shape = CollectionShape(definition, table: table.id.rawValue, owner: row) else { return }
        // 20: what a transaction leaves in a cell while it changes the collection.
        if root.reference.birth > version { throw broken("was being changed", row) }
        var violation: (any Error)?
        func stop(_ error: any Error, _ reference: NodeReference) -> StorageError {
            violation = error
            return .structure(reference)
        }
        func note(_ reference: NodeReference) throws(StorageError) {
            do { try reached.note(reference) } catch { throw stop(error, reference) }
        }
        var count: UInt64 = 0
        let walk = CollectionWalk(
            nodes: reader, shape: shape, allowsNulls: column.allowsNulls, precedes: CollectionOrder.check(column))
        do {
            try walk.run(root.reference) { (reference) throws(StorageError) in
                try note(reference)
                // 15: form, column and owner are the walk's to compare.
                guard let kind = NodeKind(rawValue: reference.kindCode),
                    NodeHeader.table(try reader.node(reference, kind)) == shape.table
                else { throw stop(broken("has a node of another table", row), reference) }
            } visitRun: { (run) throws(StorageError) in
                count += UInt64(run.leaf.count)
                for segment in [run.leaf.keys, run.leaf.values].compactMap(\.self)
                where segment.kind == .bytes && segment.flags & Segment.hasLong != 0 {
                    for slot in 0..<segment.rows {
                        guard let long = segment.cellValue(slot).long else { continue }
                        // 19: they lead to values.
                        _ = try CollectionTree.element(segment, slot, reader)
                        try note(long.reference)
                    }
                }
            }
        } catch {
            throw violation ?? error
        }
        // 13: the cell counts what is below its root.
        if count != root.count { throw broken("counts \(root.count) elements where \(count) are", row) }
    }

    /// A collection that stands in its row.
    func checkBytes(_ bytes: UnsafeRawBufferPointer, row: Int64) throws {
        guard let payload = CollectionPayload(bytes, column, isLinks: definition.type == .links) else {
            throw broken("contradicts itself", row)
        }
        // 17: sets and maps ascend.
        if let order = AscendingCheck(column), !order.ascends(payload) { throw broken("does not ascend", row) }
    }
}
