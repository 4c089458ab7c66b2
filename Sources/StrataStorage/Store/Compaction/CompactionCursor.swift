/// Position at which an online compaction continues: a table by its index, its row tree (0) or one of its entry trees
/// (1 and up), and the first key not visited; within a row, a collection and a place in it.
struct CompactionCursor: Sendable {
    /// A collection that is a tree, and a place in it; the place is its end if the tree was visited whole.
    struct Element: Sendable {
        var owner: Int64
        var column: UInt16
        var place: Int
    }

    var table = 0
    var tree = 0
    var key: EntryKey = (.min, .min)
    var element: Element?
}
