import Foundation
import RunRecords
import Testing

@testable import Harness

/// Engines from shared libraries, with the real executable: clang builds the library from Tests/EngineLibraries.
@Suite struct EngineLibraryTests {
    private let directory: TestDirectory
    private let shell: ShellProcess

    init() throws {
        directory = try TestDirectory()
        shell = try ShellProcess(directory)
        let end = try build("shelf.so")
        try #require(end.status == .exited(0), "clang cannot make a library: \(end.output)")
    }

    private func build(_ name: String, _ flags: String = "") throws -> AssayProcess.End {
        try shell.run(
            "clang -std=gnu11 -O1 -shared -fPIC -I '\(SourceTree.root)/Sources/Harness/CAssayEngine/include' \(flags) "
                + "-o \(name) '\(SourceTree.root)/Tests/EngineLibraries/shelf.c' -lpthread")
    }

    @Test("the header is C and C++ without a warning")
    func header() throws {
        let include = "'\(SourceTree.root)/Sources/Harness/CAssayEngine/include'"
        let end = try shell.run(
            """
            echo '#include "assay_engine.h"' > a.c && cp a.c a.cc
            clang -std=c11 -Wall -Wextra -pedantic -Werror -I \(include) -c a.c &&
            clang++ -std=c++11 -Wall -Wextra -pedantic -Werror -I \(include) -c a.cc
            """)
        #expect(end.status == .exited(0), "\(end.output)")
    }

    // MARK: conform

    @Test("a correct library keeps every rule")
    func conform() throws {
        let end = try shell.run("assay conform --engine-library shelf.so")
        #expect(end.status == .exited(Preloaded.isPossible ? 0 : 3), "\(end.output)")
        #expect(end.output.hasPrefix("shelf 1.0  /"), "\(end.output)")
        #expect(!end.output.contains("FAIL"), "\(end.output)")
        #expect(end.output.contains("not claimed  processes"), "\(end.output)")
        let tried = end.output.split(separator: "\n").count { $0.hasPrefix("ok ") }
        #expect(tried >= 26, "\(end.output)")
    }

    /// Each mistake with the rule that finds it. Only that rule is checked.
    private static let mistakes = [
        ("forgets-own-writes", "own-writes"), ("abort-commits", "abort-leaves-nothing"),
        ("missing-is-error", "delete-missing"), ("snapshot-moves", "snapshot-holds"), ("short-first", "scan-order"),
        ("signed-bytes", "scan-order"), ("text-keys", "zero-bytes"), ("text-values", "zero-bytes"),
        ("skips-first", "scan-bounds"), ("takes-last", "scan-bounds"), ("backward-takes-last", "scan-backward"),
        ("ends-once", "scan-ends"), ("empty-is-missing", "empty-value"), ("takes-empty-key", "empty-key"),
        ("short-values", "large"), ("takes-long-key", "limits"), ("keeps-pointers", "copies"),
        ("one-buffer", "values-stand"), ("forgets-at-open", "reopen-keeps"), ("close-loses", "reopen-keeps"),
        ("writes-late", "kill-keeps"), ("stray-file", "files"), ("makes-directory", "errors"), ("no-texts", "errors"),
        ("compaction-drops", "compaction"), ("check-complains", "check-passes"), ("no-writer-lock", "threads"),
        ("says-processes", "processes"), ("crash", "commit-is-seen"), ("forgets-at-open", "all-at-once"),
    ]

    @Test("each mistake of a library is found by its rule, described, and ends with status 2")
    func mistakes() throws {
        var lines: [String] = []
        for (mistake, rule) in Self.mistakes {
            lines.append("SHELF_MISTAKE=\(mistake) assay conform --engine-library shelf.so --rule \(rule) > said 2>&1")
            lines.append("echo \"=\(mistake) $? $(cat said)\"")
        }
        let output = try shell.run(lines.joined(separator: "\n")).output
        let answers = output.split(separator: "\n=").map { String($0.drop { $0 == "=" }) }
        try #require(answers.count == Self.mistakes.count, "\(output)")
        for (answer, (mistake, rule)) in zip(answers, Self.mistakes) {
            #expect(answer.hasPrefix("\(mistake) 2 shelf 1.0"), "\(answer)")
            #expect(answer.contains("\nFAIL         \(rule) "), "\(answer)")
            let words = answer.split(separator: "\n").dropFirst(2).first?.split(separator: " ").count ?? 0
            #expect(words > 5, "\(mistake): the answer describes the mistake: \(answer)")
        }
    }

