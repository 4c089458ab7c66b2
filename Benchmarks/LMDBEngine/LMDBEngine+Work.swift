#if LMDB
    import Harness

    extension LMDBEngine {
        package func workNote(_ work: Work) -> WorkNote? {
            let cache = tuning == .tuned ? "the map, without read-ahead" : "the map"
            let done = "inside: a commit writes the pages where they stay"
            return switch work {
            case .open:
                WorkNote(
                    transaction: "one that opens the database's handle", snapshot: "a read transaction",
                    perRow: "mdb_env_open, mdb_dbi_open, mdb_get", cache: "none: a new process")
            case .load:
                WorkNote(
                    transaction: "one", snapshot: "the writer's", perRow: "mdb_put with MDB_APPEND, keys in order",
                    cache: cache, writeBack: done)
            case .insertEach:
                WorkNote(
                    transaction: "one each", snapshot: "the writer's", perRow: "mdb_put with MDB_NOOVERWRITE",
                    cache: cache, writeBack: done)
            case .insertThreads:
                WorkNote(
                    transaction: "one each, in turn by LMDB's own lock", snapshot: "the writer's",
                    perRow: "mdb_put with MDB_NOOVERWRITE", cache: cache, writeBack: done)
            case .readPoints:
                WorkNote(
                    transaction: "a read transaction",
                    snapshot: "one for the batch (`snapshot=each`: mdb_txn_reset, mdb_txn_renew per read)",
                    perRow: "mdb_get, values read in place", cache: cache)
            case .readRows:
                WorkNote(
                    transaction: "a read transaction that rests between calls",
                    snapshot: "mdb_txn_renew and mdb_txn_reset per call",
                    perRow: "mdb_get, values read in place; of a range mdb_cursor_get",
                    cache: cache)
            case .sum, .iterate:
                WorkNote(
                    transaction: "a read transaction", snapshot: "one", perRow: "mdb_cursor_get, a value read in place",
                    cache: cache)
            case .traverse, .readHeld: nil
            case .update:
                WorkNote(
                    transaction: "one", snapshot: "the writer's", perRow: "mdb_get, mdb_put of the whole row",
                    cache: cache, writeBack: done)
            case .changeRows:
                WorkNote(
                    transaction: "one each", snapshot: "the writer's",
                    perRow: "mdb_get, mdb_put of the whole row",
                    cache: cache, writeBack: done)
            case .delete:
                WorkNote(
                    transaction: "one", snapshot: "the writer's", perRow: "mdb_del", cache: cache, writeBack: done)
            case .check:
                WorkNote(
                    transaction: "a read transaction", snapshot: "one",
                    perRow: "it has no check: mdb_cursor_get of every entry, its value read from end to end, and the "
                        + "number held against mdb_env_stat", cache: cache)
            }
        }
    }
#endif
