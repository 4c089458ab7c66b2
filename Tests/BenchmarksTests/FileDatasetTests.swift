import Datasets
import Files
import Harness
import RunRecords
import Seeds
import Testing

@testable import Datasets
@testable import SQLiteEngine

@Suite struct FileDatasetTests {
    static func table(_ text: String, limit: Int? = nil) throws -> TableSet {
        try CSVDataset.tables(ofCSV: Array(text.utf8), dataset: "dir/some cities.csv", limit: limit)
    }

    @Test("kinds of columns are inferred, and rows are keyed by their position")
    func kinds() throws {
        let set = try Self.table("name,people,area,note\nRome,2800000,1285.3,\n\"Oslo, \"\"N\"\"\",-7,454,x\r\n")
        let table = set.main
        #expect(table.name == "some_cities")
        #expect(table.key == "row")
        #expect(table.columns.map(\.name) == ["row", "name", "people", "area", "note"])
        #expect(
            table.values(row: 0) == [.integer(0), .text("Rome"), .integer(2_800_000), .real(1285.3), .text("")])
        #expect(
            table.values(row: 1) == [.integer(1), .text("Oslo, \"N\""), .integer(-7), .real(454), .text("x")])
        #expect(set.rejected == [])
        #expect(!set.isComparable)
    }

    @Test("invalid rows are listed with their line, and the others are kept")
    func rejected() throws {
        var text = "id,score\n"
        for number in 0..<300 { text += "\(number),\(number).5\n" }
        text += "300\n301,much\n\n\"30\n2\",1\n303,1,2\n304,1e3\n\"305"
        let set = try Self.table(text)
        #expect(set.main.rowCount == 301)
        #expect(set.main.values(row: 300) == [.integer(300), .integer(304), .real(1_000)])
        #expect(
            Set(set.rejected) == [
                "line 302: 1 cells, expected 2", "line 303: score is no number: much",
                "line 305: id is no integer: 30\n2", "line 307: 3 cells, expected 2",
                "line 309: a quote is not closed",
            ])
    }

    @Test("ambiguous names are changed")
    func names() throws {
        let set = try Self.table("a,A,,row,row_index\n1,2,3,4,5\n")
        #expect(set.main.columns.map(\.name) == ["row_", "a", "A_", "column_3", "row", "row_index_"])
    }

    @Test("a file without a row is an error with the reason")
    func empty() {
        #expect(throws: DatasetError.self) { try Self.table("") }
        #expect(throws: DatasetError.self) { try Self.table("a,b\n") }
    }

    @Test("no more rows are read than requested")
    func limit() throws {
        #expect(try Self.table("a\n1\n2\n3\n", limit: 2).main.rowCount == 2)
    }

    @Test("every engine with tables can hold it", arguments: EnginesUnderTest.names)
    func engines(name: String) throws {
        let engine = try EnginesUnderTest.engine(name)
        let source = CSVDataset(path: "any.csv")
        if let reason = engine.reasonToDecline(source) {
            #expect(reason.contains("classes"))
            return
        }
        let set = try Self.table("name,people,area\nRome,2,1.5\nOslo,-7,0\n,9223372036854775807,1e300\n")
        try EnginesUnderTest.withDirectory { directory in
            let session = try EnginesUnderTest.session(engine, in: directory, as: (any TableSession).self)
            try session.load(set)
            try EngineAgreementTests.expectContent(session, ExactOracle(set))
            let reads = PointReads(table: set.main.name, keys: [2, 0], columns: ["people", "name", "area"])
            #expect(try session.readPoints(reads, latency: nil) == ExactOracle(set).digest(reads))
            try session.close()
        }
    }

    #if SQLite
        @Test("the largest table of a SQLite file is read; blobs are listed")
        func sqlite() throws {
            try EnginesUnderTest.withDirectory { directory in
                let path = directory + "/any.db"
                let connection = try SQLiteConnection(
                    path: path, settings: SQLiteSettings(durability: .none, tuning: .asItComes))
                try connection.run("CREATE TABLE small (a)")
                try connection.run("INSERT INTO small VALUES (1)")
                try connection.run("CREATE TABLE \"my towns\" (name, people INTEGER, area)")
                try connection.run(
                    "INSERT INTO \"my towns\" VALUES ('Rome', 2, 1.5), (NULL, 3, 4), ('Oslo', 4, x'00')")
                connection.close()
                let head = try #require(FileTree.head(of: path, bytes: 16))
                #expect(SQLiteDataset.isDatabase(head))
                let set = try SQLiteDataset(path: path).tables(size: nil, seed: Seed(1))
                #expect(set.main.name == "my_towns")
                #expect(set.main.rowCount == 2)
                #expect(set.main.values(row: 0) == [.integer(0), .text("Rome"), .integer(2), .real(1.5)])
                #expect(set.main.values(row: 1) == [.integer(1), .text(""), .integer(3), .real(4)])
                #expect(set.rejected == ["row 3: area is a blob"])
            }
        }
    #endif
}
