import Datasets
import DuckDBEngine
import Files
import Foundation
import Harness
import ModelEngine
import RunRecords
import Scenarios
import Seeds
import Testing

@testable import SQLiteEngine

@Suite struct EqualWorkTests {
    static let withSettings = EnginesUnderTest.names.filter { $0 != "model" }
    static let people = Result { try PeopleDataset().tables(size: 200, seed: Seed(1)) }

    @Test("an engine confirms the settings that the report shows", arguments: withSettings)
    func settingsHold(name: String) throws {
        let engine = try EnginesUnderTest.engine(name)
        for durability in DurabilityClass.allCases where engine.reasonToDecline(durability) == nil {
            try EnginesUnderTest.withDirectory { directory in
                let session = try EnginesUnderTest.session(
                    engine, in: directory, as: (any TableSession).self, durability: durability)
                try session.load(try Self.people.get())
                let found = try SettingsCheck.differences(session, stated: engine.settings(for: durability))
                #expect(found == [], "\(durability)")
                try session.close()
            }
        }
    }

    /// An engine below its durability class must not have figures: with synchronous=OFF every commit is acknowledged at
    /// once.
    @Test("a changed setting is found")
    func settingIsFound() throws {
        let engine = SQLiteEngine()
        try EnginesUnderTest.withDirectory { directory in
            let session = try EnginesUnderTest.session(
                engine, in: directory, as: SQLiteSession.self, durability: .full)
            try session.connection.run("PRAGMA synchronous=OFF")
            let found = try SettingsCheck.differences(session, stated: engine.settings(for: .full))
            #expect(found?.map(\.description) == ["synchronous is OFF, not FULL"])
            try session.close()
        }
    }

    @Test("settings are read from a database without rows", arguments: withSettings)
    func settingsOfNewDatabase(name: String) throws {
        try EnginesUnderTest.withDirectory { directory in
            let found = try SettingsCheck.differences(
                try EnginesUnderTest.engine(name), .full, tables: try PeopleDataset().tables(size: 0, seed: Seed(1)),
                at: DatabaseLocation(directory: directory))
            #expect(found == [])
        }
    }

    @Test("a reported setting that is not declared is a difference, an unreported one is none")
    func namesOfSettings() {
        let stated = [EngineSetting("a", "1"), EngineSetting("b", "2")]
        #expect(SettingsCheck.differences(stated: stated, observed: [EngineSetting("a", "1")]) == [])
        let found = SettingsCheck.differences(stated: stated, observed: [EngineSetting("bb", "2")])
        #expect(found.map(\.name) == ["bb"])
    }

    @Test("reads from one version, and reads that each take the newest, agree", arguments: EnginesUnderTest.names)
    func snapshots(name: String) throws {
        let tables = try Self.people.get()
        let oracle = ExactOracle(tables)
        try EnginesUnderTest.withDirectory { directory in
            let session = try EnginesUnderTest.session(
                try EnginesUnderTest.engine(name), in: directory, as: (any TableSession).self)
            try session.load(tables)
            for snapshot in SnapshotUse.allCases {
                let reads = PointReads(
                    table: "Person", keys: [3, 199, 0, 3], columns: ["age", "name"], snapshot: snapshot)
                #expect(try session.readPoints(reads, latency: nil) == oracle.digest(reads), "\(snapshot)")
            }
            try session.close()
        }
    }

    @Test("SQLite reads a batch in one transaction, and without one for reads of the newest version")
    func statementsOfReads() throws {
        try EnginesUnderTest.withDirectory { directory in
            let session = try EnginesUnderTest.session(SQLiteEngine(), in: directory, as: SQLiteSession.self)
            try session.load(try Self.people.get())
            for (snapshot, expected) in [(SnapshotUse.batch, [1, 3, 1]), (.each, [3])] {
                session.startTrace()
                let reads = PointReads(table: "Person", keys: [1, 2, 3], columns: ["age"], snapshot: snapshot)
                _ = try session.readPoints(reads, latency: nil)
                #expect(session.endTrace().map(\.count) == expected, "\(snapshot)")
            }
            try session.close()
        }
    }

