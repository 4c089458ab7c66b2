import FaultModel
import Seeds
import StrataStorage

/// Random changes to a transaction and to the model.
struct HistorySteps {
    var random: RandomStream
    /// The bound of keys, low so that keys collide.
    var keys = 40

    static var firstSchema: StoreSchema {
        let people = TableID(1)
        let dogs = TableID(2)
        return StoreSchema(
            userVersion: 1,
            tables: [
                TableDefinition(
                    id: people, name: "people",
                    columns: [
                        ColumnDefinition(
                            id: ColumnID(1), name: "age", type: .integer, isOptional: true, index: .ordered),
                        ColumnDefinition(id: ColumnID(2), name: "name", type: .bytes, isOptional: true, index: .hash),
                        ColumnDefinition(id: ColumnID(3), name: "score", type: .double, index: .ordered),
                        ColumnDefinition(id: ColumnID(4), name: "dog", type: .link, target: dogs),
                        ColumnDefinition(
                            id: ColumnID(5), name: "dogs", type: .links, target: dogs,
                            collection: CollectionColumn(.integer)),
                        ColumnDefinition(
                            id: ColumnID(6), name: "places", type: .links, target: people, keepsPlaces: true),
                        ColumnDefinition(
                            id: ColumnID(9), name: "numbers", type: .bytes, collection: CollectionColumn(.integer)),
                    ]),
                TableDefinition(
                    id: dogs, name: "dogs",
                    columns: [
                        ColumnDefinition(id: ColumnID(7), name: "weight", type: .integer),
                        ColumnDefinition(id: ColumnID(8), name: "owner", type: .link, target: people),
                    ]),
            ])
    }

    /// One change of rows.
    mutating func change(_ model: inout HistoryModel, _ transaction: WriteTransaction) throws {
        let table = random.below(model.schema.tables.count)
        let columns = model.schema.tables[table].columns
        let choice = random.below(100)
        if choice < 40 {
            let key =
                random.chance(1, in: 3) ? (model[table].keys.max() ?? 0) + 1 : Int64(random.below(keys) - keys / 2)
            // Keeps each table to some hundred rows.
            if model[table][key] != nil || model[table].count > 3 * keys { return }
            let values = columns.map { value($0, model) }
            try ModelValue.withCells(values[...]) { try transaction.insert(table, key: RowKey(key), $0) }
            model.insert(table, key, values)
        } else if choice < 78 {
            guard let key = existing(model, table), !columns.isEmpty else { return }
            let column = random.below(columns.count)
            if columns[column].collection != nil, !random.chance(1, in: 5) {
                return try changeElements(&model, transaction, table, key, column)
            }
            let new = value(columns[column], model)
            try new.withCell { try transaction.set(table, RowKey(key), column: column, to: $0) }
            model.set(table, key, column, new)
        } else if choice < 99 {
            guard let key = existing(model, table) else { return }
            try transaction.delete(table, RowKey(key))
            model.delete(table, key)
        } else if random.chance(1, in: 4) {
            try transaction.deleteAll(table)
            for key in model[table].keys { model.delete(table, key) }
        }
    }

    /// One change of a list's elements.
    private mutating func changeElements(
        _ model: inout HistoryModel, _ transaction: WriteTransaction, _ table: Int, _ key: Int64, _ column: Int
    ) throws {
        let definition = model.schema.tables[table].columns[column]
        guard let collection = definition.collection, var list = model[table][key]?[column].elements else { return }
        let place = random.below(list.count + 1)
        let row = RowKey(key)
        func elements(_ numbers: [Int64]) -> CollectionElements {
            let elements = CollectionElements(collection)
            for number in numbers { elements.append(.integer(number)) }
            return elements
        }
        switch random.below(8) {
        case 0..<4:
            let count = random.chance(1, in: 4) ? 10 + random.below(40) : 1
            let new = (0..<count).compactMap { _ in number(definition, model) }
            try transaction.collections.insert(table, row, column: column, elements: elements(new), at: place)
            list.insert(contentsOf: new, at: place)
        case 4, 5:
            let gone = place..<(place + random.below(list.count - place + 1))
            try transaction.collections.remove(table, row, column: column, range: gone)
            list.removeSubrange(gone)
        case 6:
            guard place < list.count, let new = number(definition, model) else { return }
            try transaction.collections.set(table, row, column: column, one: .integer(new), at: place)
            list[place] = new
        default:
            let moved = place..<(place + random.below(list.count - place + 1))
            let target = random.below(list.count - moved.count + 1)
            try transaction.collections.move(table, row, column: column, range: moved, to: target)
            let taken = Array(list[moved])
            list.removeSubrange(moved)
            list.insert(contentsOf: taken, at: target)
        }
        model.set(table, key, column, definition.type == .links ? .links(list) : .numbers(list))
    }

