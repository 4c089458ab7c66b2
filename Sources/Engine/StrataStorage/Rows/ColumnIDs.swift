/// The column ids of all tables at fixed addresses, so that a read follows two pointers and retains no object.
final class ColumnIDs: Sendable {
    /// Ids of a table's columns, the two system columns first.
    struct Table {
        let ids: UnsafeMutablePointer<UInt16>
        let count: Int
    }

    /// Written only in the initializer.
    nonisolated(unsafe) let tables: UnsafeMutablePointer<Table>
    let count: Int

    init(_ layouts: [TableLayout]) {
        count = layouts.count
        tables = .allocate(capacity: max(count, 1))
        for (index, layout) in layouts.enumerated() {
            let ids = UnsafeMutablePointer<UInt16>.allocate(capacity: layout.ids.count)
            ids.initialize(from: layout.ids, count: layout.ids.count)
            (tables + index).initialize(to: Table(ids: ids, count: layout.ids.count))
        }
    }

    deinit {
        for index in 0..<count { tables[index].ids.deallocate() }
        tables.deallocate()
    }
}
