/// The rows of a collection that changed while an observer followed it, for caches by row.
///
/// Concurrency: confined with its collection.
final class ChangedRows {
    /// Nil if all rows may have changed.
    private var rows: Set<Int64>? = []

    func add(_ changed: Set<Int64>) { rows?.formUnion(changed) }

    /// All rows may have changed.
    func addAll() { rows = nil }

    /// The rows changed since the last call; nil if all may have changed.
    func take() -> Set<Int64>? {
        defer { rows = [] }
        return rows
    }
}

/// The caches that are notified of changed rows, as long as they are alive.
struct ChangedRowsWanted {
    private struct Entry {
        weak var rows: ChangedRows?
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ rows: ChangedRows) {
        entries.removeAll { $0.rows == nil }
        entries.append(Entry(rows: rows))
    }

    /// - Parameter changed: nil if all may have changed.
    func tell(_ changed: Set<Int64>?) {
        for case let rows? in entries.lazy.map(\.rows) {
            if let changed { rows.add(changed) } else { rows.addAll() }
        }
    }
}
