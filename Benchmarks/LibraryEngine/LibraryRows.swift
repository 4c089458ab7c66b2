import Harness
import Measuring
import PackedRows
import RunRecords

extension LibrarySession: QuerySession, SnapshotSession {
    func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        let rows = try PointRows(reads, try table(reads.table))
        guard reads.snapshot == .each else {
            let transaction = try store.begin(store.snapshotKind)
            defer { transaction.abort() }
            return try read(reads, rows, transaction, latency: latency)
        }
        return try readNewest(reads, rows, latency: latency)
    }

    /// A transaction for each read, which sees the newest version.
    private func readNewest(
        _ reads: PointReads, _ rows: PointRows, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        var digest = ReadDigest()
        let (store, buffer) = (store, key)
        func read(_ key: Int64) throws(EngineError) {
            let transaction = try store.begin(.read)
            defer { transaction.abort() }
            try rows.read(key, buffer, transaction: transaction, digest: &digest)
        }
        for (index, key) in reads.keys.enumerated() {
            if let latency {
                try latency.timeSampled(index) { () throws(EngineError) in try read(key) }
            } else {
                try read(key)
            }
        }
        return digest
    }

    private func read(
        _ reads: PointReads, _ rows: PointRows, _ transaction: LibraryTransaction, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        var digest = ReadDigest()
        let buffer = key
        for (index, key) in reads.keys.enumerated() {
            if let latency {
                try latency.timeSampled(index) { () throws(EngineError) in
                    try rows.read(key, buffer, transaction: transaction, digest: &digest)
                }
            } else {
                try rows.read(key, buffer, transaction: transaction, digest: &digest)
            }
        }
        return digest
    }

    func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
        try read(reads, try PointRows(reads, try table(reads.table)), try pinned(token), latency: nil)
    }

    func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int {
        let table = try self.table(table)
        let cell = PackedCell(try table.column(column, .text), of: table)
        let wanted = PackedText(text)
        return try store.read { transaction throws(EngineError) in
            var count = 0
            try transaction.scan(table) { (_, value) throws(EngineError) in
                if wanted.equals(try cell.bytes(value)) { count += 1 }
                return true
            }
            return count
        }
    }

    func sum(table: String, column: String) throws(EngineError) -> Int64 {
        try Int64(bitPattern: iterate(table: table, column: column).sum)
    }

    func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int {
        let table = try self.table(filter.table)
        let first = PackedCell(try table.column(filter.integer, .integer), of: table)
        let second = PackedCell(try table.column(filter.real, .real), of: table)
        return try store.read { transaction throws(EngineError) in
            var count = 0
            try transaction.scan(table) { (key, value) throws(EngineError) in
                let isAbove = Int64(bitPattern: try first.word(key, value)) > filter.above
                if isAbove, Double(bitPattern: try second.word(key, value)) < filter.below { count += 1 }
                return true
            }
            return count
        }
    }

    func iterate(table: String, column: String) throws(EngineError) -> ReadDigest {
        let table = try self.table(table)
        let cell = PackedCell(try table.column(column, .integer), of: table)
        return try store.read { transaction throws(EngineError) in
            var digest = ReadDigest()
            try transaction.scan(table) { (key, value) throws(EngineError) in
                digest.add(integer: Int64(bitPattern: try cell.word(key, value)))
                return true
            }
            return digest
        }
    }
}

/// The columns that are read of each row.
private struct PointRows {
    private let number: UInt8
    private var cells: [PackedCell] = []

    init(_ reads: PointReads, _ table: PackedTable) throws(EngineError) {
        number = table.number
        for name in reads.columns { cells.append(PackedCell(try table.column(name), of: table)) }
    }

    @inline(__always)
    func read(
        _ key: Int64, _ buffer: KeyBuffer, transaction: LibraryTransaction, digest: inout ReadDigest
    ) throws(EngineError) {
        buffer.set(number, key)
        guard let value = try transaction.get(buffer) else { return }
        for cell in cells { try cell.add(key, value, to: &digest) }
    }
}

extension LibrarySession: UpdateSession, DeletionSession {
    /// A row given twice is written twice: the last value counts.
    func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
        let table = try self.table(table)
        let patch = try RowPatch(table, table.column(column, .integer))
        let key = key
        try store.write { transaction throws(EngineError) in
            for (number, value) in zip(keys, values) {
                key.set(table.number, number)
                guard let old = try transaction.get(key) else { continue }
                try transaction.put(key, try patch.patched(old, with: value))
            }
        }
    }

    func increment(
        table: String, column: String, key number: Int64, times: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> Int {
        let table = try self.table(table)
        let column = try table.column(column, .integer)
        let patch = try RowPatch(table, column)
        let (store, key) = (store, key)
        func incrementOnce() throws(EngineError) {
            try store.write { transaction throws(EngineError) in
                key.set(table.number, number)
                guard let old = try transaction.get(key) else {
                    throw EngineError(.refused, "table \(table.name) has no row \(number)")
                }
                let value = Int64(bitPattern: try table.word(column, number, old)) &+ 1
                try transaction.put(key, try patch.patched(old, with: value))
            }
        }
        for _ in 0..<times {
            if let latency { try latency.time(incrementOnce) } else { try incrementOnce() }
        }
        return times
    }

    func delete(table: String, keys: [Int64]) throws(EngineError) {
        let table = try self.table(table)
        let key = key
        try store.write { transaction throws(EngineError) in
            for number in keys {
                key.set(table.number, number)
                try transaction.delete(key)
            }
        }
    }
}
