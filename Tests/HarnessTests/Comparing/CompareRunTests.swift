import Files
import Testing

@testable import Harness

/// `assay compare` by the real executable, on runs that it made.
@Suite struct CompareRunTests {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
        try FileTree.createDirectory(directory.path + "/plans")
        try FileTree.writeText(
            directory.path + "/plans/small.json5",
            "{ engines: [\"model\"], cases: [{ scenario: \"point-read\", sizes: [100] }] }")
    }

    private func run(_ name: String, _ more: [String] = []) throws -> String {
        let out = directory.path + "/" + name
        let end = try AssayProcess.run(
            ["run", "small", "--plans", directory.path + "/plans", "--out", out] + more, in: directory)
        try #require(end.status == .exited(0), "\(end.output)")
        return out
    }

    private func compare(_ words: [String]) throws -> AssayProcess.End {
        try AssayProcess.run(["compare"] + words, in: directory)
    }

    @Test("two runs of one build, and one with an altered verdict")
    func runs() throws {
        let (first, second) = (try run("first"), try run("second"))
        let end = try compare([first, second])
        #expect([.exited(0), .exited(3)].contains(end.status), "\(end.output)")
        #expect(end.output.contains("nothing differs that repeats exactly"), "\(end.output)")
        #expect(end.output.contains("have no pairs") && end.output.contains("assay ab"), "\(end.output)")
        #expect(!end.output.contains("operations/s"), "\(end.output)")
        let file = second + "/results.jsonl"
        let text = try FileTree.readText(file)
        let changed = text.replacing("\"verdict\":\"pass\"", with: "\"verdict\":\"known\"")
        try #require(text != changed)
        try FileTree.writeText(file, changed)
        let other = try compare([first, second])
        #expect(other.status == .exited(2), "\(other.output)")
        #expect(other.output.contains("verdict: pass in A, known in B"), "\(other.output)")
    }

    @Test("anything but a pair of finished runs ends with 64 and a remedy, and nothing is written")
    func refused() throws {
        let first = try run("first")
        let seed = try run("seed", ["--seed", "7"])
        let unfinished = try run("unfinished")
        try FileTree.writeText(unfinished + "/results.jsonl", "")
        let comparison = directory.path + "/comparison"
        try FileTree.createDirectory(comparison)
        try FileTree.writeText(comparison + "/ab.json", "{}")
        let before = try FileTree.names(in: first)
        let wrong: [([String], String)] = [
            ([first], "RUN is missing"),
            ([first, first + "/../first/"], "are one run"),
            ([first, directory.path + "/nowhere"], "there is no run.json"),
            ([first, comparison], "a comparison of two builds"),
            ([first, unfinished], "assay run --resume"),
            ([first, seed], "no case in common (seeds 1 and 7"),
        ]
        for (words, expected) in wrong {
            let end = try compare(words)
            #expect(end.status == .exited(64), "\(words): \(end.output)")
            #expect(end.output.contains(expected), "\(words): \(end.output)")
        }
        #expect(try FileTree.names(in: first) == before)
    }
}
