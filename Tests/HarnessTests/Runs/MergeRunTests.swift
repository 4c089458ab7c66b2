import Files
import Platform
import Testing

@testable import Harness

/// Shards and `assay merge` by the real executable.
@Suite struct MergeRunTests {
    private let directory: TestDirectory
    private static let count = 3

    init() throws {
        directory = try TestDirectory()
        try FileTree.createDirectory(directory.path + "/plans")
        try FileTree.writeText(
            directory.path + "/plans/small.json5",
            """
            { engines: ["model", "strata-storage"], measures: false, cases: [
              { scenario: "point-read", sizes: [50, 100] }, { scenario: "iterate", sizes: [50] },
            ] }
            """)
    }

    private func path(_ name: String) -> String { directory.path + "/" + name }

    private func assay(_ words: [String], status: Int32 = 0) throws -> String {
        let end = try AssayProcess.run(words, in: directory)
        #expect(end.status == .exited(status), "\(words): \(end.output)")
        return end.output
    }

    private func run(_ more: [String]) throws -> String {
        try assay(["run", "small", "--plans", path("plans")] + more)
    }

    /// The merged shards equal a run on one machine.
    private func expectWhole(_ shards: [String]) throws {
        _ = try run(["--out", path("whole")])
        let merged = try assay(["merge"] + shards + ["--out", path("merged")])
        #expect(merged.contains("merged of \(Self.count) shards on 1 machine"), "\(merged)")
        let reports = try ["whole", "merged"].map { try assay(["report", path($0), "--deterministic"]) }
        #expect(reports[0] == reports[1])
        #expect(reports[0].contains("\ncases 6\n"), "\(reports[0])")
    }

    @Test("merged shards have the report of one machine; merge refuses unrelated shards with 64, unchanged")
    func shards() throws {
        let names = (1...Self.count).map { path("s\($0)") }
        for (index, name) in names.enumerated() {
            let output = try run(["--shard", "\(index + 1)/\(Self.count)", "--out", name])
            #expect(output.contains("shard \(index + 1)/\(Self.count)"), "\(output)")
        }
        try expectWhole(names)
        let before = try FileTree.names(in: names[0])
        let refused = [
            (Array(names.dropLast()) + ["--out", path("m")], "--partial"), (names, "--out DIR is missing"),
            (names + ["--out", names[0]], "is the shard"), (["--out", path("m")], "RUN... is missing"),
        ]
        for (words, expected) in refused {
            let output = try assay(["merge"] + words, status: 64)
            #expect(output.contains(expected), "\(output)")
        }
        #expect(!FileTree.exists(path("m")))
        #expect(try FileTree.names(in: names[0]) == before)
        #expect(try assay(["run", "--resume", path("merged")], status: 64).contains("was merged"))
        let wrong = ["run", "small", "--plans", path("plans"), "--shard", "4/3"]
        #expect(try assay(wrong, status: 64).contains("--shard needs I/N"))
    }

    /// GNU parallel; another program of that name takes other arguments.
    private static let parallel: String? = {
        let places = getenv("PATH").map { String(cString: $0) } ?? ""
        let file = places.split(separator: ":").map { "\($0)/parallel" }.first { FileTree.exists($0) }
        guard let file, let text = try? FileTree.readText(file), text.hasPrefix("#!"), text.contains("GNU") else {
            return nil
        }
        return file
    }()

    @Test(
        "GNU parallel runs the shards",
        .enabled(if: MergeRunTests.parallel != nil, "GNU parallel is not installed: apt-get install parallel"))
    func gnuParallel() throws {
        let program = try #require(Self.parallel)
        let assay = try #require(AssayProcess.executable)
        let numbers = (1...Self.count).map(String.init)
        let end = try ChildProgram(
            [program, "--will-cite", "-j2", assay, "run", "small", "--plans", path("plans")]
                + ["--shard", "{}/\(Self.count)", "--out", path("s{}"), ":::"] + numbers,
            outputFile: path("parallel.log")
        ).run()
        let log = try FileTree.readText(path("parallel.log"))
        #expect(end == .exited(0), "\(log)")
        try expectWhole(numbers.map { path("s\($0)") })
    }
}
