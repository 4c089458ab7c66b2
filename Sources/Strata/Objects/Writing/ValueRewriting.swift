import StrataStorage

extension WriteTransaction {
    /// Changes an inner collection of a property of any type by writing the value anew.
    /// - Parameter path: places in collections, from the value itself.
    /// - Complexity: O(bytes of the value).
    func rewrite(
        table: Int, key: RowKey, column: Int, at path: [Int], with change: (inout StoredCollection) -> Void
    ) throws(StorageError) {
        guard let row = try view.locate(table, key) else { throw .misuse(.noSuchRow) }
        guard let bytes = try view.bytes(row, column), let made = NestedEncoding.changed(bytes, path[...], change)
        else {
            throw view.damage(at: row)
        }
        try view.confirm()
        try Cell.withCopy(of: made) { (cell) throws(StorageError) in try set(table, key, column: column, to: cell) }
    }
}
