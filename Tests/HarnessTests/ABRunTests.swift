import JSONText
import RunRecords
import Testing

@testable import Harness

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `assay ab` by the real executable and real processes. Programs that differ are scripts in front of it.
@Suite("assay ab", .serialized)
struct ABRunTests {
    private let directory: TestDirectory
    private let program: String
    private var out: String { directory.path + "/ab" }
    /// Of the tests' own build, whichever it is.
    private static let allowed = ["--allow-zoo", "--allow-debug"]
    private static let small =
        ["--scenario", "commit", "--engine", "model", "--size", "100", "--param", "commits=200", "--pairs", "10"]

    init() throws {
        directory = try TestDirectory()
        program = try #require(AssayProcess.executable, "no assay beside the test bundle")
    }

    private func run(_ a: String, _ b: String, _ arguments: [String]) throws -> AssayProcess.End {
        try AssayProcess.run(["ab", "--a", a, "--b", b, "--out", out] + arguments, in: directory)
    }

    private func script(_ name: String, _ text: String) throws -> String {
        let path = directory.path + "/" + name
        try FileTree.writeText(path, "#!/bin/sh\n" + text + "\n")
        try #require(chmod(path, 0o755) == 0)
        return path
    }

    /// The program under another description.
    private func program(_ name: String, describedAs change: (inout String) -> Void) throws -> String {
        var text = try AssayProcess.run(["worker", "--describe"], in: directory).output
        let original = text
        change(&text)
        try #require(text != original)
        let file = directory.path + "/\(name).json"
        try FileTree.writeText(file, text)
        return try script(name, "[ \"$2\" = --describe ] && exec cat '\(file)'\nexec '\(program)' \"$@\"")
    }

    @Test("one program against itself: nothing raw is lost, the sides change directories, and 80 columns are enough")
    func itself() throws {
        let end = try run(program, program, Self.small + Self.allowed + ["--no-confirm"])
        #expect([.exited(0), .exited(2), .exited(3)].contains(end.status), "\(end.output)")
        #expect(end.output.contains("A against itself"))
        #expect(end.output.contains("A and B are the same program"))
        // Paths and warnings are as long as they are.
        for line in end.output.split(separator: "\n") where !line.hasPrefix("Raw") && !line.hasPrefix("WARNING") {
            #expect(line.count <= 80, "\(line)")
        }
        let lines = try FileTree.readText(out + "/measurements.jsonl").split(separator: "\n")
        #expect(lines.count == 30)
        var places: [String: Set<String>] = [:]
        var first: Set<String> = []
        for line in lines {
            let value = try JSONObjectReader(try JSONReader.read(String(line)), path: "line")
            places[try value.string("side"), default: []].insert(try value.string("place"))
            if try value.integer("position") == 0 { first.insert(try value.string("side")) }
            let result = try CaseResult(json: try value.object("result"))
            #expect(result.verdict == .pass && result.judgedFigure?.metric.name == "commits_per_second")
            #expect(try value.integer("round") == result.turn.round)
        }
        #expect(places.count == 3 && places.values.allSatisfy { $0.count > 1 }, "\(places)")
        #expect(first.count == 3)
        let json = try JSONReader.read(try FileTree.readText(out + "/ab.json"))
        #expect(json["format"] == .string(BuildComparison.format))
        let rows = try FileTree.readText(out + "/ab.csv").split(separator: "\r\n")
        #expect(rows.filter { $0.contains(",commits_per_second,") }.count == 30)
        #expect(!FileTree.exists(out + "/work"))
    }

    @Test("cases that a side lacks are left out by name, and the rest goes on")
    func refused() throws {
        let other = try program("other") { text in
            text.replace("\"slug\":\"point-read\"", with: "\"slug\":\"point-reads\"")
        }
        let end = try run(
            program, other,
            ["--scenario", "commit,point-read", "--engine", "model", "--size", "200", "--param", "commits=200"]
                + ["--pairs", "10"] + Self.allowed)
        #expect([.exited(0), .exited(2), .exited(3)].contains(end.status), "\(end.output)")
        #expect(end.output.contains("Left out"))
        #expect(end.output.contains("side B has no scenario point-read"))
        #expect(end.output.contains("commits/s"))
    }

