#if SQLite
    import Harness

    extension SQLiteEngine {
        private var cache: String {
            tuning == .tuned
                ? "256 MiB of pages and the map; prepared statements" : "2 MB of pages; prepared statements"
        }

        private var checkpoint: String {
            "inside, after every \(SQLiteSettings(durability: .full, tuning: tuning).checkpointPages) pages of the log"
        }

        private static let later = "outside: the next commit or the close writes the log back"

        private var readRowsNote: WorkNote {
            WorkNote(
                transaction: "none", snapshot: "the statement's",
                perRow: "1 SELECT by rowid; of a range 1 SELECT, a step per row",
                cache: cache)
        }

        private var changeRowsNote: WorkNote {
            WorkNote(
                transaction: "BEGIN IMMEDIATE, COMMIT", snapshot: "the writer's",
                perRow: "1 UPDATE by rowid; read-modify-write: 1 SELECT before it",
                cache: cache, writeBack: checkpoint)
        }

        package func workNote(_ work: Work) -> WorkNote? {
            switch work {
            case .open:
                WorkNote(
                    transaction: "none", snapshot: "by the read",
                    perRow: "sqlite3_open_v2, busy timeout, the pragmas that differ from SQLite's own, prepare, step",
                    cache: "none: a new process")
            case .load:
                WorkNote(
                    transaction: "one, with CREATE TABLE", snapshot: "the writer's",
                    perRow: "1 INSERT, bound without copying texts", cache: cache, writeBack: Self.later)
            case .insertEach:
                WorkNote(
                    transaction: "BEGIN IMMEDIATE, COMMIT", snapshot: "the writer's",
                    perRow: "3 prepared statements; a key that is there is refused", cache: cache,
                    writeBack: checkpoint)
            case .insertThreads:
                WorkNote(
                    transaction: "BEGIN IMMEDIATE, COMMIT, under a lock of the process (`writers=busy`: SQLite's busy "
                        + "handler)", snapshot: "the writer's",
                    perRow: "as from one thread, on a connection per thread", cache: cache, writeBack: checkpoint)
            case .readPoints:
                WorkNote(
                    transaction: "BEGIN, COMMIT around the batch (`snapshot=each`: none)",
                    snapshot: "one for the batch (`each`: one per SELECT)", perRow: "1 SELECT by rowid", cache: cache)
            case .readRows: readRowsNote
            case .sum:
                WorkNote(
                    transaction: "none", snapshot: "the statement's", perRow: "1 SELECT sum() over all rows",
                    cache: cache)
            case .iterate:
                WorkNote(transaction: "none", snapshot: "the statement's", perRow: "1 step", cache: cache)
            case .traverse:
                WorkNote(
                    transaction: "BEGIN, COMMIT around the walk (`snapshot=each`: none)",
                    snapshot: "one for the walk (`each`: one per row)",
                    perRow: "1 SELECT that joins the table of links", cache: cache)
            case .readHeld: nil
            case .update:
                WorkNote(
                    transaction: "one", snapshot: "the writer's", perRow: "1 UPDATE by rowid", cache: cache,
                    writeBack: checkpoint)
            case .changeRows: changeRowsNote
            case .delete:
                WorkNote(
                    transaction: "one", snapshot: "the writer's",
                    perRow: "1 DELETE by rowid, 1 for each table of links that may hold the row", cache: cache,
                    writeBack: Self.later)
            case .check:
                WorkNote(
                    transaction: "none", snapshot: "the statement's",
                    perRow: "PRAGMA integrity_check: pages, trees, indexes against their tables; no checksums",
                    cache: cache)
            }
        }
    }
#endif
