import StrataFiles

@testable import StrataStorage

/// Calls every operation of a store that may be damaged: all reads, the check, and changes. Errors are expected. A
/// trap, a hang or a signal is a bug. If the check calls the store sound, reads that disagree are a bug, too.
final class StoreExercise {
    private var random: SplitMix64
    private(set) var errors = 0
    /// The number of stores that the check calls sound.
    private(set) var soundStores = 0

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    private func attempt(_ body: () throws -> Void) {
        do { try body() } catch { errors += 1 }
    }

    func run(_ options: StoreOptions, path: String) {
        do {
            let store = try Store.open(path: path, options: options)
            let snapshot = try store.snapshot()
            read(snapshot.view)
            var isSound = false
            attempt {
                try store.checkInvariants()
                isSound = true
            }
            if isSound { compare(snapshot.view) }
            for _ in 0..<3 { write(store) }
            attempt { read(try store.snapshot().view) }
            attempt { try store.close() }
        } catch {
            errors += 1
        }
    }

    /// If the check calls a store sound, all ways to read it agree.
    private func compare(_ view: ReadView) {
        soundStores += 1
        do { try ReadAgreement.check(view) } catch { fatalError("the check found nothing, and \(error)") }
    }

    func read(_ view: ReadView) {
        for (table, definition) in view.schema.tables.enumerated() {
            let columns = Array(definition.columns.indices)
            attempt { _ = try view.rowCount(table) }
            attempt {
                try view.scan(table, columns: columns) { (batch) throws(StorageError) in
                    for row in 0..<batch.count { _ = batch.key(row) }
                    return true
                }
            }
            var keys: [Int64] = []
            attempt { keys = try view.keys(table) }
            for key in keys.prefix(80) + [.min, -1, 0, 1, .max] { attempt { try read(view, table, RowKey(key)) } }
            for ordinal in 0..<60 { attempt { _ = try view.key(at: ordinal, in: table) } }
            for column in columns { readColumn(view, table, column, keys) }
        }
    }

    private func read(_ view: ReadView, _ table: Int, _ key: RowKey) throws {
        _ = try view.rank(of: key, in: table)
        _ = try view.ordinal(of: key, in: table)
        guard let row = try view.locate(table, key) else { return }
        _ = try view.creationVersion(row)
        for (column, definition) in view.schema.tables[table].columns.enumerated() {
            switch definition.type {
            case .integer, .link: _ = try view.integer(row, column)
            case .double: _ = try view.double(row, column)
            case .bytes, .links:
                guard let bytes = try view.bytes(row, column) else { continue }
                _ = bytes.reduce(0) { $0 &+ $1 }
                if let reader = LinkPayload.Reader(bytes) { _ = reader.links }
            }
        }
    }

    private func readColumn(_ view: ReadView, _ table: Int, _ column: Int, _ keys: [Int64]) {
        let definition = view.schema.tables[table].columns[column]
        if definition.type == .integer { attempt { _ = try view.sum(table, column) } }
        if definition.type.isLink {
            for key in keys.prefix(20) + [0, 1] {
                attempt { try view.backlinks(to: RowKey(key), of: table, column) { _, _ in true } }
                attempt { _ = try view.backlinkCount(to: RowKey(key), of: table, column) }
            }
        }
        if definition.index != .none, definition.type != .bytes {
            for value in 0..<20 {
                attempt { _ = try view.rows(table, column, equalTo: .integer(Int64(value))) }
            }
            if definition.index == .ordered {
                attempt { _ = try view.rows(table, column, from: .integer(.min + 1), through: .integer(.max)) }
            }
        }
        if definition.index == .hash {
            attempt {
                try Cell.withCopy(of: [1, 2, 3]) { (cell) throws(StorageError) in
                    _ = try view.rows(table, column, equalTo: cell)
                }
            }
        }
    }

    func write(_ store: Store) {
        do {
            let transaction = try store.beginWrite()
            for _ in 0..<(1 + random.below(12)) { change(transaction) }
            if random.below(6) == 0 { attempt { try changeSchema(transaction) } }
            if random.below(4) == 0 { read(transaction.view) }
            if random.below(5) == 0 { transaction.rollback() } else { attempt { try transaction.commit() } }
        } catch {
            errors += 1
        }
    }

    private func changeSchema(_ transaction: WriteTransaction) throws {
        var schema = transaction.view.schema
        guard !schema.tables.isEmpty else { return }
        if random.below(2) == 0, schema.tables[0].columns.count > 1 {
            schema.tables[0].columns.removeLast()
        } else {
            schema.tables[0].columns.append(
                ColumnDefinition(id: try schema.makeColumnID(), name: "more", type: .integer, index: .ordered))
        }
        try transaction.apply(schema: schema)
    }

    private func change(_ transaction: WriteTransaction) {
        let tables = transaction.view.schema.tables
        guard !tables.isEmpty else { return }
        let table = Int(random.below(UInt64(tables.count)))
        let definition = tables[table]
        let key = RowKey(Int64(random.below(80)) - 40)
        let kind = random.below(10)
        if kind < 4 {
            let values = definition.columns.map(value)
            attempt { try StoreHistory.withCells(values[...]) { try transaction.insert(table, key: key, $0) } }
            attempt {
                try StoreHistory.withCells(values[...]) {
                    try transaction.insert(table, key: transaction.nextKey(table), $0)
                }
            }
        } else if kind < 8, !definition.columns.isEmpty {
            let column = Int(random.below(UInt64(definition.columns.count)))
            let value = value(definition.columns[column])
            for next in Int64(0)..<30 {
                attempt {
                    try StoreHistory.withCell(value) {
                        try transaction.set(table, RowKey(key.rawValue &+ next), column: column, to: $0)
                    }
                }
            }
        } else if kind == 8 {
            for next in Int64(0)..<10 { attempt { try transaction.delete(table, RowKey(key.rawValue &+ next)) } }
        } else if random.below(4) == 0 {
            attempt { try transaction.deleteAll(table) }
        }
    }

    private func value(_ column: ColumnDefinition) -> Value {
        switch column.type {
        case .integer: .integer(Int64(random.below(100)))
        case .double: .double(random.next() >> 12)
        case .bytes: .bytes([UInt8](repeating: 7, count: Int(random.below(random.below(4) == 0 ? 5000 : 30))))
        case .link: .null
        case .links: .links([Int64(random.below(20))])
        }
    }
}
