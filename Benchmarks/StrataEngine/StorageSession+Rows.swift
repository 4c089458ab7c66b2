import Harness
import Measuring
import RunRecords
import StrataStorage

/// A column to be read from a row.
enum StoredColumn {
    case key
    case integer(Int), real(Int), text(Int), link(Int), links(Int)

    init(_ name: String, in definition: TableDefinition) throws(EngineError) {
        if definition.information.elementsEqual(name.utf8) {
            self = .key
            return
        }
        guard let number = definition.position(named: name) else {
            throw EngineError(.refused, "\(definition.name) has no column \(name)")
        }
        self =
            switch definition.columns[number].type {
            case .integer: .integer(number)
            case .double: .real(number)
            case .bytes: .text(number)
            case .link: .link(number)
            case .links: .links(number)
            }
    }

    /// nil for the key.
    var number: Int? {
        switch self {
        case .key: nil
        case .integer(let number), .real(let number), .text(let number), .link(let number), .links(let number): number
        }
    }
}

extension StorageSession: QuerySession, SnapshotSession {
    func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        if reads.snapshot == .each && reads.keys.count > 1 { return try readEach(reads, latency: latency) }
        return try read(reads, try view(), latency: latency)
    }

    /// Reads each row in the newest version.
    private func readEach(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        let first = try view()
        let table = try table(reads.table)
        var columns: [StoredColumn] = []
        for name in reads.columns { columns.append(try StoredColumn(name, in: first.schema.tables[table])) }
        return try checked { () throws(StorageError) in
            var digest = ReadDigest()
            for (index, key) in reads.keys.enumerated() {
                func read() throws(StorageError) {
                    try Self.read(
                        RowKey(key), table, columns: columns, view: try store.snapshot().view, digest: &digest)
                }
                if let latency { try latency.timeSampled(index, read) } else { try read() }
            }
            return digest
        }
    }

    private func read(
        _ reads: PointReads, _ view: ReadView, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        let table = try table(reads.table)
        var columns: [StoredColumn] = []
        for name in reads.columns { columns.append(try StoredColumn(name, in: view.schema.tables[table])) }
        return try checked { () throws(StorageError) in
            var digest = ReadDigest()
            for (index, key) in reads.keys.enumerated() {
                if let latency {
                    try latency.timeSampled(index) { () throws(StorageError) in
                        try Self.read(RowKey(key), table, columns: columns, view: view, digest: &digest)
                    }
                } else {
                    try Self.read(RowKey(key), table, columns: columns, view: view, digest: &digest)
                }
            }
            return digest
        }
    }

    @inline(__always)
    static func read(
        _ key: RowKey, _ table: Int, columns: [StoredColumn], view: ReadView, digest: inout ReadDigest
    ) throws(StorageError) {
        guard let row = try view.locate(table, key) else { return }
        for column in columns {
            switch column {
            case .key: digest.add(integer: key.rawValue)
            case .integer(let number): digest.add(integer: try view.integer(row, number) ?? 0)
            case .real(let number): digest.add(real: try view.double(row, number) ?? 0)
            case .text(let number):
                if let text = try view.bytes(row, number) { digest.add(utf8: text.bindMemory(to: UInt8.self)) }
            case .link(let number):
                if let target = try view.integer(row, number) {
                    digest.add(.link(Int(target)))
                } else {
                    digest.add(.null)
                }
            case .links(let number): digest.add(links(try view.bytes(row, number)))
            }
        }
    }

    private static func links(_ bytes: UnsafeRawBufferPointer?) -> Value {
        guard let bytes, let reader = LinkPayload.Reader(bytes) else { return .links([]) }
        return .links(reader.links.map { Int($0) })
    }

    func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int {
        let table = try self.table(table)
        let column = try self.column(column, .bytes, of: table)
        let view = try view()
        let filter = RowFilter.bytes(column, .equal(Array(text.utf8)))
        return try checked { () throws(StorageError) in try view.count(table, where: filter) }
    }

    func sum(table: String, column: String) throws(EngineError) -> Int64 {
        let table = try self.table(table)
        let column = try self.column(column, .integer, of: table)
        let view = try view()
        return try checked { () throws(StorageError) in try view.sum(table, column).sum }
    }

    func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int {
        let table = try self.table(filter.table)
        let both = RowFilter.and([
            .integer(try column(filter.integer, .integer, of: table), .greater, filter.above),
            .double(try column(filter.real, .double, of: table), .less, filter.below),
        ])
        let view = try view()
        return try checked { () throws(StorageError) in try view.count(table, where: both) }
    }

    /// Users of storage without objects get batches of decoded columns.
    var rowSteps: RowSteps { .columns }

    func iterate(table: String, column: String) throws(EngineError) -> ReadDigest {
        let table = try self.table(table)
        let column = try self.column(column, .integer, of: table)
        let view = try view()
        return try checked { () throws(StorageError) in
            var digest = ReadDigest()
            try view.scan(table, columns: [column]) { (batch) throws(StorageError) in
                let integers = batch.integers(0)
                for row in 0..<batch.count { digest.add(integer: integers[row]) }
                return true
            }
            return digest
        }
    }

    func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
        let view = try view()
        for wanted in schema.tables {
            guard let table = view.schema.tables.firstIndex(where: { $0.name == wanted.name }) else {
                throw EngineError(.refused, "no table \(wanted.name)")
            }
            var columns: [StoredColumn] = []
            for column in wanted.columns {
                columns.append(try StoredColumn(column.name, in: view.schema.tables[table]))
            }
            let isWanted = try checked { () throws(StorageError) in
                try Self.readAll(wanted.name, table, columns: columns, view: view, into: sink)
            }
            if !isWanted { return }
        }
    }

    private static func readAll(
        _ name: String, _ table: Int, columns: [StoredColumn], view: ReadView, into sink: any RowSink
    ) throws(StorageError) -> Bool {
        let numbers = columns.compactMap(\.number)
        var isWanted = true
        try view.scan(table, columns: numbers) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                var values: [Value] = []
                values.reserveCapacity(columns.count)
                var place = 0
                for column in columns {
                    values.append(value(column, place, batch: batch, row: row))
                    if column.number != nil { place += 1 }
                }
                isWanted = sink.receive(table: name, row: Int(batch.key(row).rawValue), values: values)
                if !isWanted { return false }
            }
            return true
        }
        return isWanted
    }

    private static func value(_ column: StoredColumn, _ place: Int, batch: RowBatch, row: Int) -> Value {
        switch column {
        case .key: return .integer(batch.key(row).rawValue)
        case .integer: return .integer(batch.integers(place)[row])
        case .real: return .real(batch.doubles(place)[row])
        case .text: return .text(String(decoding: batch.bytes(place, row), as: UTF8.self))
        case .link: return batch.isNull(place, row) ? .null : .link(Int(batch.integers(place)[row]))
        case .links: return links(batch.bytes(place, row))
        }
    }

    // MARK: Pinned versions

    func pin() throws(EngineError) -> SnapshotToken {
        pinCount += 1
        let token = SnapshotToken(number: pinCount)
        pinned[token] = try checked { () throws(StorageError) in try store.snapshot() }
        return token
    }

    func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
        guard let snapshot = pinned[token] else { throw EngineError(.refused, "no such snapshot") }
        return try read(reads, snapshot.view, latency: nil)
    }

    func unpin(_ token: SnapshotToken) throws(EngineError) {
        guard pinned.removeValue(forKey: token) != nil else { throw EngineError(.refused, "no such snapshot") }
    }
}

