import Harness
import Measuring
import RunRecords

/// Which version the body of a read sees, and whether the store may run the body again after a conflict.
@usableFromInline
package enum KeyValueReading {
    /// The body sees one version. The store may run it again.
    case batch
    /// The body sees one version. It runs once, since it passes rows on while it runs.
    case once
    /// The body looks up one row of the newest version, for one request. It runs once.
    case request
    /// The body visits rows of the newest version, for one request. The store may run it again.
    case requestOfRange
}

/// A session on a key-value store, whose rows are packed. A conforming class begins and ends the reads and transactions
/// of its store. The extension implements `TableSession`, `QuerySession`, `SnapshotSession`, `UpdateSession`,
/// `DeletionSession` and `KeyedRowSession`, except for `sizes`, `close` and `readPoints`.
///
/// The loops over rows are `@inlinable`, so that the compiler specialises them in the target of each store.
@usableFromInline
package protocol KeyValueSession: AnyObject {
    associatedtype Version: KeyValueVersion
    associatedtype Writer: KeyValueWriter
    associatedtype Pin: KeyValuePin

    /// The memory in which the running call puts its keys.
    var key: KeyBuffer { get }
    /// The tables, once the session has read or created them.
    var catalogue: PackedCatalogue? { get set }
    var pinned: PinnedVersions<Pin> { get set }
    /// The rows of `prepareRows`; nil before that call.
    var keyedRows: PackedKeyedRows? { get set }

    func read<Output>(
        _ reading: KeyValueReading, _ body: (Version) throws(EngineError) -> Output
    ) throws(EngineError) -> Output
    /// Runs the body in a transaction, and discards the transaction if the body throws. After a conflict the store may
    /// run the body again.
    func write(_ body: (Writer) throws(EngineError) -> Void) throws(EngineError)
    /// As ``write(_:)``, for a body that writes what depends on its reads. The default calls ``write(_:)``, for stores
    /// whose transactions exclude other writers or detect them.
    func change(_ body: (Writer) throws(EngineError) -> Void) throws(EngineError)
    /// Pins the newest version. A session may pin several versions.
    func newestVersion() throws(EngineError) -> Pin
    /// Finds a table by its name; throws if it finds none.
    func table(_ name: String) throws(EngineError) -> PackedTable
}

extension KeyValueSession {
    @inlinable @inline(__always)
    package func change(_ body: (Writer) throws(EngineError) -> Void) throws(EngineError) { try write(body) }

    @inlinable
    package func table(_ name: String) throws(EngineError) -> PackedTable { try storedTable(name) }

    /// Finds the table in the session's catalogue; before the session has one, among the tables that the program knows
    /// at compile time, or else in the stored catalogue.
    @inlinable
    package func storedTable(_ name: String) throws(EngineError) -> PackedTable {
        if let catalogue { return try catalogue.table(name) }
        if let known = PackedCatalogue.known(name) { return known }
        return try readCatalogue().table(name)
    }

    @usableFromInline
    package func readCatalogue() throws(EngineError) -> PackedCatalogue {
        let read = try read(.batch) { version throws(EngineError) in try version.catalogue() }
        guard let read else { throw EngineError(.untold, "there are no tables yet") }
        catalogue = read
        return read
    }

    // MARK: Filling

    package func create(_ tables: TableSet) throws(EngineError) {
        let catalogue = try PackedCatalogue(tables)
        try write { writer throws(EngineError) in try writer.create(catalogue) }
        self.catalogue = catalogue
    }

    @inlinable
    package func load(_ tables: TableSet) throws(EngineError) {
        let catalogue = try PackedCatalogue(tables)
        let key = key
        try write { writer throws(EngineError) in
            try writer.create(catalogue)
            for (table, rows) in zip(catalogue.tables, tables.tables) {
                try RowPacker.with(rows, as: table) { packer throws(EngineError) in
                    for row in 0..<rows.rowCount {
                        key.set(table.number, packer.key(row) ?? Int64(row))
                        try writer.append(key, packer.pack(row))
                    }
                }
            }
        }
        self.catalogue = catalogue
    }

