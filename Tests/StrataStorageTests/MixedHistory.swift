@testable import StrataStorage

/// A seeded history of three linked tables with all operations on rows: columns set in runs, bulk deletions of rows and
/// tables, changes of collection elements, and reads in between.
struct MixedHistory {
    /// The contents of a column.
    enum Held: Hashable {
        case value(Value)
        case pairs([CollectionPair])
    }

    typealias Table = [Int64: [Held]]

    static let schema = StoreSchema(
        userVersion: 1,
        tables: [
            TableDefinition(
                id: TableID(1), name: "Person",
                columns: [
                    ColumnDefinition(
                        id: ColumnID(1), name: "number", type: .integer, isOptional: true, index: .ordered),
                    ColumnDefinition(id: ColumnID(2), name: "name", type: .bytes, isOptional: true, index: .hash),
                    ColumnDefinition(id: ColumnID(3), name: "note", type: .bytes),
                    ColumnDefinition(id: ColumnID(4), name: "level", type: .double),
                    ColumnDefinition(id: ColumnID(5), name: "dog", type: .link, target: TableID(2)),
                    ColumnDefinition(id: ColumnID(6), name: "dogs", type: .links, target: TableID(2)),
                    links(7, "houses", TableID(3)),
                    ColumnDefinition(
                        id: ColumnID(8), name: "best", type: .links, target: TableID(3), keepsPlaces: true,
                        collection: CollectionColumn(.integer, isKeyed: true, allowsNulls: true)),
                    ColumnDefinition(
                        id: ColumnID(9), name: "scores", type: .bytes, collection: CollectionColumn(.integer)),
                ]),
            TableDefinition(
                id: TableID(2), name: "Dog",
                columns: [
                    ColumnDefinition(id: ColumnID(11), name: "weight", type: .integer),
                    ColumnDefinition(id: ColumnID(12), name: "owner", type: .link, index: .ordered, target: TableID(1)),
                    links(13, "pack", TableID(2)),
                    ColumnDefinition(id: ColumnID(14), name: "text", type: .bytes, isOptional: true),
                ]),
            TableDefinition(
                id: TableID(3), name: "House",
                columns: [
                    ColumnDefinition(id: ColumnID(21), name: "door", type: .integer, index: .ordered),
                    ColumnDefinition(id: ColumnID(22), name: "guard", type: .link, target: TableID(2)),
                    ColumnDefinition(
                        id: ColumnID(23), name: "texts", type: .bytes,
                        collection: CollectionColumn(.text, allowsNulls: true)),
                    links(24, "people", TableID(1)),
                ]),
        ])

    private static func links(_ id: UInt16, _ name: String, _ target: TableID) -> ColumnDefinition {
        ColumnDefinition(
            id: ColumnID(id), name: name, type: .links, target: target, collection: CollectionColumn(.integer))
    }

    static func columns(_ table: Int) -> [ColumnDefinition] { schema.tables[table].columns }

    var random: SplitMix64
    var model: [Table] = [[:], [:], [:]] {
        didSet { order = [:] }
    }
    /// Cached sorted keys of tables, since each link draws one; invalid after a change of the model.
    private var order: [Int: [Int64]] = [:]
    /// The bound of keys, low so that keys collide.
    var keyRange: UInt64 = 150
    /// The length of a long collection in elements, and of a long text in bytes.
    var longest: UInt64 = 60

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func below(_ bound: Int) -> Int { Int(random.below(UInt64(bound))) }

    mutating func existing(_ table: Int) -> Int64? {
        let keys = order[table] ?? model[table].keys.sorted()
        order[table] = keys
        return keys.isEmpty ? nil : keys[below(keys.count)]
    }

    // MARK: Values

    private mutating func plain(_ column: ColumnDefinition) -> Value {
        if column.isOptional && below(5) == 0 { return .null }
        switch column.type {
        case .integer: return .integer(below(20) == 0 ? Int64(bitPattern: random.next()) : Int64(below(90)))
        case .double: return .double(Double(below(900)).bitPattern)
        case .bytes:
            let count = below(25) == 0 ? random.below(longest * 40) : random.below(12)
            return .bytes([UInt8](repeating: UInt8(97 + below(20)), count: Int(count)))
        case .link: return below(4) == 0 ? .null : target(column).map { .integer($0) } ?? .null
        case .links: return .links((0..<below(5)).compactMap { _ in target(column) })
        }
    }

