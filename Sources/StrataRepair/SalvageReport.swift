package import StrataStorage

/// What a salvage got back from a damaged store, and exactly what it did not.
package struct SalvageReport: Sendable, Equatable {
    /// Where the newest state was read from.
    package enum Start: String, Sendable {
        /// The newest header slot and its root.
        case slot
        /// The newest root found in the pages: no slot verifies, or the newest one's root cannot be read.
        case root
        /// Nodes alone: no root verifies.
        case nodes
    }

    /// What became of the schema.
    package enum Schema: String, Sendable {
        case current
        /// The newest node is lost; an older one names the classes, and columns that it lacks are named by their ids.
        case older
        /// No schema node verifies: classes and columns are named by their ids.
        case lost
    }

    /// What became of the commits behind the checkpoint.
    package enum Log: Sendable, Equatable {
        /// No log was needed.
        case none
        case replayed(through: TransactionID)
        /// Damage within: what stands in front of it was replayed.
        case partly(through: TransactionID)
        /// Commits behind the checkpoint are lost.
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
    /// Nodes that are needed and do not verify, in the order of their pages.
    package var damage: [Damage] = []
    /// Nodes that are damaged and not listed, because there are too many.
    package var unlistedDamage = 0

    /// A node, or a header slot, that is not what its parent says.
    package struct Damage: Sendable, Equatable {
        package var page: PageNumber
        package var pages: Int
        /// Of the first byte that is known to be wrong, in bytes from the start of the page.
        package var offset: Int
        /// Nil for a header slot.
        package var kind: NodeKind?
        package var table: TableID?
        package var reason: StorageError.Corruption
    }

    /// Keys between two ends, both included.
    package struct KeyRange: Sendable, Equatable {
        package var low: Int64
        package var high: Int64
        /// Rows that are lost in it; nil when nothing says how many there were.
        package var rows: Int?
    }

    /// A column that rows lost, while the rows themselves are there.
    package struct LostColumn: Sendable, Equatable {
        package var id: ColumnID
        package var name: String
        /// Rows that read the column's default, or null, instead of their value.
        package var rows: Int
        /// Where they are; `rows` counts those that lost the column.
        package var keys: [KeyRange]
    }

    /// A list, set or map that lost some of its elements.
    package struct LostElements: Sendable, Equatable {
        package var id: ColumnID
        package var name: String
        /// Of the row that has it.
        package var key: Int64
        /// Where they stood in it.
        package var places: [Range<Int>]
        /// Elements that came back without what led to them: they may be older, and in a list stand in another order.
        package var uncertain: Int
        /// How many are lost: those of ``places``, and those of collections that stand in its elements.
        package var lost: Int
        /// A list whose uncertain elements come in the order of their pages.
        package var isOrderUncertain: Bool
        /// Of a set or a map: elements that were there twice, or keys, when the log had been replayed. They count as
        /// lost.
        package var leftOut = 0
    }

    package struct Table: Sendable, Equatable {
        package var id: TableID
        package var name: String
        package var rowsRecovered = 0
        /// Of the recovered ones, those that no verified page above vouches for: they may be older than the checkpoint,
        /// or another store's.
        package var rowsUncertain = 0
        package var rowsLost = 0
        /// False when the number of lost rows is a lower bound.
        package var isLossExact = true
        package var lostKeys: [KeyRange] = []
        package var lostColumns: [LostColumn] = []
        /// Long values that are lost, and the rows that read them as empty, or null.
        package var lostValues: [LostColumn] = []
        /// Elements of collections that are lost, those of collections that are lost as a whole not counted.
        package var elementsLost = 0
        package var elementsUncertain = 0
        package var lostElements: [LostElements] = []
        /// Rows whose creation version is lost: values that may be of any class do not lead to them any more.
        package var creationsLost = 0
        /// Links to rows that are not there any more, taken out.
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

        /// Long values that are lost.
        package var valuesLost: Int { lostValues.reduce(0) { $0 + $1.rows } }
    }

    /// Nothing is missing, and nothing may be stale. Damage may still have been found, in indexes for instance, which
    /// are built anew.
    package var isWhole: Bool {
        if case .lost = log { return false }
        if case .partly = log { return false }
        return schema == .current && start != .nodes && tables.allSatisfy(\.isWhole)
    }

    package var rowsRecovered: Int { tables.reduce(0) { $0 + $1.rowsRecovered } }
    /// Values that rows have lost, of lost columns and long ones.
    package var valuesLost: Int {
        tables.reduce(0) { $0 + $1.valuesLost + $1.lostColumns.reduce(0) { $0 + $1.rows } }
    }
    package var rowsLost: Int { tables.reduce(0) { $0 + $1.rowsLost } }
}

/// How a salvage is run.
package struct SalvageOptions: Sendable {
    package var limits = StoreLimits()
    /// Rows per transaction of the new store: bounds the memory that it takes.
    package var rowsPerTransaction = 50_000
    /// Most damaged nodes, and lost ranges per table and column, that the report lists.
    package var listed = 100_000
    /// What the damaged store is sealed with, and the new one will be.
    package var cipher: (any Cipher)?
    /// Called now and then with the rows written so far.
    package var progress: (@Sendable (_ rows: Int) -> Void)?
    /// The caller has the store open, and nothing is written to it meanwhile.
    package var isOpenHere = false
    /// What is in front of the log is all that is asked for.
    var ignoresLog = false

    package init() {}
}
