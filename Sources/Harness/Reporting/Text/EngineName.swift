/// The names of engines as their makers write them, for sentences. Tables, commands and drawings have the names that
/// the run uses.
enum EngineName {
    private static let libraries = [
        "strata": "Strata", "sqlite": "SQLite", "lmdb": "LMDB", "rocksdb": "RocksDB", "leveldb": "LevelDB",
        "berkeleydb": "Berkeley DB", "realm": "Realm core", "duckdb": "DuckDB", "model": "the model in memory",
    ]

    /// `Berkeley DB`, `RocksDB tuned`. Other engines keep the name that the run uses.
    static func words(_ engine: String) -> String {
        let library = engine.prefix { $0 != "-" }
        guard let name = libraries[String(library)] else { return engine }
        let rest = engine.dropFirst(library.count + 1)
        return rest.isEmpty ? name : "\(name) \(rest.split(separator: "-").joined(separator: " "))"
    }

    /// `SQLite, LMDB and RocksDB`.
    static func list(_ engines: [String]) -> String { sentenceList(engines.map(words)) }

    static func sentenceList(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }
}
