import Files
import Platform
import Testing

@testable import Harness

/// Commands that build revisions, by the real executable, with a stand-in for the compiler.
@Suite(.serialized)
struct RevisionRunTests {
    private let directory: TestDirectory
    private let repository: TestRepository
    private let shell: ShellProcess
    private var out: String { directory.path + "/out" }
    private static let small = [
        "--scenario", "column-sum", "--engine", "model", "--size", "100", "--pairs", "10", "--no-confirm",
        "--allow-zoo", "--allow-debug",
    ]

    init() throws {
        directory = try TestDirectory()
        repository = try TestRepository(directory)
        shell = try ShellProcess(directory)
        // The manifest names no preloaded library: it would count the calls of the program that the script starts.
        try repository.write("Package.swift", "// \"AssayTool\"\n")
        try repository.commit("Works", program: "#!/bin/sh\nexec '\(directory.path)/bin/assay' \"$@\"\n")
    }

    private func line(_ command: String, _ words: [String]) -> String {
        let all = [command] + words + ["--repository", repository.path, "--builds", repository.builds, "--out", out]
        return "SWIFT=\(ShellWord.quoted(repository.compiler)) exec assay "
            + all.map(ShellWord.quoted).joined(separator: " ")
    }

    private func run(_ words: [String]) throws -> AssayProcess.End { try shell.run(line("ab", words)) }

    @Test("two revisions are built, compared, and named in the output")
    func revisions() throws {
        let first = try repository.repository().revision("HEAD")
        try repository.commit(
            "Say it otherwise", program: "#!/bin/sh\nexec '\(directory.path)/bin/assay' \"$@\" # other\n")
        let end = try run(["--a-ref", "HEAD~1", "--b-ref", "main"] + Self.small)
        #expect([.exited(0), .exited(2), .exited(3)].contains(end.status), "\(end.output)")
        #expect(end.output.contains("A  HEAD~1 (\(first.shortCommit) Works)"), "\(end.output)")
        #expect(end.output.contains("Say it otherwise"), "\(end.output)")
        #expect(try FileTree.readText(out + "/ab.json").contains("HEAD~1 (\(first.shortCommit) Works)"))
        #expect(try repository.callCount() == 2)
        // A revision is compared with a program, and no kept build is made again.
        let mixed = try run(["--a", directory.path + "/bin/assay", "--b-ref", "main"] + Self.small)
        #expect([.exited(0), .exited(2), .exited(3)].contains(mixed.status), "\(mixed.output)")
        #expect(try repository.callCount() == 2 && !mixed.output.contains("building"), "\(mixed.output)")
    }

    @Test("a revision that does not build, describe itself or exist ends with 64, its name and no directory")
    func refused() throws {
        try repository.commit("Break it", program: "#!/bin/sh\n", also: ["broken": ""])
        try FileTree.remove(repository.path + "/broken")
        try repository.commit("Grow old", program: "#!/bin/sh\necho unknown command worker\nexit 64\n")
        let wrong: [([String], String)] = [
            (["--a-ref", "HEAD~2", "--b-ref", "HEAD~1"], "Break it) does not build: one.swift:3:1: error"),
            (["--a-ref", "HEAD~2", "--b-ref", "HEAD"], "worker --describe"),
            (["--a-ref", "v9", "--b-ref", "HEAD"], "--a-ref: v9 names no commit"),
            (["--a-ref", "HEAD"], "--b needs a program"),
            (["--a-ref", "HEAD", "--a", "assay", "--b-ref", "HEAD"], "--a and --a-ref both"),
            (["--a-ref", "HEAD", "--b-ref", "HEAD", "--builds", directory.path], "--builds"),
        ]
        for (words, expected) in wrong {
            // Of several --builds the last one counts, so a case's own comes after the common one.
            let end = try shell.run(
                "SWIFT=\(repository.compiler) exec assay "
                    + (["ab", "--repository", repository.path, "--builds", repository.builds, "--out", out] + words
                    + Self.small).map(ShellWord.quoted).joined(separator: " "))
            #expect(end.status == .exited(64), "\(words): \(end.output)")
            #expect(end.output.contains(expected), "\(words): \(end.output)")
            #expect(!FileTree.exists(out), "\(words)")
        }
    }

    @Test("an interrupt ends the compiler, too: status 130, and the next try builds")
    func interrupted() throws {
        try repository.commit("Hang", program: "#!/bin/sh\n", also: ["hangs": ""])
        let processID = try shell.start(
            line("ab", ["--a-ref", "HEAD~1", "--b-ref", "HEAD"] + Self.small), output: "stopped")
        let hanging = repository.calls + ".hangs"
        var status: Int32 = 0
        while !FileTree.exists(hanging) {
            try #require(waitpid(processID, &status, WNOHANG) == 0, "it ended by itself")
            usleep(10_000)
        }
        kill(processID, SIGINT)
        #expect(AssayProcess.wait(processID) == .exited(Interruption.exitStatus))
        let text = try FileTree.readText(directory.path + "/stopped")
        #expect(text.contains("stopped before the first measurement"), "\(text)")
        let compiler = try #require(Int32(try FileTree.readText(hanging).prefix { $0 != "\n" }))
        #expect(kill(compiler, 0) != 0, "the compiler goes on")
        #expect(!FileTree.exists(out))
        // The first side's build is kept, and its lock is free.
        let end = try run(["--a-ref", "HEAD~1", "--b-ref", "HEAD~1"] + Self.small)
        #expect([.exited(0), .exited(2), .exited(3)].contains(end.status), "\(end.output)")
    }
}
