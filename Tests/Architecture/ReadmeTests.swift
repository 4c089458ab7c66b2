import Foundation
import Testing

/// The front page is short, and its figures are those of the published runs.
@Suite struct ReadmeTests {
    /// The text on one line, so that a paragraph's line breaks do not matter.
    private static func readme() throws -> String {
        try Checkout.text("README.md").split { $0.isWhitespace }.joined(separator: " ")
    }

    /// The fields of a line of CSV. A field with a comma is quoted, and none has a quote in it.
    private static func fields(_ line: Substring) -> [String] {
        var fields = [""]
        var isQuoted = false
        for character in line {
            if character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                fields.append("")
            } else {
                fields[fields.count - 1].append(character)
            }
        }
        return fields
    }

    /// The rows of a published CSV, by column.
    private static func rows(_ path: String) throws -> [[String: String]] {
        let file = Checkout.root.appendingPathComponent("Reports/published/\(path)")
        let lines = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline)
        let heads = Self.fields(try #require(lines.first))
        return lines.dropFirst().map { line in
            Dictionary(zip(heads, Self.fields(line))) { first, _ in first }
        }
    }

    @Test("has at most 120 lines")
    func short() throws {
        #expect(try Checkout.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
    }

    @Test("the figures of speed are those of the published comparison")
    func speed() throws {
        let rows = try Self.rows("peers/peers.csv").filter { $0["strata_decision"]?.isEmpty == false }
        func count(_ decision: String) -> Int { rows.count { $0["strata_decision"] == decision } }
        let words =
            "ahead of the best of SQLite, LMDB and RocksDB in \(count("ahead")) of \(rows.count) figures, "
            + "behind in \(count("behind")), undecided in \(count("undecided"))."
        let readme = try Self.readme()
        #expect(readme.contains(words), "README.md does not say: \(words)")
        func ratio(_ scenario: String) throws -> Double {
            let row = try #require(rows.first { $0["scenario"] == scenario && $0["label"] == "" })
            return try #require(Double(row["strata_ratio"] ?? ""))
        }
        let filter = (try ratio("string-equal") * 10).rounded() / 10
        #expect(readme.contains("A text filter over all rows is \(filter) times as fast as LMDB's"), "\(filter)")
        let insert = (10 / (try ratio("bulk-insert"))).rounded() / 10
        #expect(readme.contains("bulk insert is \(insert) times as slow"), "\(insert)")
    }

    @Test("the figures of faults are those of the published run")
    func faults() throws {
        let rows = try Self.rows("faults/faults.csv")
        let readme = try Self.readme()
        func sum(_ column: String, _ belongs: ([String: String]) -> Bool) -> Int {
            rows.filter(belongs).reduce(0) { $0 + (Int($1[column] ?? "") ?? 0) }
        }
        let trials = sum("trials") { _ in true }
        #expect(readme.contains("\(trials / 1_000) \(trials % 1_000) trials on "), "\(trials)")
        for engine in ["strata", "rocksdb", "berkeleydb", "leveldb", "sqlite", "realm", "lmdb"] {
            let isFlip: ([String: String]) -> Bool = { $0["engine"] == engine && $0["fault"] == "bit-flip" }
            let words = "\(engine) \(sum("silently_wrong", isFlip)) of \(sum("trials", isFlip))"
            #expect(readme.contains(words), "README.md does not say: \(words)")
        }
        for engine in ["berkeleydb", "realm"] {
            let isSync: ([String: String]) -> Bool = {
                $0["engine"] == engine && $0["fault"] == "sync-fails" && $0["durability"] == "full"
            }
            let words = "\(sum("lost", isSync)) of \(sum("trials", isSync))"
            #expect(readme.contains(words), "README.md does not say: \(words)")
        }
        let isOwn: ([String: String]) -> Bool = { $0["engine"] == "strata" }
        let own = "\(sum("lost", isOwn)) of \(sum("trials", isOwn))"
        #expect(readme.contains(own), "README.md does not say: \(own)")
    }
}
