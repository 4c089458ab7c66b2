/// Checks the bytes of a value of a column of links or of collections, whether they are in the row or in a node of
/// their own.
package struct ValueRules {
    private let isLinks: Bool
    private let layout: ValueLayout?
    private let collection: CollectionColumn?
    private let order: AscendingCheck?

    /// Nil if any bytes are valid.
    package init?(_ column: ColumnDefinition) {
        isLinks = column.type == .links
        layout = ValueLayout(column)
        collection = column.collection
        order = column.collection.flatMap { AscendingCheck($0) }
        if !isLinks && layout == nil && collection == nil { return nil }
    }

    /// - Complexity: O(bytes).
    package func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if isLinks && LinkPayload.Reader(bytes) == nil { return false }
        if let layout, !layout.accepts(bytes) { return false }
        guard let collection, !bytes.isEmpty else { return true }
        guard let payload = CollectionPayload(bytes, collection, isLinks: isLinks) else { return false }
        return order?.ascends(payload) ?? true && NestedCollection.areRight(payload, collection, 0)
    }
}
