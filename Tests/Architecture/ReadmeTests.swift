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
        let rows = try Self.rows("peers/peers.csv").filter {
            ["ahead", "behind", "same", "open"].contains($0["strata_decision"])
        }
        let times: Set = ["1/s", "ns", "us", "ms"]
        let speeds = rows.filter { times.contains($0["unit"] ?? "") }
        let bytes = rows.filter { !times.contains($0["unit"] ?? "") }
        func count(_ decision: String, in rows: [[String: String]]) -> Int {
            rows.count { $0["strata_decision"] == decision }
        }
        let readme = try Self.readme()
        for words in [
            "ahead of the best of SQLite, LMDB, RocksDB and DuckDB in "
                + "\(count("ahead", in: speeds)) of \(speeds.count) figures of speed, behind in "
                + "\(count("behind", in: speeds)), the same in \(count("same", in: speeds)), "
                + "open in \(count("open", in: speeds)).",
            "of the \(bytes.count) figures of bytes they are behind in \(count("behind", in: bytes)).",
        ] { #expect(readme.contains(words), "README.md does not say: \(words)") }
        /// The ratio to the best peer with its interval, and that peer as a reader calls it.
        func beside(_ scenario: String, isSlower: Bool) throws -> (words: String, peer: String) {
            let row = try #require(speeds.first { $0["scenario"] == scenario && $0["label"] == "" })
            let names = ["sqlite": "SQLite", "lmdb": "LMDB", "rocksdb": "RocksDB", "duckdb": "DuckDB"]
            let peer = try #require(row["strata_best_peer"]?.split(separator: "-").first)
            var numbers = try ["strata_ratio", "strata_ratio_low", "strata_ratio_high"].map { column in
                let ratio = try #require(Double(row[column] ?? ""))
                return "\((10 * (isSlower ? 1 / ratio : ratio)).rounded() / 10)"
            }
            if isSlower { numbers.swapAt(1, 2) }
            return ("\(numbers[0]) [\(numbers[1]), \(numbers[2])] times", try #require(names[String(peer)]))
        }
        let filter = try beside("string-equal", isSlower: false)
        let filterWords = "A text filter over all rows is \(filter.words) as fast as \(filter.peer)'s"
        #expect(readme.contains(filterWords), "\(filterWords)")
        let insert = try beside("bulk-insert", isSlower: true)
        let insertWords = "bulk insert is \(insert.words) as slow as \(insert.peer)'s"
        #expect(readme.contains(insertWords), "\(insertWords)")
        let screen = try #require(
            try Self.rows("scale/peers.csv").first {
                $0["scenario"] == "first-screen" && $0["label"] == "indexed text" && $0["variant"] == "rows 100000"
            })
        #expect(screen["strata_best_peer"] == "sqlite" && screen["strata_decision"] == "behind")
        let slower = try ["strata_ratio", "strata_ratio_high", "strata_ratio_low"].map {
            Int((1 / (try #require(Double(screen[$0] ?? "")))).rounded())
        }
        let screenWords = "by an indexed text are \(slower[0]) [\(slower[1]), \(slower[2])] times as slow as SQLite's"
        #expect(readme.contains(screenWords), "\(screenWords)")
    }

    @Test("each published report begins with its answer")
    func answers() throws {
        let published = Checkout.root.appendingPathComponent("Reports/published")
        let runs = try FileManager.default.contentsOfDirectory(atPath: published.path)
        #expect(runs.count > 4, "published runs: \(runs)")
        for run in runs {
            let pages = try FileManager.default.contentsOfDirectory(atPath: published.appendingPathComponent(run).path)
                .filter { $0.hasSuffix(".html") }
            #expect(!pages.isEmpty, "\(run) has no page")
            for page in pages {
                let text = try Checkout.text("Reports/published/\(run)/\(page)")
                // The comparison of two builds has one question, and no picture beside its answer.
                let mark = page == "report.html" ? "class=\"answer\"" : "class=\"headline "
                let hasMark = text.contains(mark)
                #expect(hasMark, "\(run)/\(page)")
            }
        }
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
