import Harness
import RunRecords

/// The settings at open, and DuckDB's defaults.
struct DuckDBSettings: Sendable {
    var durability: DurabilityClass

    /// One thread, as other engines use for a call, without background threads; no downloads.
    var configuration: [(name: String, value: String)] {
        [
            ("threads", "1"), ("autoinstall_known_extensions", "false"), ("autoload_known_extensions", "false"),
        ] + (durability == .none ? [("fsync_mode", "NONE")] : [])
    }

    var configurationWhereKnown: [(name: String, value: String)] { [("async_threads", "0")] }

    private var syncs: String { durability == .none ? "NONE" : "STANDARD" }

    /// The settings that an open database reports, by its own names.
    var observable: [EngineSetting] {
        [
            EngineSetting("threads", "1"), EngineSetting("async_threads", "0"), EngineSetting("fsync_mode", syncs),
            EngineSetting("checkpoint_threshold", "16.0 MiB"), EngineSetting("preserve_insertion_order", "true"),
        ]
    }

    var list: [EngineSetting] {
        observable + [
            EngineSetting("memory_limit", "DuckDB's own: 80 % of the memory"),
            EngineSetting("tables", "a column each: BIGINT, DOUBLE, VARCHAR, links as BIGINT[]"),
            EngineSetting("keys", "PRIMARY KEY, an index in memory and in the file"),
            EngineSetting("bulk load", "the appender, by chunks of columns"),
            EngineSetting("updates, deletions", "one statement per batch, beside a temporary table of keys"),
            EngineSetting("results", "chunks of columns"),
        ]
    }
}
