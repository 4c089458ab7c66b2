import Files
import FilesTests
import JSONText
import Testing

@testable import RunRecords

/// Decodes a run that `assay run smoke` wrote, with four of its cases: a sweep with causes, a case that does not apply,
/// one with a distribution of latencies, one with sizes over time.
@Suite struct StoredRunTests {
    static let directory = RunDirectory(
        path: #filePath.split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 } + "/Fixtures/run-2")

    private static func text(_ file: String) throws -> String { try FileTree.readText(file) }

    @Test("run.json")
    func header() throws {
        let header = try Self.directory.readHeader()
        #expect(header.engines.map(\.name) == ["strata", "sqlite", "model"] && header.cases.count == 4)
        #expect(header.json.text + "\n" == (try Self.text(Self.directory.headerFile)))
    }

    @Test("results.jsonl")
    func results() throws {
        let (results, unreadable) = try Self.directory.readResults()
        #expect(unreadable == [] && results.map(\.verdict) == [.pass, .pass, .unpromised, .notApplicable])
        #expect(results.map { $0.json.text + "\n" }.joined() == (try Self.text(Self.directory.resultsFile)))
    }

    @Test("series, and the map of the sweep")
    func details() throws {
        let run = try Self.directory.load()
        #expect(run.isFinished && run.details.count == 3)
        for (id, details) in run.details {
            #expect(details.json.text + "\n" == (try Self.text(Self.directory.detailsFile(id))))
        }
        #expect(run.details.values.contains { $0.map != nil } && run.details.values.contains { !$0.series.isEmpty })
        #expect(run.results.filter { !$0.causes.isEmpty }.map(\.trialCount) == [60])
    }

    @Test(
        "a file of an engine needs its digest",
        arguments: [("file", "file_digest"), ("library_file", "library_digest")])
    func digest(file: String, digest: String) throws {
        let members = #""name":"a","version":"1","\#(file)":"/a.so""#
        let whole = try EngineVersion(
            document: Array(#"{\#(members),"\#(digest)":"012345"}"#.utf8), named: "engine")
        #expect(whole.fileDigest + whole.libraryDigest == "012345")
        #expect(try EngineVersion(json: whole.json) == whole)
        for rest in ["", #","\#(digest)":null"#] {
            let error = try #require(throws: JSONShapeError.self) {
                try EngineVersion(document: Array("{\(members)\(rest)}".utf8), named: "engine")
            }
            #expect(error.description == "engine.\(digest): expected a string")
        }
    }

    @Test("the whole run, written to another directory: the same files, with those of trials, and the same bytes")
    func wholeRun() throws {
        let temporary = try TemporaryDirectory()
        let copy = RunDirectory(path: temporary.path + "/run")
        let run = try Self.directory.load()
        try copy.create(try Self.directory.readHeader())
        for result in try Self.directory.readResults().results {
            try copy.append(result, details: run.details[result.test.id] ?? CaseDetails())
        }
        for folder in ["trials", "series"] {
            let names = try FileTree.names(in: Self.directory.path + "/" + folder).sorted()
            let written = try FileTree.names(in: copy.path + "/" + folder).sorted()
            #expect(names.count >= 2 && names == written)
            for name in names { try expectEqual("\(folder)/\(name)", in: copy) }
        }
        try expectEqual("run.json", in: copy)
        try expectEqual("results.jsonl", in: copy)
    }

    private func expectEqual(_ file: String, in copy: RunDirectory) throws {
        let stored = try FileTree.readBytes(Self.directory.path + "/" + file)
        let written = try FileTree.readBytes(copy.path + "/" + file)
        #expect(!stored.isEmpty && stored == written, "\(file)")
    }

    @Test("the stored run tells nothing of the machine that wrote it")
    func neutral() throws {
        let header = try Self.directory.readHeader()
        #expect(header.machine.host == "host" && header.machine.system == "Linux, kernel 6.1")
        #expect(header.machine.processor == "x86-64" && header.commit == "0123456789abcdef0123456789abcdef01234567")
    }

    @Test("an error names the path of the member and the expected kind")
    func place() throws {
        let line = try #require(Self.text(Self.directory.resultsFile).split(separator: "\n").first)
        let damaged = line.replacing(#""statistic":"count""#, with: #""statistic":7"#, maxReplacements: 1)
        let error = try #require(throws: JSONShapeError.self) {
            try CaseResult(document: Array(damaged.utf8), named: "result")
        }
        #expect(error.description == "result.samples[4].statistic: expected a string")
    }
}
