@testable import StrataStorage

/// A value of any type, as the tests' arrays hold it.
indirect enum NestedValue: Equatable {
    case null
    /// A string: its type and its bytes.
    case plain([UInt8])
    case list([NestedValue])
    case map([NestedPair])

    var count: Int {
        switch self {
        case .null, .plain: 0
        case .list(let values): values.count
        case .map(let pairs): pairs.count
        }
    }

    var isKeyed: Bool { if case .map = self { true } else { false } }

    subscript(place: Int) -> NestedValue {
        get {
            switch self {
            case .null, .plain: .null
            case .list(let values): values[place]
            case .map(let pairs): pairs[place].value
            }
        }
        set {
            switch self {
            case .null, .plain: break
            case .list(var values):
                values[place] = newValue
                self = .list(values)
            case .map(var pairs):
                pairs[place].value = newValue
                self = .map(pairs)
            }
        }
    }

    /// Its elements as pairs; a list's have no keys.
    var pairs: [NestedPair] {
        get {
            switch self {
            case .null, .plain: []
            case .list(let values): values.map { NestedPair(key: [], value: $0) }
            case .map(let pairs): pairs
            }
        }
        set { self = isKeyed ? .map(newValue) : .list(newValue.map(\.value)) }
    }

    /// The bytes of an element; nil for null.
    var bytes: [UInt8]? {
        switch self {
        case .null: nil
        case .plain(let bytes): bytes
        case .list: [NestedCollection.listType] + encoded
        case .map: [NestedCollection.mapType] + encoded
        }
    }

    /// The cell of a row.
    var encoded: [UInt8] {
        CollectionEncoder(column: .nested(isKeyed: isKeyed), isLinks: false).encode(Self.elements(pairs, isKeyed))
    }

    static func elements(_ pairs: [NestedPair], _ isKeyed: Bool, onlyValues: Bool = false) -> CollectionElements {
        let elements = CollectionElements(.nested(isKeyed: isKeyed))
        for pair in pairs {
            pair.key.withUnsafeBytes { key in
                let bytes = pair.value.bytes
                (bytes ?? []).withUnsafeBytes { value in
                    let cell: Cell = bytes == nil ? .null : .bytes(value)
                    if onlyValues { elements.append(cell) } else { elements.append(key: .bytes(key), cell) }
                }
            }
        }
        return elements
    }

    /// The value at the end of a path.
    func at(_ path: ArraySlice<Int>) -> NestedValue {
        path.first.map { self[$0].at(path.dropFirst()) } ?? self
    }

    mutating func change(at path: ArraySlice<Int>, _ body: (inout NestedValue) -> Void) {
        guard let place = path.first else { return body(&self) }
        var inner = self[place]
        inner.change(at: path.dropFirst(), body)
        self[place] = inner
    }

    /// The whole collection.
    init(_ reader: CollectionReader) throws {
        var pairs: [NestedPair] = []
        try reader.forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                let key = Array(try part.key(at: place).bytesValue)
                if let inner = try reader.nested(at: place) {
                    var value = NestedValue.null
                    do { value = try NestedValue(inner) } catch {
                        throw error as? StorageError ?? .misuse(.wrongType)
                    }
                    pairs.append(NestedPair(key: key, value: value))
                } else {
                    let cell = try part.value(at: place)
                    pairs.append(NestedPair(key: key, value: cell.isNull ? .null : .plain(Array(cell.bytesValue))))
                }
            }
            return true
        }
        self = reader.column.isKeyed ? .map(pairs) : .list(pairs.map(\.value))
    }
}

struct NestedPair: Equatable {
    var key: [UInt8]
    var value: NestedValue
}

/// A seeded history of rows whose collections hold others, on a store and on nested arrays.
struct NestedHistory {
    static let schema = StoreSchema(
        userVersion: 1, table: "Owner",
        [
            ColumnDefinition(
                id: ColumnID(1), name: "list", type: .bytes,
                collection: CollectionColumn(.any, allowsNulls: true)),
            ColumnDefinition(
                id: ColumnID(2), name: "map", type: .bytes,
                collection: CollectionColumn(.any, isKeyed: true, allowsNulls: true)),
            ColumnDefinition(
                id: ColumnID(3), name: "numbers", type: .bytes, collection: CollectionColumn(.integer)),
        ])

    /// The list and the map of each row.
    typealias Model = [Int64: [NestedValue]]

    var random: SplitMix64
    var model: Model = [:]
    /// The length of a long collection.
    var longest: UInt64 = 30

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    // MARK: Values

    private mutating func text(_ longest: UInt64) -> [UInt8] {
        (0..<random.below(longest)).map { _ in UInt8(97 + random.below(20)) }
    }

    mutating func value(_ depth: Int) -> NestedValue {
        switch random.below(10) {
        case 0: return .null
        case 1, 2, 3:
            if depth >= 4 { return .plain([2]) }
            return collection(isKeyed: random.below(3) == 0, depth, Int(random.below(random.below(6) == 0 ? 14 : 4)))
        default: return .plain([2] + text(random.below(15) == 0 ? 90 : 8))
        }
    }

    mutating func collection(isKeyed: Bool, _ depth: Int, _ count: Int) -> NestedValue {
        let pairs = pairs(isKeyed, depth, count)
        return isKeyed ? .map(pairs) : .list(pairs.map(\.value))
    }