    @inlinable
    package func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
        let table = try table(rows.name)
        let key = key
        try RowPacker.with(rows, as: table) { packer throws(EngineError) in
            func insert(_ row: Int) throws(EngineError) {
                if let own = packer.key(row) {
                    try write { writer throws(EngineError) in
                        key.set(table.number, own)
                        try writer.insert(key, packer.pack(row), into: table)
                    }
                } else {
                    // Two writers must not insert rows with the same index.
                    try change { writer throws(EngineError) in
                        key.set(table.number, try writer.nextKey(table))
                        try writer.insertNew(key, packer.pack(row))
                    }
                }
            }
            for row in 0..<rows.rowCount {
                if let latency {
                    try latency.time { () throws(EngineError) in try insert(row) }
                } else {
                    try insert(row)
                }
            }
        }
        return rows.rowCount
    }

    @inlinable
    package func insertAll(_ rows: Table) throws(EngineError) {
        let table = try table(rows.name)
        let key = key
        try RowPacker.with(rows, as: table) { packer throws(EngineError) in
            // Two writers must not insert rows with the same index.
            try change { writer throws(EngineError) in
                let first = try writer.firstKey(table, of: rows.rowCount)
                for row in 0..<rows.rowCount {
                    if let own = packer.key(row) {
                        key.set(table.number, own)
                        try writer.insert(key, packer.pack(row), into: table)
                    } else {
                        key.set(table.number, first + Int64(row))
                        try writer.insertNew(key, packer.pack(row))
                    }
                }
            }
        }
    }

    // MARK: Queries

    @inlinable
    package func rowCount(table: String) throws(EngineError) -> Int {
        let table = try self.table(table)
        return try read(.batch) { version throws(EngineError) in
            var count = 0
            // A scan reads each key, so that an entry whose key is damaged does not count as a row.
            try version.scan(table, from: .min, before: nil) { (_, _) throws(EngineError) in
                count += 1
                return true
            }
            return count
        }
    }

    @inlinable
    package func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
        for wanted in schema.tables {
            let table = try table(wanted.name)
            let isWanted = try read(.once) { version throws(EngineError) in
                var isWanted = true
                try version.scan(table, from: .min, before: nil) { (key, row) throws(EngineError) in
                    let values = try table.values(key, row)
                    isWanted = sink.receive(table: table.name, row: Int(key), values: values)
                    return isWanted
                }
                return isWanted
            }
            if !isWanted { return }
        }
    }

    @inlinable
    package func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int {
        let table = try self.table(table)
        let cell = PackedCell(try table.column(column, .text), of: table)
        let wanted = PackedText(text)
        return try read(.batch) { version throws(EngineError) in
            var count = 0
            try version.scan(table, from: .min, before: nil) { (_, row) throws(EngineError) in
                if wanted.equals(try cell.bytes(row)) { count += 1 }
                return true
            }
            return count
        }
    }

    @inlinable
    package func sum(table: String, column: String) throws(EngineError) -> Int64 {
        try Int64(bitPattern: iterate(table: table, column: column).sum)
    }

    @inlinable
    package func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int {
        let table = try self.table(filter.table)
        let first = PackedCell(try table.column(filter.integer, .integer), of: table)
        let second = PackedCell(try table.column(filter.real, .real), of: table)
        let (above, below) = (filter.above, filter.below)
        return try read(.batch) { version throws(EngineError) in
            var count = 0
            try version.scan(table, from: .min, before: nil) { (key, row) throws(EngineError) in
                if Int64(bitPattern: try first.word(key, row)) > above,
                    Double(bitPattern: try second.word(key, row)) < below
                {
                    count += 1
                }
                return true
            }
            return count
        }
    }

    @inlinable
    package func iterate(table: String, column: String) throws(EngineError) -> ReadDigest {
        let table = try self.table(table)
        let cell = PackedCell(try table.column(column, .integer), of: table)
        return try read(.batch) { version throws(EngineError) in
            var digest = ReadDigest()
            if cell.isInRow {
                try version.scanValues(table) { row throws(EngineError) in
                    digest.add(integer: Int64(bitPattern: try cell.word(in: row)))
                }
            } else {
                try version.scan(table, from: .min, before: nil) { (key, row) throws(EngineError) in
                    digest.add(integer: Int64(bitPattern: try cell.word(key, row)))
                    return true
                }
            }
            return digest
        }
    }

    // MARK: Pinned versions

    @inlinable
    package func pin() throws(EngineError) -> SnapshotToken { pinned.add(try newestVersion()) }

    @inlinable
    package func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
        try PackedPoints(reads, try table(reads.table)).read(from: try pinned.pin(token), key, latency: nil)
    }

    @inlinable
    package func unpin(_ token: SnapshotToken) throws(EngineError) { try pinned.release(token) }

    // MARK: Changes

    /// If `keys` has a key twice, its row keeps the last of the values.
    @inlinable
    package func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
        let table = try self.table(table)
        let patch = try RowPatch(table, table.column(column, .integer))
        let key = key
        try change { writer throws(EngineError) in
            for (number, value) in zip(keys, values) {
                key.set(table.number, number)
                try writer.get(key) { old throws(EngineError) in
                    try writer.put(key, try patch.patched(old, with: value))
                }
            }
        }
    }

    @inlinable
    package func increment(
        table: String, column: String, key number: Int64, times: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> Int {
        let table = try self.table(table)
        let column = try table.column(column, .integer)
        let patch = try RowPatch(table, column)
        let key = key
        func incrementOnce() throws(EngineError) {
            try change { writer throws(EngineError) in
                key.set(table.number, number)
                let isThere = try writer.get(key) { old throws(EngineError) in
                    let value = Int64(bitPattern: try table.word(column, number, old)) &+ 1
                    try writer.put(key, try patch.patched(old, with: value))
                }
                if !isThere { throw table.missing(number) }
            }
        }
        for _ in 0..<times {
            if let latency { try latency.time(incrementOnce) } else { try incrementOnce() }
        }
        return times
    }

    @inlinable
    package func delete(table: String, keys: [Int64]) throws(EngineError) {
        let table = try self.table(table)
        let key = key
        try write { writer throws(EngineError) in
            for number in keys {
                key.set(table.number, number)
                try writer.delete(key)
            }
        }
    }
}
