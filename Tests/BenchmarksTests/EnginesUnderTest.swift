import DuckDBEngine
import Files
import Harness
import LMDBEngine
import ModelEngine
import Platform
import RocksDBEngine
import RunRecords
import SQLiteEngine
import StrataEngine
import Testing

/// The engines of this build, and places for their databases.
enum EnginesUnderTest {
    static var all: [any Engine] {
        var engines: [any Engine] = [ModelEngine(), StrataEngine(), StorageEngine()]
        #if LMDB
            engines.append(LMDBEngine())
            engines.append(LMDBEngine(tuning: .tuned))
        #endif
        #if RocksDB
            engines.append(RocksDBEngine())
            engines.append(RocksDBEngine(tuning: .tuned))
        #endif
        #if SQLite
            engines.append(SQLiteEngine())
            engines.append(SQLiteEngine(tuning: .tuned))
        #endif
        if let duckDB { engines.append(duckDB) }
        return engines
    }

    /// DuckDB; nil if this machine lacks its library.
    static let duckDB: DuckDBEngine? = DuckDBSearch.find(
        environment: { name in getenv(name).map { String(cString: $0) } }
    ).map { DuckDBEngine(path: $0) }

    static var names: [String] { all.map(\.name) }

    static func engine(_ name: String) throws -> any Engine {
        try #require(all.first { $0.name == name })
    }

    /// Runs the body with an empty directory that is removed afterwards.
    static func withDirectory<Output>(_ body: (String) throws -> Output) throws -> Output {
        let base = FileTree.exists("/dev/shm") ? "/dev/shm" : P_tmpdir
        let path = "\(base)/assay-benchmarks-tests-\(UInt64.random(in: 0 ... .max))"
        try FileTree.createDirectory(path)
        defer {
            do { try FileTree.remove(path) } catch { Issue.record("\(error)") }
        }
        return try body(path)
    }

    /// A session of the engine on a location of its own inside the directory.
    static func session<Role>(
        _ engine: any Engine, in directory: String, as role: Role.Type, durability: DurabilityClass = .none
    ) throws -> Role {
        try FileTree.createDirectory(directory)
        let location = DatabaseLocation(directory: directory)
        return try #require(try engine.open(location, settings: engine.settings(for: durability)) as? Role)
    }
}
