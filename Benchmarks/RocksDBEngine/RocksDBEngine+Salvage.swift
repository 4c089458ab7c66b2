#if RocksDB
    import CRocksDB
    import Files
    import Harness

    extension RocksDBEngine: SalvagingEngine {
        package var salvageMeans: String { "rocksdb_repair_db" }

        /// Repairs a copy in place, as the library does. It does not report what it left out.
        package func salvage(
            _ damaged: DatabaseLocation, into rescued: DatabaseLocation
        ) throws(EngineError) -> SalvageClaim? {
            do {
                for file in files(at: damaged) where file.role != .lock {
                    let name = file.path.dropFirst(damaged.directory.count)
                    try FileTree.copy(from: file.path, to: rescued.directory + name)
                }
            } catch {
                throw EngineError(.refused, "\(error)")
            }
            let options = rocksdb_options_create()
            defer { rocksdb_options_destroy(options) }
            var message: UnsafeMutablePointer<CChar>?
            rocksdb_repair_db(options, rescued.directory, &message)
            try RocksDBStore.check(message)
            return nil
        }
    }
#endif
