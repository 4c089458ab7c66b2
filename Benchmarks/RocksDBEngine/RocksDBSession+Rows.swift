#if RocksDB
    import CRocksDB
    import Harness
    import Measuring
    import PackedRows
    import RunRecords

    /// A pinned version, and the options to read it.
    final class RocksDBSnapshot {
        private let store: RocksDBStore
        private let snapshot: OpaquePointer?
        let readOptions: OpaquePointer?

        init(_ store: RocksDBStore) {
            self.store = store
            snapshot = rocksdb_create_snapshot(store.handle)
            readOptions = rocksdb_readoptions_create()
            rocksdb_readoptions_set_snapshot(readOptions, snapshot)
        }

        func release() {
            rocksdb_readoptions_destroy(readOptions)
            rocksdb_release_snapshot(store.handle, snapshot)
        }
    }

    extension RocksDBSession: QuerySession, SnapshotSession {
        func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
            // Without a snapshot in the options each read uses the newest version.
            guard reads.snapshot == .batch, reads.keys.count > 1 else {
                return try read(reads, store.readOptions, latency: latency)
            }
            let snapshot = RocksDBSnapshot(store)
            defer { snapshot.release() }
            return try read(reads, snapshot.readOptions, latency: latency)
        }

        private func read(
            _ reads: PointReads, _ options: OpaquePointer?, latency: LatencyRecorder?
        ) throws(EngineError) -> ReadDigest {
            let table = try table(reads.table)
            var cells: [PackedCell] = []
            for name in reads.columns { cells.append(PackedCell(try table.column(name), of: table)) }
            let number = table.number
            var digest = ReadDigest()
            let (store, buffer) = (store, key)
            func read(_ key: Int64) throws(EngineError) {
                buffer.set(number, key)
                _ = try store.get(buffer, options) { value throws(EngineError) in
                    for cell in cells { try cell.add(key, value, to: &digest) }
                }
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

        func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int {
            let table = try self.table(table)
            let cell = PackedCell(try table.column(column, .text), of: table)
            let wanted = PackedText(text)
            var count = 0
            try store.scan(table) { (_, value) throws(EngineError) in
                if wanted.equals(try cell.bytes(value)) { count += 1 }
                return true
            }
            return count
        }

        func sum(table: String, column: String) throws(EngineError) -> Int64 {
            try Int64(bitPattern: iterate(table: table, column: column).sum)
        }

        func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int {
            let table = try self.table(filter.table)
            let first = PackedCell(try table.column(filter.integer, .integer), of: table)
            let second = PackedCell(try table.column(filter.real, .real), of: table)
            var count = 0
            try store.scan(table) { (key, value) throws(EngineError) in
                if Int64(bitPattern: try first.word(key, value)) > filter.above,
                    Double(bitPattern: try second.word(key, value)) < filter.below
                {
                    count += 1
                }
                return true
            }
            return count
        }

        func iterate(table: String, column: String) throws(EngineError) -> ReadDigest {
            let table = try self.table(table)
            let cell = PackedCell(try table.column(column, .integer), of: table)
            var digest = ReadDigest()
            try store.scan(table) { (key, value) throws(EngineError) in
                digest.add(integer: Int64(bitPattern: try cell.word(key, value)))
                return true
            }
            return digest
        }

        // MARK: Pinned versions

        func pin() throws(EngineError) -> SnapshotToken {
            pinCount += 1
            let token = SnapshotToken(number: pinCount)
            pinned[token] = RocksDBSnapshot(store)
            return token
        }

        func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
            guard let snapshot = pinned[token] else { throw EngineError(.refused, "no such snapshot") }
            return try read(reads, snapshot.readOptions, latency: nil)
        }

        func unpin(_ token: SnapshotToken) throws(EngineError) {
            guard let snapshot = pinned.removeValue(forKey: token) else {
                throw EngineError(.refused, "no such snapshot")
            }
            snapshot.release()
        }
    }

    extension RocksDBSession: UpdateSession, DeletionSession {
        /// For a duplicate key the last value counts: all rows are read before the batch is written.
        func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
            let table = try self.table(table)
            let patch = try RowPatch(table, table.column(column, .integer))
            let (store, key) = (store, key)
            try store.readModifyWrite.withLock { _ throws(EngineError) in
                try store.write { batch throws(EngineError) in
                    for (number, value) in zip(keys, values) {
                        key.set(table.number, number)
                        _ = try store.get(key, store.readOptions) { old throws(EngineError) in
                            batch.put(key, try patch.patched(old, with: value))
                        }
                    }
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
                try store.readModifyWrite.withLock { _ throws(EngineError) in
                    key.set(table.number, number)
                    try store.write { batch throws(EngineError) in
                        let isThere = try store.get(key, store.readOptions) { old throws(EngineError) in
                            let value = Int64(bitPattern: try table.word(column, number, old)) &+ 1
                            batch.put(key, try patch.patched(old, with: value))
                        }
                        if !isThere { throw EngineError(.refused, "table \(table.name) has no row \(number)") }
                    }
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
            try store.write { batch throws(EngineError) in
                for number in keys {
                    key.set(table.number, number)
                    batch.delete(key)
                }
            }
        }
    }
#endif
