#if RocksDB
    import CRocksDB
    import Files
    import Harness
    import Measuring
    import PackedRows
    import RunRecords

    /// A thread's session on a database. It writes each transaction as one batch.
    final class RocksDBSession: TableSession, QuerySession, SnapshotSession, UpdateSession, DeletionSession,
        KeyedRowSession
    {
        private let directory: String
        private let settings: RocksDBSettings
        let store: RocksDBStore
        private var isOpen = true
        let key = KeyBuffer()
        var catalogue: PackedCatalogue?
        var pinned = PinnedVersions<RocksDBSnapshot>()
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
            keyedRows = nil
            pinned.releaseAll()
            try RocksDBStore.open.letGo(directory) { store throws(EngineError) in try store.close() }
        }

        func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
            let points = try PackedPoints(reads, try table(reads.table))
            // Without a snapshot in the options each read uses the newest version.
            guard reads.snapshot == .batch, reads.keys.count > 1 else {
                return try points.read(from: store, key, latency: latency)
            }
            let snapshot = RocksDBSnapshot(store)
            defer { snapshot.release() }
            return try points.read(from: snapshot, key, latency: latency)
        }
    }

    extension RocksDBSession: KeyValueSession {
        /// A look-up sees the newest version, and an iterator the version at its creation.
        @inline(__always)
        func read<Output>(
            _ reading: KeyValueReading, _ body: (RocksDBStore) throws(EngineError) -> Output
        ) throws(EngineError) -> Output { try body(store) }

        @inline(__always)
        func write(_ body: (RocksDBBatch) throws(EngineError) -> Void) throws(EngineError) { try store.write(body) }

        /// Holds a lock, so that one thread of the process at a time reads and then writes. The body's reads do not see
        /// what the body has added to its batch.
        @inline(__always)
        func change(_ body: (RocksDBBatch) throws(EngineError) -> Void) throws(EngineError) {
            let store = store
            try store.readModifyWrite.withLock { _ throws(EngineError) in try store.write(body) }
        }

        func newestVersion() throws(EngineError) -> RocksDBSnapshot { RocksDBSnapshot(store) }
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
