/// Facts about a table that a transaction needs for every row it writes, derived once per schema.
final class TablePlan: Sendable {
    let id: TableID
    let columns: [ColumnDefinition]
    /// Columns that have an index or backlinks.
    let entered: [Int]
    let isEntered: [Bool]
    let ids: [ColumnID]
    private let isLinks: [Bool]
    let isCollection: [Bool]
    /// Whether the entries of a column are those of many links alone: without links a row has none.
    private let hasOnlyBacklinks: [Bool]
    /// Columns of bytes, whose values may be long.
    let bytesColumns: [Int]
    /// Columns, by the positions of table and column, that link to this table.
    let linking: [(table: Int, column: Int)]
    /// For each column the accepted kinds of cells, as a bit set.
    private let accepted: [UInt8]

    /// The plans of all tables, in their order.
    /// - Complexity: O(columns of the schema).
    static func all(of schema: StoreSchema) -> [TablePlan] {
        var linking: [TableID: [(table: Int, column: Int)]] = [:]
        for (table, origin) in schema.tables.enumerated() {
            for (column, definition) in origin.columns.enumerated() where definition.type.isLink {
                guard let target = definition.target else { continue }
                linking[target, default: []].append((table, column))
            }
        }
        return schema.tables.map { TablePlan($0, linking: linking[$0.id] ?? []) }
    }

    private init(_ definition: TableDefinition, linking: [(table: Int, column: Int)]) {
        id = definition.id
        columns = definition.columns
        isLinks = columns.map { $0.type == .links }
        isCollection = columns.map { $0.collection != nil }
        hasOnlyBacklinks = columns.map { $0.type == .links && $0.index == .none }
        ids = columns.map(\.id)
        bytesColumns = columns.indices.filter { SegmentKind(definition.columns[$0].type) == .bytes }
        self.linking = linking
        isEntered = columns.map { $0.index != .none || $0.type.isLink }
        entered = columns.indices.filter { definition.columns[$0].index != .none || definition.columns[$0].type.isLink }
        accepted = columns.map { column in
            let kind: Cell.Kind =
                switch column.type {
                case .integer, .link: .integer
                case .double: .double
                case .bytes, .links: .bytes
                }
            let null: UInt8 = column.isRequired ? 0 : 1 << Cell.Kind.null.rawValue
            return UInt8(1) << kind.rawValue | null
        }
    }

    /// - Parameter keepsOrder: sets and maps have to ascend.
    /// - Returns: whether any bytes are long.
    /// - Throws: `misuse`.
    @inline(__always)
    func check(
        _ cells: UnsafeBufferPointer<Cell>, inlineBytes: Int, keepsOrder: Bool
    ) throws(StorageError) -> Bool {
        guard cells.count == accepted.count else { throw .misuse(.noSuchColumn) }
        var hasLong = false
        for index in 0..<cells.count {
            try check(cells[index], index, keepsOrder: keepsOrder)
            hasLong = hasLong || (cells[index].kind == .bytes && cells[index].count > inlineBytes)
        }
        return hasLong
    }

    /// Whether a value makes no entry, as an empty list of links makes none.
    @inline(__always)
    func hasNoEntry(_ cell: Cell, _ column: Int) -> Bool { hasOnlyBacklinks[column] && cell.count == 0 }

    /// Whether the entries of a column are those of a collection of links.
    @inline(__always)
    func isLinkCollection(_ column: Int) -> Bool { hasOnlyBacklinks[column] && isCollection[column] }

    @inline(__always)
    func check(_ cell: Cell, _ column: Int, keepsOrder: Bool) throws(StorageError) {
        if accepted[column] >> cell.kind.rawValue & 1 == 0 { throw .misuse(cell.isNull ? .notOptional : .wrongType) }
        // These arrays are read first, since a copy of the column's definition costs reference counting.
        guard cell.kind == .bytes, cell.count > 0, isCollection[column] || isLinks[column] else { return }
        if let collection = columns[column].collection {
            guard let payload = CollectionPayload(cell.bytesValue, collection, isLinks: isLinks[column]) else {
                throw .misuse(.wrongType)
            }
            if !NestedCollection.areRight(payload, collection, 0) { throw .misuse(.wrongType) }
            if keepsOrder, let order = AscendingCheck(collection), !order.ascends(payload) {
                throw .misuse(.notAscending)
            }
        } else if isLinks[column], LinkPayload.Reader(cell.bytesValue) == nil {
            throw .misuse(.wrongType)
        }
    }
}
