/// The rows of a table view, updated by a change set: deletions, then insertions, then modifications. Other rows stay
/// as they were shown.
struct ChangeSetMirror<Row> {
    var rows: [Row] = []

    /// - Parameter now: the rows of the collection.
    /// - Returns: the error in the change set itself; nil where it can be applied.
    mutating func apply(
        _ now: [Row], deletions: [Int], insertions: [Int], modifications: [Int]
    ) -> String? {
        if modifications.contains(where: { !rows.indices.contains($0) }) { return "a modification out of range" }
        for list in [deletions, insertions, modifications] where list != list.sorted() {
            return "indices that are not sorted: \(list)"
        }
        var isModified = rows.indices.map { _ in false }
        for place in modifications { isModified[place] = true }
        for index in deletions.reversed() {
            guard rows.indices.contains(index) else { return "deletion \(index) of \(rows.count)" }
            rows.remove(at: index)
            isModified.remove(at: index)
        }
        for index in insertions {
            guard index <= rows.count, now.indices.contains(index) else { return "insertion \(index) of \(rows.count)" }
            rows.insert(now[index], at: index)
            isModified.insert(false, at: index)
        }
        guard rows.count == now.count else {
            return "\(rows.count) rows after the change set, \(now.count) in the collection"
        }
        for place in rows.indices where isModified[place] { rows[place] = now[place] }
        return nil
    }
}
