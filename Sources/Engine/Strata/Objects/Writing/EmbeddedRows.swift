import StrataStorage

/// A row of a class of embedded objects.
struct EmbeddedRow: Hashable {
    var table: Int
    var key: Int64
}

/// Checks, at the end of a migration that made classes embedded, that each of their objects has exactly one parent.
struct EmbeddedCheck {
    private let view: ReadView

    init(_ view: ReadView) { self.view = view }

    /// The error for the first object without exactly one parent; nil if there is none.
    /// - Complexity: O(rows of the classes).
    func firstOffence(in names: [String]) throws(StorageError) -> RealmError? {
        for name in names {
            guard let table = view.schema.position(named: name) else { continue }
            for key in try view.keys(table) {
                let parents = try linkCount(RowKey(key), table)
                if parents == 1 { continue }
                return RealmError(
                    .schemaMismatch,
                    "the \(name) with key \(key) has \(parents) parents, and an embedded object has one; delete it or "
                        + "copy it in the migration block")
            }
        }
        return nil
    }

    private func linkCount(_ key: RowKey, _ table: Int) throws(StorageError) -> Int {
        var count = 0
        for (origin, column) in view.linkColumns(to: table) {
            count += try view.backlinkCount(to: key, of: origin, column)
        }
        return count
    }
}
