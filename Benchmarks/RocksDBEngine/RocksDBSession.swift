#if RocksDB
    import CRocksDB
    import Files
    import Harness
    import Measuring
    import PackedRows
    import RunRecords

    /// A thread's session on a database. A call that writes is one batch, unless documented otherwise.
    final class RocksDBSession: TableSession {
        private let directory: String
        private let settings: RocksDBSettings
        let store: RocksDBStore
        private var isOpen = true
        private var catalogue: PackedCatalogue?
        let key = KeyBuffer()
        var pinned: [SnapshotToken: RocksDBSnapshot] = [:]
        var pinCount = 0
        /// Of `KeyedRowSession`.
        var keyedRows: PackedKeyedRows?

        init(directory: String, settings: RocksDBSettings) throws(EngineError) {
            self.directory = directory
            self.settings = settings
            store = try RocksDBStore.open.store(directory) { () throws(EngineError) in
                try RocksDBStore(directory: directory, settings: settings)
            }
        }

        /// Files that a compaction removes meanwhile do not count.
        func sizes() throws(EngineError) -> SizePoint {
            var live: UInt64 = 0
            rocksdb_property_int(store.handle, "rocksdb.estimate-live-data-size", &live)
            var (tables, log) = (0, 0)
            for file in RocksDBEngine().files(at: DatabaseLocation(directory: directory)) {
                let size: Int
                do { size = try FileTree.size(file.path) } catch { continue }
                if file.role == .log { log += size } else { tables += size }
            }
            return SizePoint(
                fileBytes: tables, liveBytes: Int(live), freeBytes: max(0, tables - Int(live)), logBytes: log)
        }

        func close() throws(EngineError) {
            guard isOpen else { return }
            isOpen = false
            for snapshot in pinned.values { snapshot.release() }
            pinned = [:]
            try RocksDBStore.open.letGo(directory) { store throws(EngineError) in try store.close() }
        }

        // MARK: Tables

        /// The table as the database has it.
        func table(_ name: String) throws(EngineError) -> PackedTable {
            if let catalogue { return try catalogue.table(name) }
            if let known = PackedCatalogue.known(name) { return known }
            guard let catalogue = try readCatalogue() else { throw EngineError(.untold, "there are no tables yet") }
            self.catalogue = catalogue
            return try catalogue.table(name)
        }

        private func readCatalogue() throws(EngineError) -> PackedCatalogue? {
            let store = store
            var read: [UInt8]?
            try PackedCatalogue.withKey { key throws(EngineError) in
                _ = try store.get(key, store.readOptions) { read = Array($0) }
            }
            guard let read else { return nil }
            return try PackedCatalogue(bytes: read)
        }

        func create(_ tables: TableSet) throws(EngineError) {
            try write(try PackedCatalogue(tables), rows: [])
        }

        func load(_ tables: TableSet) throws(EngineError) {
            try write(try PackedCatalogue(tables), rows: tables.tables)
        }

        private func write(_ catalogue: PackedCatalogue, rows: [Table]) throws(EngineError) {
            guard try readCatalogue() == nil else { throw EngineError(.refused, "there are tables already") }
            let key = key
            try store.write { batch throws(EngineError) in
                try PackedCatalogue.withKey { key throws(EngineError) in
                    try catalogue.withBytes { bytes throws(EngineError) in batch.put(key, bytes) }
                }
                for (table, rows) in zip(catalogue.tables, rows) {
                    try RowPacker.with(rows, as: table) { packer throws(EngineError) in
                        for row in 0..<rows.rowCount {
                            key.set(table.number, packer.key(row) ?? Int64(row))
                            batch.put(key, packer.pack(row))
                        }
                    }
                }
            }
            self.catalogue = catalogue
        }

        func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
            let table = try table(rows.name)
            try RowPacker.with(rows, as: table) { packer throws(EngineError) in
                for row in 0..<rows.rowCount {
                    if let latency {
                        try latency.time { () throws(EngineError) in try insert(packer, row) }
                    } else {
                        try insert(packer, row)
                    }
                }
            }
            return rows.rowCount
        }

        private func insert(_ packer: RowPacker, _ row: Int) throws(EngineError) {
            let (store, key, table) = (store, key, packer.table)
            guard let own = packer.key(row) else {
                // Two writers must not take one row index.
                try store.readModifyWrite.withLock { _ throws(EngineError) in
                    key.set(table.number, try store.lastKey(table).map { $0 + 1 } ?? 0)
                    try store.write { $0.put(key, packer.pack(row)) }
                }
                return
            }
            key.set(table.number, own)
            if try store.get(key, store.readOptions, { _ in }) {
                throw EngineError(.refused, "table \(table.name) has a row \(own)")
            }
            try store.write { $0.put(key, packer.pack(row)) }
        }

        func insertAll(_ rows: Table) throws(EngineError) {
            let table = try table(rows.name)
            try RowPacker.with(rows, as: table) { packer throws(EngineError) in
                // Two writers must not take one row index.
                try store.readModifyWrite.withLock { _ throws(EngineError) in
                    try insertAll(packer, rows.rowCount)
                }
            }
        }

        private func insertAll(_ packer: RowPacker, _ count: Int) throws(EngineError) {
            let (store, key, table) = (store, key, packer.table)
            let first = try store.lastKey(table).map { $0 + 1 } ?? 0
            for row in 0..<count {
                guard let own = packer.key(row) else { continue }
                key.set(table.number, own)
                if try store.get(key, store.readOptions, { _ in }) {
                    throw EngineError(.refused, "table \(table.name) has a row \(own)")
                }
            }
            try store.write { batch throws(EngineError) in
                for row in 0..<count {
                    key.set(table.number, packer.key(row) ?? first + Int64(row))
                    batch.put(key, packer.pack(row))
                }
            }
        }

        func rowCount(table: String) throws(EngineError) -> Int {
            var count = 0
            try store.scan(try self.table(table)) { (_, _) throws(EngineError) in
                count += 1
                return true
            }
            return count
        }

        func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
            for wanted in schema.tables {
                let table = try table(wanted.name)
                var isWanted = true
                try store.scan(table) { (key, value) throws(EngineError) in
                    let values = try table.values(key, value)
                    isWanted = sink.receive(table: table.name, row: Int(key), values: values)
                    return isWanted
                }
                if !isWanted { return }
            }
        }
    }

    extension RocksDBSession: SettingsSession {
        /// From the newest file OPTIONS, which the library writes at open with the effective values. It lacks write
        /// options and the size of the cache, which is queried by property.
        func observedSettings() throws(EngineError) -> [EngineSetting] {
            let text: String
            do {
                let newest = try FileTree.names(in: directory).filter { $0.hasPrefix("OPTIONS-") }.max()
                guard let newest else { throw EngineError(.refused, "RocksDB wrote no file OPTIONS") }
                text = try FileTree.readText("\(directory)/\(newest)")
            } catch {
                throw EngineError(.refused, "\(error)")
            }
            var values: [Substring: Substring] = [:]
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: "=", maxSplits: 1)
                let name = parts[0].drop { $0 == " " }
                if parts.count == 2, values[name] == nil { values[name] = parts[1] }
            }
            var settings: [EngineSetting] = []
            for stated in self.settings.observable {
                guard let value = values[Substring(stated.name)] else {
                    throw EngineError(.refused, "the file OPTIONS has no \(stated.name)")
                }
                settings.append(EngineSetting(stated.name, String(value)))
            }
            var cache: UInt64 = 0
            if rocksdb_property_int(store.handle, "rocksdb.block-cache-capacity", &cache) == 0 {
                settings.append(EngineSetting("block_cache", "\(cache)"))
            }
            return settings
        }
    }

    extension RocksDBSession: CompactionSession {
        /// Flushes the memtable, then compacts all files into new ones.
        func compact() throws(EngineError) {
            var message: UnsafeMutablePointer<CChar>?
            let flush = rocksdb_flushoptions_create()
            rocksdb_flush(store.handle, flush, &message)
            rocksdb_flushoptions_destroy(flush)
            try RocksDBStore.check(message)
            rocksdb_compact_range(store.handle, nil, 0, nil, 0)
        }
    }
#endif
