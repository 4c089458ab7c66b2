import StrataFiles

@testable import StrataStorage

/// A seeded history of rows with collections, on a store and on arrays.
struct CollectionHistory {
    static let owners = 0
    static let targets = 1
    static let number = 0
    static let friends = 8
    static let best = 9
    static let schema = StoreSchema(
        userVersion: 1,
        tables: [
            TableDefinition(
                id: TableID(1), name: "Owner",
                columns: [
                    ColumnDefinition(id: ColumnID(1), name: "number", type: .integer, index: .ordered),
                    column(2, "numbers", CollectionColumn(.integer)),
                    column(3, "names", CollectionColumn(.text, allowsNulls: true)),
                    column(4, "weights", CollectionColumn(.double)),
                    column(5, "blobs", CollectionColumn(.data)),
                    column(6, "members", CollectionColumn(.integer, isSorted: true)),
                    column(7, "words", CollectionColumn(.text, isSorted: true)),
                    column(8, "ages", CollectionColumn(.integer, isKeyed: true, allowsNulls: true)),
                    ColumnDefinition(
                        id: ColumnID(9), name: "friends", type: .links, target: TableID(2),
                        collection: CollectionColumn(.integer)),
                    ColumnDefinition(
                        id: ColumnID(10), name: "best", type: .links, target: TableID(2), keepsPlaces: true,
                        collection: CollectionColumn(.integer, isKeyed: true, allowsNulls: true)),
                ]),
            TableDefinition(
                id: TableID(2), name: "Target",
                columns: [ColumnDefinition(id: ColumnID(11), name: "number", type: .integer)]),
        ])

    private static func column(_ id: UInt16, _ name: String, _ collection: CollectionColumn) -> ColumnDefinition {
        ColumnDefinition(id: ColumnID(id), name: name, type: .bytes, collection: collection)
    }

    static var columns: Range<Int> { 1..<schema.tables[owners].columns.count }
    static func collection(_ column: Int) -> CollectionColumn? { schema.tables[owners].columns[column].collection }
    static func isLinks(_ column: Int) -> Bool { column == friends || column == best }

    /// The collections of a row by column; the entry of the first column is empty.
    typealias Row = [[CollectionPair]]

    struct Model: Equatable {
        var rows: [Int64: Row] = [:]
        var targets: Set<Int64> = []
    }

    var random: SplitMix64
    var model = Model()
    /// The length of a long collection.
    var longest: UInt64 = 60

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    // MARK: Values

    mutating func value(_ column: Int) -> CollectionValue {
        guard let collection = Self.collection(column) else { return .null }
        if Self.isLinks(column) {
            if collection.isKeyed && random.below(6) == 0 || model.targets.isEmpty { return .null }
            let targets = model.targets.sorted()
            return .integer(targets[Int(random.below(UInt64(targets.count)))])
        }
        if collection.allowsNulls && random.below(5) == 0 { return .null }
        switch collection.element {
        case .integer:
            return .integer(random.below(20) == 0 ? Int64(bitPattern: random.next()) : Int64(random.below(300)))
        case .double: return .double(Double(random.below(1000)) / 4)
        case .text, .data, .opaque, .any:
            let count = random.below(12) == 0 ? random.below(90) : random.below(9)
            return .bytes((0..<count).map { _ in UInt8(97 + random.below(20)) })
        }
    }

    private mutating func key() -> CollectionValue {
        .bytes((0..<(1 + random.below(5))).map { _ in UInt8(97 + random.below(9)) })
    }

    /// Some elements for a column, in the column's order.
    mutating func pairs(_ column: Int, _ count: Int) -> [CollectionPair] {
        var pairs: [CollectionPair] = []
        for _ in 0..<count {
            let value = value(column)
            if value == .null, Self.collection(column)?.allowsNulls != true { continue }
            pairs.append(CollectionPair(key: Self.collection(column)?.isKeyed == true ? key() : .null, value: value))
        }
        return Self.inOrder(pairs, column)
    }