    /// Swift considers both texts equal; the statement cache once confused them.
    @Test("statements are distinguished by their bytes")
    func statementTexts() throws {
        try EnginesUnderTest.withDirectory { directory in
            let session = try EnginesUnderTest.session(SQLiteEngine(), in: directory, as: SQLiteSession.self)
            let texts = try ["\u{E9}", "e\u{301}"].map { try session.connection.text("SELECT '\($0)'") }
            #expect(texts.map { $0.unicodeScalars.count } == [1, 2])
            try session.close()
        }
    }

    @Test("a large transaction of SQLite leaves its log until the close")
    func checkpointIsLater() throws {
        try EnginesUnderTest.withDirectory { directory in
            let session = try EnginesUnderTest.session(SQLiteEngine(), in: directory, as: SQLiteSession.self)
            try session.load(try PeopleDataset().tables(size: 200_000, seed: Seed(1)))
            let log = directory + "/data-wal"
            // More pages than an automatic checkpoint, none of which is in the data file yet.
            #expect(try FileTree.size(log) > 1_000 * 4_096)
            #expect(try FileTree.size(directory + "/data") < 100_000)
            try session.close()
            #expect(!FileTree.exists(log))
        }
    }

    @Test("writers of a process take turns, or wait in SQLite", arguments: WriterOrder.allCases)
    func writers(order: WriterOrder) throws {
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario("commit-threads"), on: SQLiteEngine(),
            parameters: ["threads": "3", "commits": "60", "writers": order.rawValue])
        // All rows, read back whole.
        #expect(report.outcomes == [.correct: 1])
    }

    @Test(
        "the time until write-back is reported beside the time until the acknowledgement", arguments: withSettings)
    func withClose(name: String) throws {
        for slug in ["bulk-insert", "delete-half"] {
            let report = try CaseUnderTest.run(
                try ScenarioRunTests.scenario(slug), on: try EnginesUnderTest.engine(name))
            let acknowledged = try #require(report.value("rows_per_second", label: ""))
            let closed = try #require(report.value("rows_per_second", label: "with close"))
            #expect(closed <= acknowledged, "\(slug)")
        }
    }

    @Test("a session with known tables does not query the schema")
    func learnedTables() throws {
        let tables = TableSet(
            dataset: "known", tables: [Table(name: "Known", key: "id", columns: [Column("id", .integer([0, 1]))])],
            digest: 0)
        try EnginesUnderTest.withDirectory { directory in
            let engine = SQLiteEngine()
            let first = try EnginesUnderTest.session(engine, in: directory, as: SQLiteSession.self)
            try first.load(tables)
            try first.close()
            engine.learn(tables)
            let session = try EnginesUnderTest.session(engine, in: directory, as: SQLiteSession.self)
            session.startTrace()
            _ = try session.readPoints(PointReads(table: "Known", keys: [1], columns: ["id"]), latency: nil)
            #expect(session.endTrace().map(\.statement) == ["SELECT \"id\" FROM \"Known\" WHERE \"id\" = ?"])
            try session.close()
        }
    }

    @Test("the page about equal work matches the adapters' declarations")
    func page() throws {
        let order = [
            "strata", "strata-storage", "sqlite", "sqlite-tuned", "lmdb", "lmdb-tuned", "rocksdb", "rocksdb-tuned",
            "duckdb",
        ]
        // DuckDB's declarations need no library.
        let all = EnginesUnderTest.all.filter { $0.name != "duckdb" } + [DuckDBEngine(path: "")]
        let engines = order.compactMap { name in all.first { $0.name == name } }
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/equal-work.md"), encoding: .utf8)
        let declared = EqualWork.declared(engines)
        for line in declared.split(separator: "\n") {
            #expect(page.contains(line), "make it anew: assay equal-work > docs/equal-work.md")
        }
        #expect(!page.contains("| `duckdb` | periodic |"), "DuckDB declines this class")
        // Without a library only its rows are missing here.
        if engines.count == order.count { #expect(page.hasPrefix(declared)) }
    }
}