    mutating func pairs(_ isKeyed: Bool, _ depth: Int, _ count: Int) -> [NestedPair] {
        var pairs: [NestedPair] = []
        for _ in 0..<count {
            let key = isKeyed ? [97 + UInt8(random.below(20))] + text(4) : []
            pairs.append(NestedPair(key: key, value: value(depth + 1)))
        }
        if !isKeyed { return pairs }
        pairs.sort { $0.key.lexicographicallyPrecedes($1.key) }
        var kept: [NestedPair] = []
        for pair in pairs where kept.last?.key != pair.key { kept.append(pair) }
        return kept
    }

    // MARK: Steps

    mutating func step(_ transaction: WriteTransaction) throws {
        let keys = model.keys.sorted()
        if keys.count < 3 || random.below(12) == 0 { return try row(transaction) }
        let key = keys[Int(random.below(UInt64(keys.count)))]
        let column = Int(random.below(2))
        guard var value = model[key]?[column] else { return }
        var path: [Int] = []
        while random.below(10) < 8 {
            let inner = (0..<value.count).filter { value[$0].bytes.map { NestedCollection.parse($0) } ?? false }
            guard !inner.isEmpty else { break }
            let place = inner[Int(random.below(UInt64(inner.count)))]
            path.append(place)
            value = value[place]
        }
        try edit(transaction, key, column, path, value)
        // Once more at the same place, as loops do.
        while random.below(3) == 0, let again = model[key]?[column].at(path[...]) {
            try edit(transaction, key, column, path, again)
        }
    }

    private mutating func row(_ transaction: WriteTransaction) throws {
        let key = Int64(random.below(7))
        if model[key] != nil {
            if random.below(2) == 0 {
                try transaction.delete(0, RowKey(key))
                model[key] = nil
            } else {
                let column = Int(random.below(2))
                let new = collection(isKeyed: column == 1, 0, Int(random.below(longest)))
                try new.encoded.withUnsafeBytes { try transaction.set(0, RowKey(key), column: column, to: .bytes($0)) }
                model[key]?[column] = new
            }
            return
        }
        let values = [false, true].map { collection(isKeyed: $0, 0, Int(random.below(longest))) }
        let cells: [Value] = values.map { .bytes($0.encoded) } + [.bytes([])]
        try StoreHistory.withCells(cells[...]) { try transaction.insert(0, key: RowKey(key), $0) }
        model[key] = values
    }

    private mutating func edit(
        _ transaction: WriteTransaction, _ key: Int64, _ column: Int, _ path: [Int], _ value: NestedValue
    ) throws {
        let writer = transaction.collections(at: path)
        let row = RowKey(key)
        let count = value.count
        let from = Int(random.below(UInt64(count + 1)))
        var pairs = value.pairs
        switch random.below(12) {
        case 0..<5:
            let new = self.pairs(
                value.isKeyed, path.count, random.below(7) == 0 ? Int(random.below(longest)) : 1 + Int(random.below(2)))
            if value.isKeyed {
                for pair in new where !pairs.contains(where: { $0.key == pair.key }) {
                    let place = pairs.count { $0.key.lexicographicallyPrecedes(pair.key) }
                    try writer.insert(0, row, column: column, elements: NestedValue.elements([pair], true), at: place)
                    pairs.insert(pair, at: place)
                }
            } else {
                let place = random.below(3) == 0 ? from : count
                try writer.insert(0, row, column: column, elements: NestedValue.elements(new, false), at: place)
                pairs.insert(contentsOf: new, at: place)
            }
        case 5, 6:
            let most = random.below(3) == 0 ? count - from : min(3, count - from)
            let gone = from..<(from + Int(random.below(UInt64(most + 1))))
            try writer.remove(0, row, column: column, range: gone)
            pairs.removeSubrange(gone)
        case 7, 8:
            if from == count { return }
            let new = self.value(path.count)
            try writer.set(
                0, row, column: column,
                elements: NestedValue.elements([NestedPair(key: [], value: new)], value.isKeyed, onlyValues: true),
                at: from)
            pairs[from].value = new
        case 9:
            if value.isKeyed { return }
            let moved = from..<(from + Int(random.below(UInt64(count - from + 1))))
            let target = Int(random.below(UInt64(count - moved.count + 1)))
            try writer.move(0, row, column: column, range: moved, to: target)
            let taken = Array(pairs[moved])
            pairs.removeSubrange(moved)
            pairs.insert(contentsOf: taken, at: target)
        case 10:
            if random.below(3) > 0 { return }
            try writer.clear(0, row, column: column)
            pairs = []
        default:
            let gone = from..<(from + Int(random.below(UInt64(count - from + 1))))
            if !value.isKeyed { pairs.replaceSubrange(gone, with: self.pairs(false, path.count, 3)) }
            try writer.assign(0, row, column: column, elements: NestedValue.elements(pairs, value.isKeyed))
        }
        model[key]?[column].change(at: path[...]) { $0.pairs = pairs }
    }

    // MARK: Reading

    static func contents(_ view: ReadView) throws -> Model {
        var found: Model = [:]
        if view.schema.tables.isEmpty { return found }
        for key in try view.keys(0) {
            found[key] = try (0..<2).map {
                try NestedValue(CollectionReader(view, table: 0, key: RowKey(key), column: $0))
            }
        }
        return found
    }
}

extension NestedCollection {
    /// Whether bytes of an element are a collection.
    static func parse(_ bytes: [UInt8]) -> Bool { bytes.first == listType || bytes.first == mapType }
}