    /// Sets and maps ascend, without duplicates.
    static func inOrder(_ pairs: [CollectionPair], _ column: Int) -> [CollectionPair] {
        guard let collection = collection(column), collection.isKeyed || collection.isSorted else { return pairs }
        var kept: [CollectionPair] = []
        let sorted = pairs.sorted {
            CollectionValue.precedes(
                collection.isKeyed ? $0.key : $0.value, collection.isKeyed ? $1.key : $1.value)
        }
        for pair in sorted {
            if let last = kept.last, collection.isKeyed ? last.key == pair.key : last.value == pair.value { continue }
            kept.append(pair)
        }
        return kept
    }

    private mutating func size() -> Int {
        switch random.below(4) {
        case 0: 0
        case 1, 2: Int(random.below(6))
        default: Int(random.below(longest))
        }
    }

    static func encode(_ pairs: [CollectionPair], _ column: Int) -> [UInt8] {
        let definition = schema.tables[owners].columns[column]
        guard let shape = CollectionShape(definition, table: 1, owner: 0), let collection = definition.collection else {
            return []
        }
        let elements = CollectionElements(shape)
        for pair in pairs {
            pair.key.withCell { key in pair.value.withCell { elements.append(key: key, $0) } }
        }
        return CollectionEncoder(column: collection, isLinks: definition.type == .links).encode(elements)
    }

    mutating func owner() -> Int64? {
        let keys = model.rows.keys.sorted()
        return keys.isEmpty ? nil : keys[Int(random.below(UInt64(keys.count)))]
    }

    mutating func someColumn() -> Int { Self.columns.lowerBound + Int(random.below(UInt64(Self.columns.count))) }

    // MARK: Steps

    /// One random change of whole rows and whole values.
    mutating func step(_ transaction: WriteTransaction) throws {
        switch random.below(10) {
        case 0..<3:
            let key = random.below(3) == 0 ? (model.rows.keys.max() ?? 0) + 1 : Int64(random.below(40))
            if model.rows[key] == nil { try insertRow(transaction, key) }
        case 3..<6:
            guard let key = owner() else { return }
            let column = someColumn()
            try set(transaction, key, column, pairs(column, size()))
        case 6:
            guard let key = owner() else { return }
            try transaction.set(Self.owners, RowKey(key), column: Self.number, to: .integer(Int64(random.below(50))))
        case 7:
            guard let key = owner() else { return }
            try transaction.delete(Self.owners, RowKey(key))
            model.rows[key] = nil
        case 8:
            let key = Int64(random.below(30))
            if model.targets.contains(key) {
                try deleteTarget(transaction, key)
            } else {
                try insertTarget(transaction, key)
            }
        default: try insertTarget(transaction, (model.targets.max() ?? 0) + 1)
        }
    }

    mutating func insertRow(_ transaction: WriteTransaction, _ key: Int64) throws {
        var row: Row = [[]]
        for column in Self.columns { row.append(pairs(column, size())) }
        let number = Int64(random.below(50))
        var values: [Value] = [.integer(number)]
        for column in Self.columns { values.append(.bytes(Self.encode(row[column], column))) }
        try StoreHistory.withCells(values[...]) { try transaction.insert(Self.owners, key: RowKey(key), $0) }
        model.rows[key] = row
    }

    mutating func set(
        _ transaction: WriteTransaction, _ key: Int64, _ column: Int, _ pairs: [CollectionPair]
    ) throws {
        try Self.encode(pairs, column).withUnsafeBytes {
            try transaction.set(Self.owners, RowKey(key), column: column, to: .bytes($0))
        }
        model.rows[key]?[column] = pairs
    }

    mutating func insertTarget(_ transaction: WriteTransaction, _ key: Int64) throws {
        if model.targets.contains(key) { return }
        try StoreHistory.withCells([.integer(key)]) { try transaction.insert(Self.targets, key: RowKey(key), $0) }
        model.targets.insert(key)
    }

    mutating func deleteTarget(_ transaction: WriteTransaction, _ key: Int64) throws {
        try transaction.delete(Self.targets, RowKey(key))
        forgetTarget(key)
    }

    /// Applies the deletion of a target to the arrays.
    mutating func forgetTarget(_ key: Int64) {
        model.targets.remove(key)
        for owner in model.rows.keys {
            model.rows[owner]?[Self.friends].removeAll { $0.value == .integer(key) }
            let best = model.rows[owner]?[Self.best] ?? []
            for (place, pair) in best.enumerated() where pair.value == .integer(key) {
                model.rows[owner]?[Self.best][place].value = .null
            }
        }
    }