    @Test("a library that ends its process with status 0 fails only the checked rule")
    func exits() throws {
        let end = try shell.run(
            "SHELF_MISTAKE=exits assay conform --engine-library shelf.so --rule own-writes,scan-backward,empty-value")
        #expect(end.status == .exited(2), "\(end.output)")
        let lines = end.output.split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("ok ") } == 2, "\(end.output)")
        #expect(lines.count { $0.hasPrefix("FAIL ") && $0.contains(" scan-backward ") } == 1, "\(end.output)")
        #expect(end.output.contains("it ended the process, with status 0"), "\(end.output)")
    }

    @Test(
        "the preloaded library detects a commit without a sync",
        .enabled(if: Preloaded.isPossible, "libAssayPreload.so is not beside the program"))
    func unsynced() throws {
        let end = try shell.run(
            "SHELF_MISTAKE=no-sync assay conform --engine-library shelf.so --rule full-syncs --directory .")
        #expect(end.status == .exited(2), "\(end.output)")
        #expect(end.output.contains("commit 1 of 10 answered before its writes were synced"), "\(end.output)")
    }

    // MARK: Bad input

    /// The value of SHELF_SHAPE, and the expected message.
    private static let shapes = [
        ("refuses", "answered NULL"), ("other-abi", "version 7 of the ABI"), ("short", "80 bytes"),
        ("no-put", "function put is NULL"), ("no-check", "capabilities name checks"), ("bad-name", "\"My Engine\""),
        ("taken-name", "model is taken"), ("bad-word", "\"fast\""), ("bad-promise", "\"it never fails\""),
        ("no-class", "function settings is NULL"), ("crash", "by signal 11"), ("exit", "with status 7"),
    ]

    @Test("a file that is no engine library is refused with a remedy and status 64, and does not crash assay")
    func badLibraries() throws {
        var lines = ["echo text > text.so", "echo 'int x;' > x.c && clang -shared -fPIC -o empty.so x.c", "mkdir dir"]
        func add(_ environment: String, _ command: String) {
            lines.append("\(environment) assay \(command) > said 2>&1")
            lines.append("echo \"=$? $(cat said)\"")
        }
        var wanted: [String] = []
        for (index, (shape, text)) in Self.shapes.enumerated() {
            let command = ["run", "list", "conform"][index % 3]
            // A taken name is wrong only beside other engines.
            add("SHELF_SHAPE=\(shape)", "\(shape == "taken-name" ? "run" : command) --engine-library shelf.so")
            wanted.append(text)
        }
        for (file, text) in [
            ("nowhere.so", "there is no such file"), ("dir", "that is a directory"), ("text.so", "cannot be loaded"),
            ("empty.so", "no function assay_engine"),
        ] {
            add("", "run --engine-library \(file)")
            wanted.append(text)
        }
        for (command, text) in [
            ("conform", "--engine-library FILE is missing"),
            ("conform --engine-library shelf.so --rule own-write", "did you mean own-writes"),
            ("conform --engine-library shelf.so --directory none", "none is no directory"),
            ("run --engine-library shelf.so --engine sqlite --dry-run", "no case is on shelf"),
            ("run --engine-library shelf.so --engine-library shelf.so --dry-run", "its name shelf is taken"),
            ("ab --a-engine-library shelf.so --scenario commit", "--b-engine-library has none"),
        ] {
            add("", command)
            wanted.append(text)
        }
        let output = try shell.run(lines.joined(separator: "\n")).output
        let answers = output.split(separator: "\n=").map { String($0.drop { $0 == "=" }) }
        try #require(answers.count == wanted.count, "\(output)")
        for (answer, text) in zip(answers, wanted) {
            #expect(answer.hasPrefix("64 ") && answer.contains(text), "\(text): \(answer)")
        }
    }
}

private enum Preloaded {
    /// Whether workers run under the preloaded library.
    static var isPossible: Bool {
        guard let executable = AssayProcess.executable else { return false }
        return WorkerEnvironment.variables(executable: executable).contains { $0.text.contains("libAssayPreload.so") }
    }
}
