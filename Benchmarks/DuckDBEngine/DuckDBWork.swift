import Harness

extension DuckDBEngine {
    private static let cache = "columns of the file, decompressed by each statement; prepared statements"
    private static let checkpoint = "inside, where the log has 16 MiB; the rest at close"

    package func workNote(_ work: Work) -> WorkNote? {
        switch work {
        case .open:
            WorkNote(
                transaction: "none", snapshot: "by the read", perRow: "duckdb_open_ext, connect, prepare, execute",
                cache: "none: a new process")
        case .load:
            WorkNote(
                transaction: "one, with CREATE TABLE", snapshot: "the writer's",
                perRow: "a place in a chunk of columns, which the appender takes", cache: Self.cache,
                writeBack: Self.checkpoint)
        case .insertEach:
            WorkNote(
                transaction: "the statement's", snapshot: "the writer's",
                perRow: "1 INSERT; a key that is there is refused", cache: Self.cache, writeBack: Self.checkpoint)
        case .insertThreads:
            WorkNote(
                transaction: "the statement's", snapshot: "the writer's",
                perRow: "as from one thread, on a connection per thread", cache: Self.cache,
                writeBack: Self.checkpoint)
        case .readPoints:
            WorkNote(
                transaction: "BEGIN, COMMIT around the batch (`snapshot=each`: none)",
                snapshot: "one for the batch (`each`: one per SELECT)", perRow: "1 SELECT by primary key",
                cache: Self.cache)
        case .sum:
            WorkNote(
                transaction: "none", snapshot: "the statement's", perRow: "1 SELECT sum() over all rows",
                cache: Self.cache)
        case .iterate:
            WorkNote(
                transaction: "none", snapshot: "the statement's",
                perRow: "1 SELECT, whose chunks of 2048 rows are read as arrays", cache: Self.cache)
        case .update:
            WorkNote(
                transaction: "one", snapshot: "the writer's",
                perRow: "a place in a temporary table; 1 UPDATE joins it", cache: Self.cache,
                writeBack: Self.checkpoint)
        case .delete:
            WorkNote(
                transaction: "one", snapshot: "the writer's",
                perRow: "a place in a temporary table; 1 DELETE joins it", cache: Self.cache,
                writeBack: Self.checkpoint)
        case .traverse, .readHeld, .readRows, .changeRows, .check: nil
        }
    }
}