    // MARK: Elements

    /// One random change of a collection's elements.
    mutating func edit(_ transaction: WriteTransaction) throws {
        guard let key = owner() else { return }
        let column = someColumn()
        guard let collection = Self.collection(column) else { return }
        let count = model.rows[key]?[column].count ?? 0
        switch random.below(12) {
        case 0..<5: try insertElements(transaction, key, column, count)
        case 5, 6:
            let from = Int(random.below(UInt64(count + 1)))
            let most = random.below(3) == 0 ? count - from : min(3, count - from)
            try remove(transaction, key, column, from..<(from + Int(random.below(UInt64(most + 1)))))
        case 7, 8: if !collection.isSorted { try setElements(transaction, key, column, count) }
        case 9:
            if collection.isKeyed || collection.isSorted { return }
            let from = Int(random.below(UInt64(count + 1)))
            let moved = from..<(from + Int(random.below(UInt64(count - from + 1))))
            let target = Int(random.below(UInt64(count - moved.count + 1)))
            try transaction.collections.move(Self.owners, RowKey(key), column: column, range: moved, to: target)
            guard var pairs = model.rows[key]?[column] else { return }
            let taken = Array(pairs[moved])
            pairs.removeSubrange(moved)
            pairs.insert(contentsOf: taken, at: target)
            model.rows[key]?[column] = pairs
        case 10:
            try transaction.collections.clear(Self.owners, RowKey(key), column: column)
            model.rows[key]?[column] = []
        default: try assign(transaction, key, column)
        }
    }

    private mutating func insertElements(
        _ transaction: WriteTransaction, _ key: Int64, _ column: Int, _ count: Int
    ) throws {
        let new = pairs(column, random.below(6) == 0 ? Int(random.below(longest)) : 1 + Int(random.below(3)))
        guard let collection = Self.collection(column), let old = model.rows[key]?[column] else { return }
        if !collection.isKeyed && !collection.isSorted {
            let place: Int
            switch random.below(4) {
            case 0: place = 0
            case 1: place = Int(random.below(UInt64(count + 1)))
            default: place = count
            }
            return try insert(transaction, key, column, new, at: place)
        }
        func ordered(_ pair: CollectionPair) -> CollectionValue { collection.isKeyed ? pair.key : pair.value }
        for pair in new where !old.contains(where: { ordered($0) == ordered(pair) }) {
            let place = try place(transaction.view, key, column, ordered(pair))
            let expected = (model.rows[key]?[column] ?? []).count {
                CollectionValue.precedes(ordered($0), ordered(pair))
            }
            if place != expected { throw InvariantViolation("found at \(place) instead of \(expected)") }
            try insert(transaction, key, column, [pair], at: place)
        }
    }

    private func place(_ view: ReadView, _ key: Int64, _ column: Int, _ value: CollectionValue) throws -> Int {
        let reader = try CollectionReader(view, table: Self.owners, key: RowKey(key), column: column)
        return try value.withCell { wanted in
            try reader.find(wanted) { CollectionValue.precedes(CollectionValue($0), value) }
        }
    }

    private static func elements(
        _ pairs: [CollectionPair], _ column: Int, onlyValues: Bool = false
    ) -> CollectionElements {
        guard let collection = collection(column) else { preconditionFailure("no collection") }
        let elements = CollectionElements(collection)
        for pair in pairs {
            pair.value.withCell { value in
                if onlyValues { elements.append(value) } else { pair.key.withCell { elements.append(key: $0, value) } }
            }
        }
        return elements
    }

    mutating func insert(
        _ transaction: WriteTransaction, _ key: Int64, _ column: Int, _ pairs: [CollectionPair], at place: Int
    ) throws {
        if let pair = pairs.first, pairs.count == 1, place % 3 > 0 {
            try pair.key.withCell { mapKey in
                try pair.value.withCell {
                    try transaction.collections.insert(
                        Self.owners, RowKey(key), column: column, one: $0, mapKey: mapKey, at: place)
                }
            }
        } else {
            try transaction.collections.insert(
                Self.owners, RowKey(key), column: column, elements: Self.elements(pairs, column), at: place)
        }
        model.rows[key]?[column].insert(contentsOf: pairs, at: place)
    }

