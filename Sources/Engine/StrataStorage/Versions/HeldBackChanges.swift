/// Changes of the open transaction that the trees of its view do not have yet. The view reads through them.
///
/// Concurrency: guarded by the write gate.
protocol HeldBackChanges: AnyObject {
    /// Whether ``openCollection(_:_:column:)`` has an answer for any cell.
    var hasOpenCollections: Bool { get }

    /// Writes the pending changes of a table's rows to its tree.
    func flushRows(_ table: Int) throws(StorageError)

    /// Writes the pending changes of a table's indexes and backlinks to their trees.
    func flushEntries(_ table: Int) throws(StorageError)

    /// The open collection of a cell; nil if the transaction has not changed it.
    func openCollection(_ table: Int, _ key: RowKey, column: Int) -> CollectionCell?
}