    private mutating func number(_ column: ColumnDefinition, _ model: HistoryModel) -> Int64? {
        column.type == .links
            ? existing(model, column.target.flatMap { model.schema.position(of: $0) } ?? 0) : Int64(random.below(3000))
    }

    /// One change of the schema.
    mutating func changeSchema(_ model: inout HistoryModel, _ transaction: WriteTransaction) throws {
        var schema = model.schema
        let table = random.below(schema.tables.count)
        let columns = schema.tables[table].columns.count
        switch random.below(6) {
        case 0 where columns < 9, 1 where columns < 9:
            let column = makeColumn(try schema.makeColumnID())
            schema.tables[table].columns.insert(column, at: random.below(columns + 1))
        case 2 where columns > 1:
            schema.tables[table].columns.remove(at: random.below(columns))
        case 3 where columns > 0:
            let place = random.below(columns)
            if schema.tables[table].columns[place].collection != nil { break }
            schema.tables[table].columns[place].index = index(schema.tables[table].columns[place].type)
        case 4 where schema.tables.count < 4:
            let column = makeColumn(try schema.makeColumnID())
            let link = ColumnDefinition(
                id: try schema.makeColumnID(), name: "link", type: .link, target: schema.tables[table].id)
            let id = schema.makeTableID()
            schema.tables.append(TableDefinition(id: id, name: "table \(id.rawValue)", columns: [column, link]))
        case 5 where schema.tables.count > 2:
            let id = schema.tables[table].id
            schema.tables.remove(at: table)
            for other in schema.tables.indices { schema.tables[other].columns.removeAll { $0.target == id } }
        default: schema.userVersion += 1
        }
        try transaction.apply(schema: schema)
        model.apply(schema)
    }

    private mutating func makeColumn(_ id: ColumnID) -> ColumnDefinition {
        let type = [ColumnType.integer, .double, .bytes][random.below(3)]
        var column = ColumnDefinition(
            id: id, name: "column \(id.rawValue)", type: type, isOptional: random.chance(1, in: 2), index: index(type))
        if type == .integer, random.chance(1, in: 2) { column.defaultBits = UInt64(random.below(300)) }
        if type == .double, random.chance(1, in: 2) { column.defaultBits = Double(random.below(300)).bitPattern }
        return column
    }

    private mutating func index(_ type: ColumnType) -> IndexKind {
        switch type {
        case .integer, .double: [IndexKind.none, .hash, .ordered][random.below(3)]
        case .bytes: [IndexKind.none, .hash][random.below(2)]
        case .link, .links: .none
        }
    }

    private mutating func existing(_ model: HistoryModel, _ table: Int) -> Int64? {
        let keys = model[table].keys
        // By order of keys, so that a seed always means the same history.
        return keys.isEmpty ? nil : keys.sorted()[random.below(keys.count)]
    }

    private mutating func value(_ column: ColumnDefinition, _ model: HistoryModel) -> ModelValue {
        if column.isOptional && random.chance(1, in: 5) { return .null }
        let target = column.target.flatMap { model.schema.position(of: $0) } ?? 0
        switch column.type {
        case .integer:
            return .integer(random.chance(1, in: 20) ? Int64(bitPattern: random.next()) : Int64(random.below(100)))
        case .double: return .double(Double(random.below(1000)).bitPattern)
        case .bytes where column.collection != nil:
            return .numbers((0..<random.below(4)).map { _ in Int64(random.below(3000)) })
        case .bytes:
            let count = random.chance(1, in: 12) ? random.below(6000) : random.below(14)
            return .bytes([UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: count))
        case .link: return existing(model, target).map { .integer($0) } ?? .null
        case .links: return .links((0..<random.below(5)).compactMap { _ in existing(model, target) })
        }
    }
}
