/// Which rows of a collection changed while an observer followed it, for whatever keeps something of each row.
///
/// Concurrency: confined with its collection.
final class ChangedRows {
    /// Nil when it is not known.
    private var rows: Set<Int64>? = []

    func add(_ changed: Set<Int64>) { rows?.formUnion(changed) }

    /// All rows may have changed.
    func addAll() { rows = nil }

    /// What changed since it was asked last; nil when that may be all.
    func take() -> Set<Int64>? {
        defer { rows = [] }
        return rows
    }
}

/// Those that want to know which rows of a collection change, as long as they are there.
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

    /// - Parameter changed: nil when all may have changed.
    func tell(_ changed: Set<Int64>?) {
        for case let rows? in entries.lazy.map(\.rows) {
            if let changed { rows.add(changed) } else { rows.addAll() }
        }
    }
}