    private mutating func target(_ column: ColumnDefinition) -> Int64? {
        column.target.flatMap { existing(Int($0.rawValue) - 1) }
    }

    private mutating func element(_ column: ColumnDefinition) -> CollectionValue? {
        if column.type == .links {
            if column.keepsPlaces, below(6) == 0 { return .null }
            return target(column).map { .integer($0) } ?? (column.keepsPlaces ? .null : nil)
        }
        if column.collection?.allowsNulls == true, below(5) == 0 { return .null }
        if column.collection?.element == .integer { return .integer(Int64(below(300))) }
        return .bytes([UInt8](repeating: UInt8(97 + below(20)), count: below(12) == 0 ? below(90) : below(9)))
    }

    private mutating func pairs(_ column: ColumnDefinition, _ count: Int) -> [CollectionPair] {
        let isKeyed = column.collection?.isKeyed == true
        var found: [CollectionPair] = []
        for _ in 0..<count {
            guard let value = element(column) else { continue }
            let key: CollectionValue = isKeyed ? .bytes((0..<2).map { _ in UInt8(97 + below(9)) }) : .null
            if isKeyed, found.contains(where: { $0.key == key }) { continue }
            found.append(CollectionPair(key: key, value: value))
        }
        return isKeyed ? found.sorted { CollectionValue.precedes($0.key, $1.key) } : found
    }

    private mutating func held(_ column: ColumnDefinition) -> Held {
        if column.collection == nil { return .value(plain(column)) }
        return .pairs(pairs(column, below(6) == 0 ? Int(random.below(longest)) : below(4)))
    }

    private static func value(_ held: Held, _ column: ColumnDefinition) -> Value {
        switch held {
        case .value(let value): return value
        case .pairs(let pairs):
            guard let collection = column.collection else { return .null }
            return .bytes(
                CollectionEncoder(column: collection, isLinks: column.type == .links).encode(elements(pairs, column)))
        }
    }

    private static func elements(_ pairs: [CollectionPair], _ column: ColumnDefinition) -> CollectionElements {
        guard let collection = column.collection else { preconditionFailure("no collection") }
        let elements = CollectionElements(collection)
        for pair in pairs { pair.key.withCell { key in pair.value.withCell { elements.append(key: key, $0) } } }
        return elements
    }

    // MARK: Steps

    /// Makes one random change to the store and the model.
    mutating func step(_ transaction: WriteTransaction) throws {
        let table = below(3)
        switch below(30) {
        case 0..<7: try insert(transaction, table)
        case 7..<12: try setOne(transaction, table)
        case 12..<18: try setRun(transaction, table)
        case 18..<21: try edit(transaction, table)
        case 21..<23: try deleteOne(transaction, table)
        case 23: try deleteMany(transaction, table)
        case 24: try deleteMissing(transaction, table)
        case 25:
            guard below(6) == 0 else { return }
            try clear(transaction, [[table], [0, 1], [2, 0], [1, 2]][below(4)])
        case 26..<29: try read(transaction.view, table)
        default: break
        }
    }

    private mutating func insert(_ transaction: WriteTransaction, _ table: Int) throws {
        let isNext = below(3) == 0
        for index in 0..<(below(3) == 0 ? 20 : 1) {
            let next = (model[table].keys.max() ?? 0) + 1
            let key = isNext ? next : Int64(random.below(keyRange)) - Int64(keyRange / 3) + Int64(index)
            if model[table][key] != nil { continue }
            let row = Self.columns(table).map { held($0) }
            let values = zip(row, Self.columns(table)).map { Self.value($0, $1) }
            try StoreHistory.withCells(values[...]) { try transaction.insert(table, key: RowKey(key), $0) }
            model[table][key] = row
        }
    }

    private mutating func set(_ transaction: WriteTransaction, _ table: Int, _ key: Int64, _ column: Int) throws {
        let definition = Self.columns(table)[column]
        let new = held(definition)
        try StoreHistory.withCell(Self.value(new, definition)) {
            try transaction.set(table, RowKey(key), column: column, to: $0)
        }
        model[table][key]?[column] = new
    }

