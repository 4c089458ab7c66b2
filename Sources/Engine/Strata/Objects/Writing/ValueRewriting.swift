import StrataStorage

extension WriteTransaction {
    /// Changes a list or a map inside a single value of any type: decodes the value, changes it and writes it anew.
    /// - Parameters:
    ///   - path: the places of the elements that contain the collection, from the value inwards.
    ///   - change: changes the decoded collection.
    /// - Throws: `misuse(.noSuchRow)`; `corrupt` if the value has no collection at `path`.
    /// - Complexity: O(bytes of the value).
    func rewrite(
        table: Int, key: RowKey, column: Int, at path: [Int], with change: (inout StoredCollection) -> Void
    ) throws(StorageError) {
        guard let row = try view.locate(table, key) else { throw .misuse(.noSuchRow) }
        let made = try view.withBytes(row, column: column) { NestedEncoding.changed($0, path[...], change) } ?? nil
        guard let made else { throw view.damage(at: row) }
        try Cell.withCopy(of: made) { (cell) throws(StorageError) in try set(table, key, column: column, to: cell) }
    }
}
