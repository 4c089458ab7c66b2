/// Position at which the next step of an online compaction continues: the index of a table, its row tree (0) or one of
/// its entry trees (1 and up), and the first key not visited; if the last step stopped in a tree of elements, its place
/// there.
struct CompactionCursor: Sendable {
    /// A collection that is a tree, by its row's key, and a place in it; `Int.max` if the tree was visited whole.
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
