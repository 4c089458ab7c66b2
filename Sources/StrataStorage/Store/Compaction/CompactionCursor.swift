/// Where an online compaction goes on: a table by its position, its tree of rows (0) or one of its entry trees (1 and
/// up), and the first key that was not visited; of the rows there, which collection, and at which place.
struct CompactionCursor: Sendable {
    /// A collection that is a tree, and a place in it; behind its end when all of it was visited.
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
