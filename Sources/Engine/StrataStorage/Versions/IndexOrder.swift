/// The rows of a table in the order of a column with an ordered index: null, then by value; rows with equal values by
/// key, in both directions. Branches of the index count entries, so that a place costs a few paths.
///
/// Valid for the state of the view that it was made from. It does not keep that view alive.
package struct IndexOrder {
    /// What is at a place of the order.
    package enum Place: Equatable {
        case row(RowKey)
        /// The place is after the last row.
        case end
        /// Null and the smallest value have the same key in the index, and there are rows with either at this place.
        case undecided
    }

    private let table: Int
    private let column: Int
    private let rows: UInt64
    /// Entries with the key of null.
    private let lowest: UInt64
    /// Whether all rows with the key of null have the same value; nil until a place among them is asked for.
    private var isLowestEqual: Bool?
    /// Number of entries at the start of the index whose rows are known to have null.
    private var leadingNulls = 0

    /// For places below this, the order reads the rows of the first entries to find out whether they have null.
    private static let mostLeadingNulls = 64

    /// - Returns: nil if the column is not one of integers or doubles with an ordered index, or the index has NaN: in
    ///   the order NaN comes before all values, but its entries are at both ends of the index.
    package init?(_ view: ReadView, _ table: Int, _ column: Int) throws(StorageError) {
        let definition = view.schema.tables[table].columns[column]
        guard definition.index == .ordered, definition.type == .integer || definition.type == .double else {
            return nil
        }
        let count = try view.rowCount(table)
        let root = try Self.root(view, table, column)
        rows = try EntryTree.totalEntries(in: root, reading: view.reader)
        lowest = try EntryTree.count(of: .min, in: root, reading: view.reader)
        var others: UInt64 = 0
        if definition.type == .double {
            let first = IndexKey.ordered(-.infinity)
            let last = IndexKey.ordered(.infinity)
            others = try EntryTree.count(
                in: root, from: (.min + 1, .min), through: (first - 1, .max), reading: view.reader)
            others &+= try EntryTree.count(
                in: root, from: (last + 1, .min), through: (.max, .max), reading: view.reader)
            if !definition.isOptional { others &+= lowest }
        }
        try view.confirm()
        guard others == 0, rows == UInt64(count) else { return nil }
        self.table = table
        self.column = column
        isLowestEqual = definition.isOptional && lowest > 0 ? nil : true
    }

    /// The row at a place.
    /// - Parameter view: shows the state that the order was made from.
    /// - Complexity: O(log rows). The first call for a place among the rows with the key of null also counts the
    ///   column's nulls. An ascending order skips that if the rows up to the place are at most 64 and all have null.
    package mutating func row(at place: Int, ascending: Bool, _ view: ReadView) throws(StorageError) -> Place {
        guard place >= 0, place < rows else { return .end }
        let place = UInt64(place)
        let root = try Self.root(view, table, column)
        if ascending ? place < lowest : place >= rows - min(lowest, rows) {
            // Null comes first, so if the first entries have null, they are in the right order.
            var isDecided = false
            if ascending { isDecided = try startsWithNulls(through: place, root, view) }
            if !isDecided { isDecided = try haveLowestEqual(view) }
            if !isDecided { return .undecided }
        }
        let key = try ascending ? entry(at: place, root, view)?.low : descending(place, root, view)
        try view.confirm()
        guard let key else { throw .structure(root) }
        return .row(RowKey(key))
    }

    /// The key at a place of the descending order, in which rows with equal values still ascend by key.
    private func descending(_ place: UInt64, _ root: NodeReference, _ view: ReadView) throws(StorageError) -> Int64? {
        guard let mirrored = try entry(at: rows - 1 - place, root, view) else { return nil }
        let equal = try EntryTree.count(of: mirrored.high, in: root, reading: view.reader)
        if equal <= 1 { return mirrored.low }
        let before = try EntryTree.rank(of: (mirrored.high, .min), in: root, reading: view.reader)
        let behind = before &+ equal
        guard behind <= rows, place >= rows - behind else { return nil }
        return try entry(at: before &+ (place - (rows - behind)), root, view)?.low
    }

    private func entry(at place: UInt64, _ root: NodeReference, _ view: ReadView) throws(StorageError) -> EntryKey? {
        try EntryTree.entry(at: place, in: root, reading: view.reader)
    }

    private mutating func startsWithNulls(
        through place: UInt64, _ root: NodeReference, _ view: ReadView
    ) throws(StorageError) -> Bool {
        if place >= UInt64(Self.mostLeadingNulls) || isLowestEqual != nil { return false }
        while leadingNulls <= Int(place) {
            guard let entry = try entry(at: UInt64(leadingNulls), root, view),
                let row = try view.locate(table, RowKey(entry.low)), try isNull(row, view)
            else { return false }
            leadingNulls += 1
        }
        return true
    }

    private func isNull(_ row: RowLocation, _ view: ReadView) throws(StorageError) -> Bool {
        if view.schema.tables[table].columns[column].type == .double { return try view.double(row, column) == nil }
        return try view.integer(row, column) == nil
    }

    private mutating func haveLowestEqual(_ view: ReadView) throws(StorageError) -> Bool {
        if let isLowestEqual { return isLowestEqual }
        let nulls = try view.count(table, where: .null(column))
        let areEqual = nulls == 0 || UInt64(nulls) == lowest
        isLowestEqual = areEqual
        return areEqual
    }

    /// The root of the index, after waiting changes of the open transaction were applied, which change it.
    private static func root(_ view: ReadView, _ table: Int, _ column: Int) throws(StorageError) -> NodeReference {
        try view.prepareRows(table)
        try view.prepareEntries(table)
        return view.entryRoot(table, column, .ordered) ?? .null
    }
}
