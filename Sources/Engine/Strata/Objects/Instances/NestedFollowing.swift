import StrataStorage

/// Finds inner collections of one version in another one.
struct NestedFollowing {
    let old: ReadView
    let new: ReadView

    /// The steps to an inner collection in the new version; nil if it is gone there.
    /// - Parameter standing: the steps in the old version.
    func followed(
        _ holder: NestedPlaces.Holder, _ standing: NestedSteps
    ) throws(StorageError) -> NestedSteps? {
        guard let before = try root(holder, old), let after = try root(holder, new) else { return nil }
        return try NestedReading.followed(standing, before, after)
    }

    private func root(_ holder: NestedPlaces.Holder, _ view: ReadView) throws(StorageError) -> CollectionReader? {
        guard let table = view.schema.position(of: TableID(holder.table)),
            let column = view.schema.tables[table].position(of: ColumnID(holder.column)),
            let tag = ColumnTag(rawValue: view.schema.tables[table].columns[column].tag),
            let row = try view.locate(table, RowKey(holder.key))
        else { return nil }
        return try NestedReading(view: view, tag: tag).root(row, holder.key, column)
    }
}

extension RealmInstance {
    func nestedHolder(_ table: Int, _ key: Int64, _ column: Int) -> NestedPlaces.Holder? {
        guard let schema = currentView?.schema, schema.tables.indices.contains(table),
            schema.tables[table].columns.indices.contains(column)
        else { return nil }
        let definition = schema.tables[table]
        return NestedPlaces.Holder(
            table: definition.id.rawValue, key: key, column: definition.columns[column].id.rawValue)
    }

    /// Adapts the inner collections in use to a change of the elements around them in the running write.
    /// - Parameter outer: the steps to the collection that changes.
    func noteNested(
        _ change: NestedChange, table: Int, key: Int64, column: Int, outer: [NestedSteps.Step]
    ) {
        if shown.nested.isEmpty { return }
        nestedHolder(table, key, column).map { shown.nested.note(change, $0, outer: outer) }
    }

    /// Notes that a column gets another value in the running write: its inner collections are gone.
    @inline(__always)
    func noteNestedReplaced(_ table: Int, _ key: Int64, _ column: Int) {
        if shown.nested.isEmpty { return }
        nestedHolder(table, key, column).map { shown.nested.noteReplaced($0) }
    }

    /// Finds the inner collections in use again in another version, which will be shown.
    /// - Parameter isPinned: whether that version is the pinned one from now on, and not the base of a write.
    func followNested(from old: ReadView, to new: ReadView, isPinned: Bool) {
        let following = NestedFollowing(old: old, new: new)
        shown.nested.follow(isPinned: isPinned) { holder, standing in
            do throws(StorageError) { return try following.followed(holder, standing) } catch {
                failures.note(error, in: nil)
                return nil
            }
        }
    }
}
