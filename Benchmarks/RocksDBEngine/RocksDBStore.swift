#if RocksDB
    import CRocksDB
    import Harness
    import PackedRows
    import Synchronization

    /// An open database.
    ///
    /// `@unchecked Sendable`: the library supports use by all threads, and the options do not change after the open.
    final class RocksDBStore: @unchecked Sendable, KeyValueVersion {
        static let open = OpenStores<RocksDBStore>()

        let handle: OpaquePointer
        let directory: String
        private let options: OpaquePointer?
        let writeOptions: OpaquePointer?
        /// Reads with these options see the newest version.
        let readOptions: OpaquePointer?
        /// Held from a read to the write that depends on it.
        let readModifyWrite = Mutex<Void>(())

        init(directory: String, settings: RocksDBSettings) throws(EngineError) {
            options = rocksdb_options_create()
            rocksdb_options_set_create_if_missing(options, 1)
            self.directory = directory
            if settings.tuning == .tuned { Self.tune(options) }
            writeOptions = rocksdb_writeoptions_create()
            rocksdb_writeoptions_set_sync(writeOptions, settings.isSynced ? 1 : 0)
            rocksdb_writeoptions_disable_WAL(writeOptions, settings.hasLog ? 0 : 1)
            readOptions = rocksdb_readoptions_create()
            var message: UnsafeMutablePointer<CChar>?
            guard let opened = rocksdb_open(options, directory, &message), message == nil else {
                let error = Self.error(message)
                rocksdb_readoptions_destroy(readOptions)
                rocksdb_writeoptions_destroy(writeOptions)
                rocksdb_options_destroy(options)
                throw error
            }
            handle = opened
        }

        /// Options that a RocksDB user would set for point reads: a block cache that holds the table, bloom filters, a
        /// hash index inside blocks, and a large memtable.
        ///
        /// Left out: recycled logs (`recycle_log_file_num`), which are incompatible with the default recovery.
        private static func tune(_ options: OpaquePointer?) {
            let table = rocksdb_block_based_options_create()
            let cache = rocksdb_cache_create_lru(RocksDBSettings.tunedCacheBytes)
            rocksdb_block_based_options_set_block_cache(table, cache)
            // The table keeps a reference of its own.
            rocksdb_cache_destroy(cache)
            rocksdb_block_based_options_set_filter_policy(
                table, rocksdb_filterpolicy_create_bloom_full(RocksDBSettings.bloomBits))
            rocksdb_block_based_options_set_data_block_index_type(
                table, Int32(rocksdb_block_based_table_data_block_index_type_binary_search_and_hash))
            rocksdb_block_based_options_set_data_block_hash_ratio(table, RocksDBSettings.hashRatio)
            rocksdb_options_set_block_based_table_factory(options, table)
            rocksdb_block_based_options_destroy(table)
            rocksdb_options_set_write_buffer_size(options, RocksDBSettings.tunedBufferBytes)
            rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1)
            rocksdb_options_set_bytes_per_sync(options, 1 << 20)
        }

        /// Flushes the memtable to a file, as a careful application does at its end.
        func close() throws(EngineError) {
            var message: UnsafeMutablePointer<CChar>?
            let flush = rocksdb_flushoptions_create()
            rocksdb_flush(handle, flush, &message)
            rocksdb_flushoptions_destroy(flush)
            rocksdb_close(handle)
            rocksdb_readoptions_destroy(readOptions)
            rocksdb_writeoptions_destroy(writeOptions)
            rocksdb_options_destroy(options)
            try Self.check(message)
        }

        /// Frees the message.
        static func check(_ message: UnsafeMutablePointer<CChar>?) throws(EngineError) {
            if message != nil { throw error(message) }
        }

        private static func error(_ message: UnsafeMutablePointer<CChar>?) -> EngineError {
            guard let message else { return EngineError(.refused, "RocksDB gave no reason") }
            defer { rocksdb_free(message) }
            let text = String(cString: message)
            let isFull = text.hasPrefix("IO error: No space")
            return EngineError(text.hasPrefix("Corruption") ? .damaged : isFull ? .outOfSpace : .refused, text)
        }

        @inline(__always) @discardableResult
        func get(
            _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
        ) throws(EngineError) -> Bool { try get(key, readOptions, body) }

        @inline(__always)
        func get(
            _ key: UnsafeRawBufferPointer, _ options: OpaquePointer?,
            _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
        ) throws(EngineError) -> Bool {
            var message: UnsafeMutablePointer<CChar>?
            let slice = rocksdb_get_pinned(
                handle, options, key.baseAddress?.assumingMemoryBound(to: CChar.self), key.count, &message)
            try Self.check(message)
            guard let slice else { return false }
            defer { rocksdb_pinnableslice_destroy(slice) }
            var count = 0
            let start = rocksdb_pinnableslice_value(slice, &count)
            try body(UnsafeRawBufferPointer(start: start, count: count))
            return true
        }

        @inline(__always)
        func scan(
            _ table: PackedTable, from lowest: Int64, before highest: Int64?,
            _ body: (Int64, UnsafeRawBufferPointer) throws(EngineError) -> Bool
        ) throws(EngineError) {
            let iterator = rocksdb_create_iterator(handle, readOptions)
            defer { rocksdb_iter_destroy(iterator) }
            let first = KeyBuffer()
            first.set(table.number, lowest)
            rocksdb_iter_seek(iterator, first.start.assumingMemoryBound(to: CChar.self), PackedKey.byteCount)
            while rocksdb_iter_valid(iterator) != 0 {
                var count = 0
                let key = rocksdb_iter_key(iterator, &count)
                let bytes = UnsafeRawBufferPointer(start: key, count: count)
                guard let number = PackedKey.read(bytes, of: table.number) else { break }
                if let highest, number >= highest { return }
                let value = rocksdb_iter_value(iterator, &count)
                guard try body(number, UnsafeRawBufferPointer(start: value, count: count)) else { return }
                rocksdb_iter_next(iterator)
            }
            var message: UnsafeMutablePointer<CChar>?
            rocksdb_iter_get_error(iterator, &message)
            try Self.check(message)
        }

        /// The largest key of a table; nil when it has no row.
        func lastKey(_ table: PackedTable) throws(EngineError) -> Int64? {
            let iterator = rocksdb_create_iterator(handle, readOptions)
            defer { rocksdb_iter_destroy(iterator) }
            let last = KeyBuffer()
            last.set(table.number, .max)
            rocksdb_iter_seek_for_prev(iterator, last.start.assumingMemoryBound(to: CChar.self), PackedKey.byteCount)
            var message: UnsafeMutablePointer<CChar>?
            rocksdb_iter_get_error(iterator, &message)
            try Self.check(message)
            guard rocksdb_iter_valid(iterator) != 0 else { return nil }
            var count = 0
            let key = rocksdb_iter_key(iterator, &count)
            return PackedKey.read(UnsafeRawBufferPointer(start: key, count: count), of: table.number)
        }

        /// Writes the changes that the body adds to a batch, atomically.
        func write(_ body: (RocksDBBatch) throws(EngineError) -> Void) throws(EngineError) {
            let batch = RocksDBBatch(self)
            try body(batch)
            var message: UnsafeMutablePointer<CChar>?
            rocksdb_write(handle, writeOptions, batch.handle, &message)
            try Self.check(message)
        }
    }

    /// Changes that `rocksdb_write` writes together. Its reads see the newest version, without these changes.
    final class RocksDBBatch: KeyValueWriter {
        let handle = rocksdb_writebatch_create()
        private let store: RocksDBStore

        init(_ store: RocksDBStore) { self.store = store }

        deinit { rocksdb_writebatch_destroy(handle) }

        @inline(__always) @discardableResult
        func get(
            _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
        ) throws(EngineError) -> Bool { try store.get(key, body) }

        func lastKey(_ table: PackedTable) throws(EngineError) -> Int64? { try store.lastKey(table) }

        @inline(__always)
        func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
            rocksdb_writebatch_put(
                handle, key.baseAddress?.assumingMemoryBound(to: CChar.self), key.count,
                value.baseAddress?.assumingMemoryBound(to: CChar.self), value.count)
        }

        @inline(__always)
        func delete(_ key: KeyBuffer) {
            rocksdb_writebatch_delete(handle, key.start.assumingMemoryBound(to: CChar.self), PackedKey.byteCount)
        }
    }

    /// A pinned version, and the options to read it.
    final class RocksDBSnapshot: KeyValuePin {
        private let store: RocksDBStore
        private let snapshot: OpaquePointer?
        private let readOptions: OpaquePointer?

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

        @inline(__always) @discardableResult
        func get(
            _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
        ) throws(EngineError) -> Bool { try store.get(key, readOptions, body) }
    }
#endif