    @Test("with no case left, wrong programs, builds that must not measure, and wrong numbers the status is 64")
    func usage() throws {
        let old = try program("old") { $0.replace("\"build\":", with: "\"bild\":") }
        let spoken = try program("spoken") { $0.replace("\"protocol\":", with: "\"protocol\":9") }
        let wrong: [(String, [String], String)] = [
            (old, Self.small + Self.allowed, "expected an object"),
            (spoken, Self.small + Self.allowed, "speaks protocol 9"),
            ("/no/such/program", Self.small + Self.allowed, "is no program"),
            ("/bin/true", Self.small + Self.allowed, "does not describe its build"),
            (program, Self.small + Self.allowed + ["--pairs", "9"], "--pairs needs a number from 10"),
            (program, Self.small + Self.allowed + ["--threshold", "much"], "--threshold needs a percentage"),
            (program, ["--scenario", "comit"] + Self.allowed, "did you mean commit?"),
            (program, Self.allowed, "name a plan, or scenarios"),
        ]
        for (b, arguments, expected) in wrong {
            let end = try run(program, b, arguments)
            #expect(end.status == .exited(64), "\(arguments): \(end.output)")
            #expect(end.output.contains(expected), "\(arguments): \(end.output)")
        }
        #expect(
            try AssayProcess.run(["ab", "--a", program] + Self.small + Self.allowed, in: directory).status
                == .exited(64))
    }

    @Test("another version of the engine is another engine: with nothing left the reason is printed")
    func nothingLeft() throws {
        let other = try program("other") { text in
            guard let start = text.firstRange(of: "\"name\":\"model\",\"version\":\"")?.upperBound else { return }
            text.insert(contentsOf: "9.", at: start)
        }
        let end = try run(program, other, Self.small + Self.allowed)
        #expect(end.status == .exited(64))
        #expect(end.output.contains("no case is left") && end.output.contains("on side B"), "\(end.output)")
    }

    @Test("a directory with somebody's files in it is refused, and they stay")
    func foreignDirectory() throws {
        try FileTree.createDirectory(out)
        try FileTree.writeText(out + "/letter", "dear")
        let end = try run(program, program, Self.small + Self.allowed)
        #expect(end.status == .exited(64) && end.output.contains("is not an empty directory"))
        #expect(try FileTree.readText(out + "/letter") == "dear")
    }

    #if Zoo
        @Test("a build with planted bugs is refused, and stamped where it is allowed")
        func zoo() throws {
            let end = try run(program, program, Self.small + ["--allow-debug"])
            #expect(end.status == .exited(64) && end.output.contains("planted bugs (trait Zoo)"), "\(end.output)")
            let allowed = try run(program, program, Self.small + Self.allowed + ["--no-confirm"])
            #expect(allowed.output.contains("PLANTED BUGS ON SIDE B"), "\(allowed.output)")
            #expect(try FileTree.readText(out + "/ab.json").contains("PLANTED BUGS ON SIDE A"))
        }

        @Test("a side that is planted to be slower is found, confirmed, and status 2")
        func slower() throws {
            let slow = try script("slow", "ASSAY_ZOO_SLOW=300 exec '\(program)' \"$@\"")
            let end = try run(program, slow, Self.small + Self.allowed)
            #expect(end.status == .exited(2), "\(end.output)")
            #expect(end.output.contains("SLOWER") && end.output.contains("again: commits/s"), "\(end.output)")
            let lines = try FileTree.readText(out + "/measurements.jsonl").split(separator: "\n")
            #expect(lines.count == 60)
        }
    #endif

    #if DEBUG
        @Test("a debug build is refused, and stamped where it is allowed")
        func debug() throws {
            let end = try run(program, program, Self.small + ["--allow-zoo"])
            #expect(end.status == .exited(64) && end.output.contains("is a debug build"), "\(end.output)")
        }
    #endif
}
