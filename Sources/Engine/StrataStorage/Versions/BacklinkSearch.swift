/// Reads the backlinks of some rows by one link column, in pieces.
struct BacklinkSearch {
    private let view: ReadView
    private let table: Int
    private let column: Int
    /// Ascending.
    private let keys: [Int64]
    private var next = 0

    /// - Parameters:
    ///   - keys: of the linked rows, ascending.
    ///   - table: of the column.
    init(_ keys: [Int64], of table: Int, _ column: Int, _ view: ReadView) {
        self.keys = keys
        self.table = table
        self.column = column
        self.view = view
    }

    /// The entries of the next keys: `high` is the key, and row `low` links to it `delta` times.
    /// - Parameter limit: number of entries after which no further key is read.
    /// - Returns: the range of keys that were read, and their entries; nil at the end.
    /// - Complexity: O(keys log links); O(links) if each key has few.
    mutating func next(
        atMost limit: Int
    ) throws(StorageError) -> (keys: Range<Int>, links: [EntryOperation])? {
        if next >= keys.count { return nil }
        let first = next
        try view.prepareEntries(table)
        guard let root = view.entryRoot(table, column, .backlinks), !root.isNull else { return nil }
        var found: [EntryOperation] = []
        if keys.count >= 16, try EntryTree.totalEntries(in: root, reading: view.reader) <= 8 * UInt64(keys.count) {
            try walk(root, limit, &found)
        } else {
            while next < keys.count, found.count < limit {
                let key = keys[next]
                try EntryTree.lookup(key, in: root, reading: view.reader) { (low, count) throws(StorageError) in
                    found.append(EntryOperation(high: key, low: low, delta: Int32(clamping: count)))
                    return true
                }
                next += 1
            }
        }
        try view.reader.confirm()
        return (first..<next, found)
    }

    /// Walks the tree and the keys together.
    private mutating func walk(
        _ root: NodeReference, _ limit: Int, _ found: inout [EntryOperation]
    ) throws(StorageError) {
        let keys = keys
        var place = next
        let isWhole = try EntryTree.forEach(
            in: root, from: (keys[place], .min), through: (keys[keys.count - 1], .max), reading: view.reader
        ) { (high, low, count) throws(StorageError) in
            while place < keys.count, keys[place] < high {
                place += 1
                // All links of the key were read.
                if found.count >= limit { return false }
            }
            if place < keys.count, keys[place] == high {
                found.append(EntryOperation(high: high, low: low, delta: Int32(clamping: count)))
            }
            return true
        }
        next = isWhole ? keys.count : place
    }
}
