#if RocksDB
    import CRocksDB
    import Harness
    import PackedRows

    extension RocksDBEngine: CheckingEngine {
        /// Its C interface has no `VerifyChecksum`: every entry is read with `verify_checksums`, bypassing the cache,
        /// which verifies each block in the same way.
        package func check(_ location: DatabaseLocation) throws(EngineError) {
            let store = try RocksDBStore(
                directory: location.directory, settings: RocksDBSettings(durability: .full, tuning: tuning))
            var failure: EngineError?
            do throws(EngineError) { try store.verifyBlocks() } catch { failure = error }
            try store.close()
            if let failure { throw failure }
        }
    }

    extension RocksDBStore {
        fileprivate func verifyBlocks() throws(EngineError) {
            let options = rocksdb_readoptions_create()
            rocksdb_readoptions_set_verify_checksums(options, 1)
            rocksdb_readoptions_set_fill_cache(options, 0)
            rocksdb_readoptions_set_total_order_seek(options, 1)
            let iterator = rocksdb_create_iterator(handle, options)
            defer {
                rocksdb_iter_destroy(iterator)
                rocksdb_readoptions_destroy(options)
            }
            rocksdb_iter_seek_to_first(iterator)
            while rocksdb_iter_valid(iterator) != 0 { rocksdb_iter_next(iterator) }
            var message: UnsafeMutablePointer<CChar>?
            rocksdb_iter_get_error(iterator, &message)
            try Self.check(message)
        }
    }
#endif
