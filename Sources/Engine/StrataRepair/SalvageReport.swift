package import StrataStorage

/// The contents of a damaged store that a salvage recovered, and exactly those that it did not.
package struct SalvageReport: Sendable, Equatable {
    /// Where the salvage found the root of the newest state.
    package enum Start: String, Sendable {
        /// The newest header slot and its root.
        case slot
        /// The newest root found by the scan: no slot verifies, or the only one that does is older than the log.
        case root
        /// Single nodes: the newest slot's root cannot be read, or the scan found no root of the newest state.
        case nodes
    }

    /// State of the schema.
    package enum Schema: String, Sendable {
        case current
        /// The newest node is lost; an older one gives the names of classes, and columns that it lacks are named by
        /// their ids.
        case older
        /// No schema node verifies: classes and columns are named by their ids.
        case lost
    }

    /// State of the commits after the checkpoint.
    package enum Log: Sendable, Equatable {
        /// No log was needed.
        case none
        case replayed(through: TransactionID)
        /// Damaged: the records before the damage were replayed.
        case partly(through: TransactionID)
        /// Commits after the checkpoint are lost.
        case lost
    }

    package var start = Start.slot
    package var schema = Schema.current
    package var log = Log.none
    /// The version that the pages hold, without the log.
    package var checkpoint = TransactionID(0)
    /// Whether the free map verified. Without it, pages whose parents are lost may be older than the checkpoint.
    package var hasFreeMap = false
    package var tables: [Table] = []
    /// Needed nodes that do not verify, in the order of their pages.
    package var damage: [Damage] = []
    /// Number of further damaged nodes, beyond the limit of the list.
    package var unlistedDamage = 0

    /// A node that differs from its parent's reference, or a damaged header slot.
    package struct Damage: Sendable, Equatable {
        package var page: PageNumber
        package var pages: Int
        /// Offset of the first byte known to be wrong, from the start of the page.
        package var offset: Int
        /// Nil for a header slot.
        package var kind: NodeKind?
        package var table: TableID?
        package var reason: StorageError.Corruption
    }

    /// A closed range of keys.
    package struct KeyRange: Sendable, Equatable {
        package var low: Int64
        package var high: Int64
        /// Lost rows in the range; nil if their number is unknown.
        package var rows: Int?
    }

    /// A column that is lost in some rows, which are otherwise recovered.
    package struct LostColumn: Sendable, Equatable {
        package var id: ColumnID
        package var name: String
        /// Rows with the column's default, or null, instead of their value.
        package var rows: Int
        /// Ranges of the keys of those rows. The `rows` of a range counts only rows that lost the column.
        package var keys: [KeyRange]
    }

    /// A list, set or map that lost some of its elements.
    package struct LostElements: Sendable, Equatable {
        package var id: ColumnID
        package var name: String
        /// Key of its row.
        package var key: Int64
        /// Places of the lost elements.
        package var places: [Range<Int>]
        /// Elements recovered without the nodes above them: they may be older, and in a list be in another order.
        package var uncertain: Int
        /// Number of lost elements: those of ``places``, and those of its inner collections.
        package var lost: Int
        /// Whether it is a list with uncertain elements, which are in the order of their pages.
        package var isOrderUncertain: Bool
        /// For a set or a map: duplicate elements or keys after the replay of the log. They count as lost.
        package var leftOut = 0
    }

    /// The recovered and the lost contents of one table.
    package struct Table: Sendable, Equatable {
        package var id: TableID
        package var name: String
        package var rowsRecovered = 0
        /// Recovered rows without a verified page above them: they may be older than the checkpoint, or another
        /// store's.
        package var rowsUncertain = 0
        package var rowsLost = 0
        /// False if the number of lost rows is a lower bound.
        package var isLossExact = true
        package var lostKeys: [KeyRange] = []
        package var lostColumns: [LostColumn] = []
        /// Lost long values, and values that their column does not allow; the rows have an empty value, the default or
        /// null instead.
        package var lostValues: [LostColumn] = []
        /// Lost elements of collections, without those of collections lost as a whole.
        package var elementsLost = 0
        package var elementsUncertain = 0
        package var lostElements: [LostElements] = []
        /// Rows whose creation version is lost: links to them in values of any type are dangling.
        package var creationsLost = 0
        /// Removed links to missing rows.
        package var linksRemoved = 0

        init(id: TableID, name: String) {
            self.id = id
            self.name = name
        }

        package var isWhole: Bool {
            rowsLost == 0 && isLossExact && lostKeys.isEmpty && lostColumns.isEmpty && lostValues.isEmpty
                && creationsLost == 0 && linksRemoved == 0 && rowsUncertain == 0 && elementsLost == 0
                && elementsUncertain == 0
        }

        /// Number of lost long values.
        package var valuesLost: Int { lostValues.reduce(0) { $0 + $1.rows } }
    }

    /// Whether no data is missing or stale. There may still be damage, for instance in indexes, which are rebuilt.
    package var isWhole: Bool {
        if case .lost = log { return false }
        if case .partly = log { return false }
        return schema == .current && start != .nodes && tables.allSatisfy(\.isWhole)
    }

    package var rowsRecovered: Int { tables.reduce(0) { $0 + $1.rowsRecovered } }
    /// Number of values lost in rows that were recovered: those of lost columns, and long ones.
    package var valuesLost: Int {
        tables.reduce(0) { $0 + $1.valuesLost + $1.lostColumns.reduce(0) { $0 + $1.rows } }
    }
    package var rowsLost: Int { tables.reduce(0) { $0 + $1.rowsLost } }
}

/// Options of a salvage.
package struct SalvageOptions: Sendable {
    package var limits = StoreLimits()
    /// Rows per transaction of the new store: bounds the memory.
    package var rowsPerTransaction = 50_000
    /// Most damaged nodes, and lost ranges per table and column, in the report.
    package var listed = 100_000
    /// Cipher of the damaged store, and of the new one.
    package var cipher: (any Cipher)?
    /// Called at intervals with the number of rows written so far.
    package var progress: (@Sendable (_ rows: Int) -> Void)?
    /// Whether the caller has the store open in this process, and does not write to it meanwhile.
    package var isOpenHere = false
    /// Whether the caller has the exclusive lock on the damaged store's file.
    var isLockedHere = false
    /// Whether to recover only the state before the log.
    var ignoresLog = false

    package init() {}
}