    private mutating func setOne(_ transaction: WriteTransaction, _ table: Int) throws {
        guard let key = existing(table) else { return }
        try set(transaction, table, key, below(Self.columns(table).count))
    }

    /// Sets one or two columns of consecutive rows, sometimes a value twice, or with other operations in between.
    private mutating func setRun(_ transaction: WriteTransaction, _ table: Int) throws {
        guard let first = existing(table) else { return }
        let columns = (0..<(1 + below(2))).map { _ in below(Self.columns(table).count) }
        let rarely = [4, 30, 500][below(3)]
        for key in model[table].keys.sorted().drop(while: { $0 < first }).prefix(1 + below(60)) {
            for column in columns where model[table][key] != nil {
                try set(transaction, table, key, column)
                if below(12) == 0 { try set(transaction, table, key, column) }
            }
            if below(rarely) > 0 { continue }
            switch below(6) {
            case 0: try read(transaction.view, table)
            case 1: try setOne(transaction, table)
            case 2: try deleteMissing(transaction, table)
            case 3: try edit(transaction, table)
            case 4: try insert(transaction, below(3))
            default: try deleteOne(transaction, table)
            }
        }
    }

    /// Changes elements of one collection.
    private mutating func edit(_ transaction: WriteTransaction, _ table: Int) throws {
        let columns = Self.columns(table)
        let places = columns.indices.filter { columns[$0].collection.map { !$0.isKeyed } ?? false }
        guard let key = existing(table), case let column = places[below(places.count)],
            case .pairs(var pairs)? = model[table][key]?[column]
        else { return }
        let place = below(pairs.count + 1)
        if below(3) > 0 {
            let new = self.pairs(columns[column], 1 + below(below(5) == 0 ? 40 : 3))
            try transaction.collections.insert(
                table, RowKey(key), column: column, elements: Self.elements(new, columns[column]), at: place)
            pairs.insert(contentsOf: new, at: place)
        } else {
            let gone = place..<min(pairs.count, place + below(4))
            try transaction.collections.remove(table, RowKey(key), column: column, range: gone)
            pairs.removeSubrange(gone)
        }
        model[table][key]?[column] = .pairs(pairs)
    }

    private mutating func deleteOne(_ transaction: WriteTransaction, _ table: Int) throws {
        guard let key = existing(table) else { return }
        try transaction.delete(table, RowKey(key))
        forget(table, [key])
    }

    /// Deletes many rows at once, in any order, some named twice and some missing.
    private mutating func deleteMany(_ transaction: WriteTransaction, _ table: Int) throws {
        let share = 1 + below(below(3) == 0 ? 10 : 3)
        let chosen = model[table].keys.sorted().filter { _ in below(10) < share }
        var keys = chosen + chosen.filter { _ in below(10) == 0 } + (0..<3).map { _ in Int64(below(300)) - 100 }
        if below(2) == 0 { keys.reverse() }
        try transaction.bulk.delete(table, keys)
        forget(table, Set(keys))
    }

    /// Deletes only keys without a row, which changes nothing.
    private mutating func deleteMissing(_ transaction: WriteTransaction, _ table: Int) throws {
        let keys = (0..<3).map { _ in Int64(random.below(keyRange)) }.filter { model[table][$0] == nil }
        try transaction.bulk.delete(table, keys)
    }

    mutating func clear(_ transaction: WriteTransaction, _ tables: [Int]) throws {
        try transaction.deleteAll(tables)
        for table in tables { forget(table, Set(model[table].keys)) }
    }

    private mutating func forget(_ target: Int, _ gone: Set<Int64>) {
        for key in gone { model[target][key] = nil }
        for table in model.indices {
            for (column, definition) in Self.columns(table).enumerated()
            where definition.target == TableID(UInt32(target + 1)) {
                for key in model[table].keys {
                    guard let held = model[table][key]?[column] else { continue }
                    model[table][key]?[column] = Self.without(held, gone, definition.keepsPlaces)
                }
            }
        }
    }

