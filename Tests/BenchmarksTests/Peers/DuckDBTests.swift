import Harness
import Measuring
import RunRecords
import Testing

@testable import DuckDBEngine

/// DuckDB comes from an optional library; `EngineAgreementTests` compares its contents with the model, like every
/// engine's.
@Suite struct DuckDBTests {
    private static let packages: [String: [String]] = [
        "/env/lib": ["python3.9", "python3.12"], "/env/lib/python3.12/site-packages": ["_duckdb.abi3.so", "duckdb"],
        "/env/lib/python3.9/site-packages": ["_duckdb.cpython-39-x86_64-linux-gnu.so"],
        "/path": ["duckdb.cpython-311-x86_64-linux-gnu.so", "_duckdb-stubs"],
    ]

    private static func find(_ environment: [String: String]) -> String? {
        DuckDBSearch.find(environment: { environment[$0] }, names: { packages[$0] ?? [] })
    }

    @Test("the library is looked for by a variable, then in the packages of Python")
    func search() {
        #expect(Self.find(["ASSAY_DUCKDB": "/a/libduckdb.so", "VIRTUAL_ENV": "/env"]) == "/a/libduckdb.so")
        #expect(Self.find(["VIRTUAL_ENV": "/env"]) == "/env/lib/python3.12/site-packages/_duckdb.abi3.so")
        #expect(Self.find(["PYTHONPATH": "/env/lib/python3.9/site-packages"])?.contains("cpython-39") == true)
    }

    @Test("its Python module names the required Python library")
    func python() {
        let names = DuckDBLibrary.pythonLibraries(for: "/a/_duckdb.cpython-311-x86_64-linux-gnu.so")
        #expect(names == ["libpython3.11.so.1.0"])
        #expect(DuckDBLibrary.pythonLibraries(for: "/a/_duckdb.abi3.so").count > 3)
    }

    @Test("a file that is no DuckDB is refused with a remedy")
    func refused() throws {
        for path in ["/bin/sh", "/nowhere/libduckdb.so"] {
            do throws(EngineError) {
                _ = try DuckDBLibrary.load(path)
                Issue.record("\(path) was taken")
            } catch {
                #expect(error.message.contains("pip install duckdb"), "\(error)")
            }
        }
    }

    /// A package without its Python library once caused violations of DuckDB's promises.
    @Test("if the library cannot be loaded, the engine's cases are skipped with the remedy")
    func declined() {
        let engine = DuckDBEngine(path: "/nowhere/libduckdb.so")
        #expect(engine.reasonToDecline(.full)?.contains("pip install duckdb") == true)
        #expect(engine.libraryObjection?.contains("cannot be loaded") == true && engine.version == "unknown")
    }

    /// Two commits to one row: the first succeeds, and the other must be retried, or an update is lost.
    @Test(
        "an update that conflicts with another connection is retried",
        .enabled(if: EnginesUnderTest.duckDB != nil, "no DuckDB: pip install duckdb"))
    func conflicts() throws {
        let engine = try #require(EnginesUnderTest.duckDB)
        try EnginesUnderTest.withDirectory { directory in
            let session = try EnginesUnderTest.session(engine, in: directory, as: DuckDBSession.self)
            let table = Table(
                name: "T", key: "id", columns: [Column("id", .integer([0])), Column("n", .integer([1]))])
            try session.load(TableSet(dataset: "t", tables: [table], digest: 0))
            try session.connection.run("BEGIN TRANSACTION")
            try session.connection.run("UPDATE T SET n = 10 WHERE id = 0")
            let other = try session.another()
            do throws(EngineError) {
                try other.run("UPDATE T SET n = 20 WHERE id = 0")
                Issue.record("two transactions changed one row")
            } catch { #expect(DuckDBConnection.isConflict(error), "\(error)") }
            var tries = 0
            try other.retried { () throws(EngineError) in
                tries += 1
                if tries == 2 { try session.connection.run("COMMIT") }
                try other.run("UPDATE T SET n = n + 1 WHERE id = 0")
            }
            #expect(tries == 2)
            let reads = PointReads(table: "T", keys: [0], columns: ["n"])
            #expect(try session.readPoints(reads, latency: nil).sum == 11)
            other.close()
            try session.close()
        }
    }

    @Test("DuckDB gets one thread, and declines periodic", .enabled(if: EnginesUnderTest.duckDB != nil, "no DuckDB"))
    func threads() throws {
        let engine = try #require(EnginesUnderTest.duckDB)
        let settings = engine.settings(for: .full).list
        #expect(settings.contains(EngineSetting("threads", "1")) && engine.reasonToDecline(.periodic) != nil)
        #expect(engine.peerLibrary != nil && engine.version != "unknown")
    }
}
