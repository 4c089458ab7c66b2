#if RocksDB
    import Harness

    extension RocksDBEngine {
        package func workNote(_ work: Work) -> WorkNote? {
            let cache = tuning == .tuned ? "256 MiB of blocks, filters" : "8 MiB of blocks (its default)"
            let later = "outside: a full buffer is written by a thread of its own, the rest at close"
            return switch work {
            case .open:
                WorkNote(
                    transaction: "none", snapshot: "the newest", perRow: "rocksdb_open, rocksdb_get_pinned",
                    cache: "none: a new process")
            case .load:
                WorkNote(
                    transaction: "one batch", snapshot: "none", perRow: "rocksdb_writebatch_put", cache: cache,
                    writeBack: later)
            case .insertEach:
                WorkNote(
                    transaction: "a batch each", snapshot: "the newest",
                    perRow: "rocksdb_get_pinned, so that a key that is there is refused; rocksdb_write", cache: cache,
                    writeBack: later)
            case .insertThreads:
                WorkNote(
                    transaction: "a batch each; RocksDB syncs the log once for those that wait", snapshot: "the newest",
                    perRow: "as from one thread", cache: cache, writeBack: later)
            case .readPoints:
                WorkNote(
                    transaction: "none", snapshot: "one for the batch (`snapshot=each`: the newest per read)",
                    perRow: "rocksdb_get_pinned, values read in place", cache: cache)
            case .readRows:
                WorkNote(
                    transaction: "none", snapshot: "the newest; of a range the iterator's",
                    perRow: "rocksdb_get_pinned, values read in place; of a range rocksdb_iter_next",
                    cache: cache)
            case .sum, .iterate:
                WorkNote(
                    transaction: "none", snapshot: "the iterator's",
                    perRow: "rocksdb_iter_next, a value read in place", cache: cache)
            case .traverse, .readHeld: nil
            case .update:
                WorkNote(
                    transaction: "one batch, under a lock of the process", snapshot: "the newest",
                    perRow: "rocksdb_get_pinned, rocksdb_writebatch_put of the whole row", cache: cache,
                    writeBack: later)
            case .changeRows:
                WorkNote(
                    transaction: "a batch each, under a lock of the process", snapshot: "the newest",
                    perRow: "rocksdb_get_pinned, rocksdb_write of the whole row",
                    cache: cache, writeBack: later)
            case .delete:
                WorkNote(
                    transaction: "one batch", snapshot: "none", perRow: "rocksdb_writebatch_delete", cache: cache,
                    writeBack: later)
            case .check:
                WorkNote(
                    transaction: "none", snapshot: "the iterator's",
                    perRow: "rocksdb_iter_next with verify_checksums, past the cache: the C interface has no "
                        + "VerifyChecksum", cache: "none")
            }
        }
    }
#endif