    mutating func remove(
        _ transaction: WriteTransaction, _ key: Int64, _ column: Int, _ range: Range<Int>
    ) throws {
        try transaction.collections.remove(Self.owners, RowKey(key), column: column, range: range)
        model.rows[key]?[column].removeSubrange(range)
    }

    private mutating func setElements(
        _ transaction: WriteTransaction, _ key: Int64, _ column: Int, _ count: Int
    ) throws {
        let place = Int(random.below(UInt64(count + 1)))
        var new: [CollectionPair] = []
        for _ in 0..<min(count - place, Int(random.below(12))) {
            let value = value(column)
            if value != .null || Self.collection(column)?.allowsNulls == true {
                new.append(CollectionPair(value: value))
            }
        }
        if let pair = new.first, new.count == 1 {
            try pair.value.withCell {
                try transaction.collections.set(Self.owners, RowKey(key), column: column, one: $0, at: place)
            }
        } else {
            let elements = Self.elements(new, column, onlyValues: true)
            try transaction.collections.set(Self.owners, RowKey(key), column: column, elements: elements, at: place)
        }
        for (index, pair) in new.enumerated() { model.rows[key]?[column][place + index].value = pair.value }
    }

    /// Assigns the collection its own contents, contents that differ in part, or other contents.
    private mutating func assign(_ transaction: WriteTransaction, _ key: Int64, _ column: Int) throws {
        var new = model.rows[key]?[column] ?? []
        if random.below(3) == 0 {
            new = pairs(column, size())
        } else {
            let from = Int(random.below(UInt64(new.count + 1)))
            let gone = from..<(from + Int(random.below(UInt64(new.count - from + 1))))
            new.replaceSubrange(gone, with: pairs(column, Int(random.below(4))))
            new = Self.inOrder(new, column)
        }
        try transaction.collections.assign(
            Self.owners, RowKey(key), column: column, elements: Self.elements(new, column))
        model.rows[key]?[column] = new
    }

    // MARK: Reading

    /// Reads a whole version, collection by collection.
    static func contents(_ view: ReadView) throws -> Model {
        var found = Model()
        if view.schema.tables.isEmpty { return found }
        for key in try view.keys(owners) {
            var row: Row = [[]]
            for column in columns { row.append(try pairs(view, key, column)) }
            found.rows[key] = row
        }
        found.targets = Set(try view.keys(targets))
        return found
    }

    static func pairs(_ view: ReadView, _ key: Int64, _ column: Int) throws -> [CollectionPair] {
        let reader = try CollectionReader(view, table: owners, key: RowKey(key), column: column)
        var pairs: [CollectionPair] = []
        try reader.forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                pairs.append(
                    CollectionPair(
                        key: CollectionValue(try part.key(at: place)), value: CollectionValue(try part.value(at: place))
                    ))
            }
            return true
        }
        if pairs.count != reader.count { throw InvariantViolation("\(pairs.count) of \(reader.count) elements") }
        for place in [0, pairs.count / 2, pairs.count - 1] where place >= 0 && place < pairs.count {
            let value = CollectionValue(try reader.part(at: place).value(at: place))
            if value != pairs[place].value { throw InvariantViolation("place \(place) reads differently by itself") }
        }
        return pairs
    }

    /// The number of nodes of a version's trees, by row and column.
    static func nodes(_ view: ReadView) throws -> [Int64: [Int?]] {
        let keys = try view.keys(owners)
        return Dictionary(
            uniqueKeysWithValues: try keys.map { key in (key, try columns.map { try nodes(view, key, $0) }) })
    }

    /// The number of nodes of a collection's tree; nil without a tree.
    static func nodes(_ view: ReadView, _ key: Int64, _ column: Int) throws -> Int? {
        guard case .tree(let root, _) = try view.collectionCell(owners, RowKey(key), column) else { return nil }
        var count = 0
        let shape = try view.collectionShape(owners, RowKey(key), column)
        try CollectionNodes(nodes: view.reader, shape: shape).forEach(root) { _ in count += 1 }
        return count
    }
}