    private static func without(_ held: Held, _ gone: Set<Int64>, _ keepsPlaces: Bool) -> Held {
        func isGone(_ value: CollectionValue) -> Bool {
            if case .integer(let key) = value { gone.contains(key) } else { false }
        }
        switch held {
        case .value(.integer(let key)): return gone.contains(key) ? .value(.null) : held
        case .value(.links(let links)): return .value(.links(links.filter { !gone.contains($0) }))
        case .pairs(let pairs) where keepsPlaces:
            return .pairs(pairs.map { isGone($0.value) ? CollectionPair(key: $0.key, value: .null) : $0 })
        case .pairs(let pairs): return .pairs(pairs.filter { !isGone($0.value) })
        default: return held
        }
    }

    // MARK: Reading

    private mutating func read(_ view: ReadView, _ table: Int) throws {
        guard let key = existing(table), let row = model[table][key] else { return }
        let column = below(row.count)
        if try Self.read(view, table, key, column) != row[column] {
            throw InvariantViolation("row \(key) of table \(table) differs in column \(column)")
        }
    }

    private static func read(_ view: ReadView, _ table: Int, _ key: Int64, _ column: Int) throws -> Held? {
        guard let row = try view.locate(table, RowKey(key)) else { return nil }
        let definition = columns(table)[column]
        guard definition.collection == nil else {
            var pairs: [CollectionPair] = []
            let reader = try CollectionReader(view, table: table, key: RowKey(key), column: column)
            try reader.forEachPart { (part) throws(StorageError) in
                for place in part.first..<part.end {
                    let key = CollectionValue(try part.key(at: place))
                    pairs.append(CollectionPair(key: key, value: CollectionValue(try part.value(at: place))))
                }
                return true
            }
            return .pairs(pairs)
        }
        switch definition.type {
        case .integer, .link: return .value(try view.integer(row, column).map { .integer($0) } ?? .null)
        case .double: return .value(try view.double(row, column).map { .double($0.bitPattern) } ?? .null)
        case .bytes: return .value(try view.bytes(row, column).map { .bytes(Array($0)) } ?? .null)
        case .links:
            return .value(try view.bytes(row, column).map { .links(LinkPayload.Reader($0)?.links ?? [-1]) } ?? .null)
        }
    }

    /// Reads a whole version, value by value.
    static func contents(_ view: ReadView) throws -> [Table] {
        try schema.tables.indices.map { table in
            let rows = try view.keys(table).map { key in
                (key, try columns(table).indices.compactMap { try read(view, table, key, $0) })
            }
            return Table(uniqueKeysWithValues: rows)
        }
    }

    /// Compares results of indexes and backlinks with the model.
    func checkEntries(_ view: ReadView) throws {
        for table in model.indices {
            for (column, definition) in Self.columns(table).enumerated() {
                if definition.index != .none { try checkIndex(view, table, column) }
                guard let target = definition.target.map({ Int($0.rawValue) - 1 }) else { continue }
                for key in model[target].keys {
                    let links = model[table].mapValues { Self.count(of: key, in: $0[column]) }.filter { $0.value > 0 }
                    if try view.backlinkCount(to: RowKey(key), of: table, column) != links.values.reduce(0, +) {
                        throw InvariantViolation("backlinks of \(definition.name) to \(key) differ")
                    }
                    if key % 16 != 0 { continue }
                    try PlaceAgreement(view: view, table: table, column: column)
                        .checkLinks(to: key, links, others: model[table].keys.prefix(5))
                }
            }
        }
    }

    private func checkIndex(_ view: ReadView, _ table: Int, _ column: Int) throws {
        let rows = Dictionary(grouping: model[table].keys) { model[table][$0]?[column] }
        for (held, keys) in rows {
            guard case .value(let value)? = held else { continue }
            let found = try StoreHistory.withCell(value) { try view.rows(table, column, equalTo: $0) }
            if found.map(\.rawValue) != keys.sorted() {
                throw InvariantViolation("the index of column \(column) of table \(table) finds other rows of \(value)")
            }
        }
        let all: [(key: Int64, value: Value)] = model[table].map { row in
            if case .value(let value) = row.value[column] { (row.key, value) } else { (row.key, Value.null) }
        }
        try PlaceAgreement(view: view, table: table, column: column).checkOrder(all)
    }

    private static func count(of key: Int64, in held: Held) -> Int {
        switch held {
        case .value(.integer(key)): 1
        case .value(.links(let links)): links.count { $0 == key }
        case .pairs(let pairs): pairs.count { $0.value == .integer(key) }
        default: 0
        }
    }
}
