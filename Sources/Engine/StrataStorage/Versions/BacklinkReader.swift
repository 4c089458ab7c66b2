import CStrataShim

/// The links to one row by one column. Its entries (target, origin) -> number of links are neighbours in the column's
/// backlink tree, whose branches count them.
package struct BacklinkReader {
    private let view: ReadView
    private let root: NodeReference
    private let target: Int64
    /// Whether a row can link to another one at most once, so that there are as many links as entries.
    private let isSingle: Bool

    /// - Parameters:
    ///   - table: that of the rows that link to `key`.
    ///   - column: a column of links.
    package init(to key: RowKey, of table: Int, _ column: Int, in view: ReadView) throws(StorageError) {
        try view.prepareEntries(table)
        self.view = view
        root = view.entryRoot(table, column, .backlinks) ?? .null
        target = key.rawValue
        let definition = view.state.schema.tables[table].columns[column]
        isSingle = definition.type == .link || definition.collection?.isSorted == true
    }

    /// Number of links.
    /// - Complexity: O(log links) for single links and sets. Lists and maps may link to a row several times: O(nodes
    ///   with the entries).
    package func count() throws(StorageError) -> Int {
        let count = try isSingle ? EntryTree.count(of: target, in: root, reading: view.reader) : sum(through: .max)
        try view.confirm()
        return Int(clamping: count)
    }

    /// Number of rows that link to the target.
    /// - Complexity: O(log links).
    func originCount() throws(StorageError) -> Int {
        let count = try EntryTree.count(of: target, in: root, reading: view.reader)
        try view.confirm()
        return Int(clamping: count)
    }

    /// The origin of the link at a place, counted by ascending origins; nil beyond the last.
    /// - Complexity: O(log links) for single links and sets; else O(nodes with the entries before it).
    package func origin(at place: Int) throws(StorageError) -> RowKey? {
        guard place >= 0 else { return nil }
        let found: Int64?
        if isSingle {
            let before = try EntryTree.rank(of: (target, .min), in: root, reading: view.reader)
            let entry = try EntryTree.entry(at: before &+ UInt64(place), in: root, reading: view.reader)
            found = entry.flatMap { $0.high == target ? $0.low : nil }
        } else {
            found = try passed(UInt64(place))
        }
        try view.confirm()
        return found.map { RowKey($0) }
    }

    /// The place of the first link from a row; nil if it does not link to the target.
    /// - Complexity: as ``origin(at:)``.
    package func firstPlace(of origin: RowKey) throws(StorageError) -> Int? {
        let key = origin.rawValue
        let count = try EntryTree.count(at: (target, key), in: root, reading: view.reader)
        var before: UInt64 = 0
        if count > 0, key > .min {
            before =
                try isSingle
                ? EntryTree.count(in: root, from: (target, .min), through: (target, key - 1), reading: view.reader)
                : sum(through: key - 1)
        }
        try view.confirm()
        return count > 0 ? Int(clamping: before) : nil
    }

    /// Appends origins, each as often as it links, from the origin `first` on, until there are `most` or more.
    /// - Returns: the first origin of the next call; nil if all were appended.
    package func append(to keys: inout [Int64], from first: Int64, atMost most: Int) throws(StorageError) -> Int64? {
        var last = first
        let start = keys.count
        let isWhole = try EntryTree.forEach(
            in: root, from: (target, first), through: (target, .max), reading: view.reader
        ) { (_, low, count) throws(StorageError) in
            try view.confirm()
            for _ in 0..<count { keys.append(low) }
            last = low
            return keys.count < most
        }
        strata_note_steps(keys.count - start)
        try view.confirm()
        return isWhole || last == .max ? nil : last + 1
    }

    private func sum(through last: Int64) throws(StorageError) -> UInt64 {
        try EntryTree.sum(in: root, from: (target, .min), through: (target, last), reading: view.reader)
    }

    /// The origin of the link that has `count` links before it.
    private func passed(_ count: UInt64) throws(StorageError) -> Int64? {
        var left = count
        var found: Int64?
        try EntryTree.forEachLeaf(
            in: root, from: (target, .min), through: (target, .max), reading: view.reader
        ) { (leaf, entries) in
            let sum = leaf.sum(entries)
            if left >= sum {
                left -= sum
                return true
            }
            for i in entries {
                let links = UInt64(leaf.count(i))
                if left < links {
                    found = leaf.low(i)
                    break
                }
                left -= links
            }
            return false
        }
        return found
    }
}
