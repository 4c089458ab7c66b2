/// Type of a column's values.
package enum ColumnType: UInt8, Sendable {
    /// 64-bit signed integer; booleans and small enumerations too.
    case integer = 1
    /// IEEE 754 double, kept bit by bit.
    case double = 2
    /// Text or data of any length.
    case bytes = 3
    /// The key of a row of `target`, or null.
    case link = 4
    /// Many links to rows of `target`, as ``LinkPayload``.
    case links = 5

    package var isLink: Bool { self == .link || self == .links }
}

/// Queries that an index can answer.
package enum IndexKind: UInt8, Sendable {
    case none = 0
    /// Equality, by a 64-bit hash of the value. Candidates are compared with the row's value.
    case hash = 1
    /// Equality and ranges of integers and doubles.
    case ordered = 2
}

/// A column of a table.
package struct ColumnDefinition: Sendable, Equatable {
    package var id: ColumnID
    package var name: String
    package var type: ColumnType
    package var isOptional: Bool
    package var index: IndexKind
    /// The table that links lead to.
    package var target: TableID?
    /// For `links`: a deleted target leaves a null (maps) instead of being removed (lists, sets).
    package var keepsPlaces: Bool
    /// Value of rows that were written before the column existed: an integer or the bits of a double. If nil, null in
    /// an optional column, else 0, 0.0 or no bytes.
    package var defaultBits: UInt64?
    /// The kind of collections that the column holds. Nil if its values are no collections, or if the application has
    /// not declared the kind to storage: storage then treats a collection like any other value.
    package var collection: CollectionColumn?
    /// Belongs to the object layer, stored unchanged.
    package var tag: UInt32
    package var information: [UInt8]

    /// Whether each row has a value. A single link may lead nowhere in any column.
    package var isRequired: Bool { !isOptional && type != .link }

    package init(
        id: ColumnID, name: String, type: ColumnType, isOptional: Bool = false, index: IndexKind = .none,
        target: TableID? = nil, keepsPlaces: Bool = false, defaultBits: UInt64? = nil,
        collection: CollectionColumn? = nil, tag: UInt32 = 0, information: [UInt8] = []
    ) {
        self.id = id
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.index = index
        self.target = target
        self.keepsPlaces = keepsPlaces
        self.defaultBits = defaultBits
        self.collection = collection
        self.tag = tag
        self.information = information
    }
}

/// A table: rows ordered by key.
package struct TableDefinition: Sendable, Equatable {
    package var id: TableID
    package var name: String
    private var storedColumns: [ColumnDefinition]
    /// Belongs to the object layer, stored unchanged.
    package var tag: UInt32
    package var information: [UInt8]
    private var placesByID = DefinitionPlaces<ColumnID>()
    private var placesByName = DefinitionPlaces<String>()

    package init(
        id: TableID, name: String, columns: [ColumnDefinition], tag: UInt32 = 0, information: [UInt8] = []
    ) {
        self.id = id
        self.name = name
        storedColumns = columns
        self.tag = tag
        self.information = information
    }

    /// Modified in place: otherwise each append in a loop would copy all columns.
    package var columns: [ColumnDefinition] {
        get { storedColumns }
        _modify {
            placesByID = DefinitionPlaces()
            placesByName = DefinitionPlaces()
            yield &storedColumns
        }
    }

    /// - Complexity: O(columns) for the first look-up after a change of the columns, then O(1).
    package func position(of id: ColumnID) -> Int? { placesByID.first(id, in: columns) { $0.id } }
    /// - Complexity: as ``position(of:)``.
    package func position(named name: String) -> Int? { placesByName.first(name, in: columns) { $0.name } }
    package func column(_ id: ColumnID) -> ColumnDefinition? { position(of: id).map { columns[$0] } }
    package func column(named name: String) -> ColumnDefinition? { position(named: name).map { columns[$0] } }
}

/// All tables of a store, and the application's version number for them.
///
/// Tables and columns are addressed by their position in these arrays while a version is open, and by their ids across
/// versions.
package struct StoreSchema: Sendable, Equatable {
    package var userVersion: UInt64
    private var storedTables: [TableDefinition]
    private var placesByID = DefinitionPlaces<TableID>()
    private var placesByName = DefinitionPlaces<String>()
    /// The lowest id that no table of the store ever had.
    package var nextTableID: UInt32
    /// The lowest id that no column of any table ever had; above ``lastColumnID`` once all were used.
    package var nextColumnID: UInt16

    package init(userVersion: UInt64 = 0, tables: [TableDefinition] = []) {
        self.userVersion = userVersion
        storedTables = tables
        nextTableID = (tables.map(\.id.rawValue).max() ?? 0) + 1
        nextColumnID = max(1, (tables.flatMap(\.columns).map(\.id.rawValue).max() ?? 0) &+ 1)
    }

    /// Modified in place, as ``TableDefinition/columns``.
    package var tables: [TableDefinition] {
        get { storedTables }
        _modify {
            placesByID = DefinitionPlaces()
            placesByName = DefinitionPlaces()
            yield &storedTables
        }
    }

    /// - Complexity: O(tables) for the first look-up after a change of the tables, then O(1).
    package func position(of id: TableID) -> Int? { placesByID.first(id, in: tables) { $0.id } }
    /// - Complexity: as ``position(of:)``.
    package func position(named name: String) -> Int? { placesByName.first(name, in: tables) { $0.name } }
    package func table(_ id: TableID) -> TableDefinition? { position(of: id).map { tables[$0] } }
    package func table(named name: String) -> TableDefinition? { position(named: name).map { tables[$0] } }

    /// The last id that is assigned by increment.
    private static let lastTableID: UInt32 = .max - 2

    /// An id for a new table: a fresh one as long as there are any.
    package mutating func makeTableID() -> TableID {
        if nextTableID <= Self.lastTableID {
            defer { nextTableID += 1 }
            return TableID(nextTableID)
        }
        let used = Set(tables.map(\.id.rawValue))
        var id: UInt32 = 1
        while used.contains(id) { id += 1 }
        return TableID(id)
    }

    /// The last id that a column may have: higher ones stand for the creation version and the key in a row group.
    package static let lastColumnID: UInt16 = 0xFFFD

    /// Whether every column id was assigned once, so that ids for new columns are searched for table by table.
    package var hasGivenEveryColumnID: Bool { nextColumnID > Self.lastColumnID }

    /// Whether a change may exhaust the column ids: the ids in row groups have to be known then.
    var mayGiveEveryColumnID: Bool { nextColumnID > Self.lastColumnID - (1 << 14) }

    /// An id for a new column of a table: unique in the store as long as there are fresh ones, then in its table.
    /// - Parameters:
    ///   - before: the columns that the table has already.
    ///   - held: ids of removed columns under which row groups of the table still hold values.
    /// - Throws: `limit` with `columns` if the table has used all ids.
    package mutating func makeColumnID(
        beside before: @autoclosure () -> [ColumnDefinition] = [], held: Set<ColumnID> = []
    ) throws(StorageError) -> ColumnID {
        if !hasGivenEveryColumnID {
            defer { nextColumnID += 1 }
            return ColumnID(nextColumnID)
        }
        let used = held.union(before().map(\.id))
        guard let free = (1...Self.lastColumnID).first(where: { !used.contains(ColumnID($0)) }) else {
            throw .limit(.columns)
        }
        return ColumnID(free)
    }
}