extension StorageSession: UpdateSession, DeletionSession {
    func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
        let table = try self.table(table)
        let column = try self.column(column, .integer, of: table)
        try checked { () throws(StorageError) in
            try write { transaction throws(StorageError) in
                for (key, value) in zip(keys, values) {
                    try transaction.set(table, RowKey(key), column: column, to: .integer(value))
                }
            }
        }
    }

    func increment(
        table: String, column: String, key: Int64, times: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> Int {
        let table = try self.table(table)
        let column = try self.column(column, .integer, of: table)
        return try checked { () throws(StorageError) in
            func incrementOnce() throws(StorageError) {
                try write { transaction throws(StorageError) in
                    guard let row = try transaction.view.locate(table, RowKey(key)) else { throw .misuse(.noSuchRow) }
                    let value = try transaction.view.integer(row, column) ?? 0
                    try transaction.set(table, RowKey(key), column: column, to: .integer(value &+ 1))
                }
            }
            for _ in 0..<times {
                if let latency { try latency.time(incrementOnce) } else { try incrementOnce() }
            }
            return times
        }
    }

    func delete(table: String, keys: [Int64]) throws(EngineError) {
        let table = try self.table(table)
        try checked { () throws(StorageError) in
            try write { transaction throws(StorageError) in
                for key in keys { try transaction.delete(table, RowKey(key)) }
            }
        }
    }
}
