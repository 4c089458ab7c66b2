import Files
import JSONText
import Platform
import RunRecords
import Testing

@testable import Harness

/// `assay ab` by the real executable and real processes. Programs that differ are scripts in front of it.
@Suite(.serialized)
struct ABRunTests {
    private let directory: TestDirectory
    private let program: String
    private var out: String { directory.path + "/ab" }
    /// The flags that the tests' own build needs.
    private static let allowed = ["--allow-zoo", "--allow-debug"]
    /// A case without syncs, so that it is quick on any disk.
    private static let small = ["--scenario", "column-sum", "--engine", "model", "--size", "100", "--pairs", "10"]

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

    @Test("one program against itself: all raw results are kept, the sides swap directories, and 80 columns suffice")
    func itself() throws {
        let end = try run(program, program, Self.small + Self.allowed + ["--no-confirm"])
        #expect([.exited(0), .exited(2), .exited(3)].contains(end.status), "\(end.output)")
        #expect(end.output.contains("A against itself"))
        #expect(end.output.contains("A and B are the same program"))
        // Paths and warnings may be longer.
        for line in end.output.split(separator: "\n") where !line.hasPrefix("Report") && !line.hasPrefix("WARNING") {
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
            #expect(result.verdict == .pass && result.judgedFigure?.metric.name == "rows_per_second")
            #expect(try value.integer("round") == result.turn.round)
        }
        #expect(places.count == 3 && places.values.allSatisfy { $0.count > 1 }, "\(places)")
        #expect(first.count == 3)
        let json = try JSONReader.read(try FileTree.readText(out + "/ab.json"))
        #expect(json["format"] == .string(BuildComparison.format))
        #expect(try FileTree.readText(out + "/ab.html").contains("A and B are the same program"))
        let rows = try FileTree.readText(out + "/ab.csv").split(separator: "\r\n")
        // Each measurement has two rows of this metric: the figure, and the limit of the machine's memory.
        #expect(rows.filter { $0.contains(",rows_per_second,") }.count == 60)
        #expect(!FileTree.exists(out + "/work"))
    }

    @Test("cases that a side lacks are left out by name, and the rest is compared")
    func refused() throws {
        let other = try program("other") { text in
            text.replace("\"slug\":\"column-sum\"", with: "\"slug\":\"column-sums\"")
        }
        let end = try run(
            program, other,
            ["--scenario", "iterate,column-sum", "--engine", "model", "--size", "100", "--pairs", "10"]
                + Self.allowed)
        #expect([.exited(0), .exited(2), .exited(3)].contains(end.status), "\(end.output)")
        #expect(end.output.contains("Left out"))
        #expect(end.output.contains("side B has no scenario column-sum"))
        #expect(end.output.contains("objects/s"))
    }

    @Test("a parameter unknown to one side is named with the side, and the rest is compared")
    func parameters() throws {
        let lacking = try program("lacking") { $0.replace("[\"properties\",\"snapshot\"]", with: "[\"snapshot\"]") }
        let words =
            ["--scenario", "point-read,column-sum", "--engine", "model", "--size", "100", "--pairs", "10"]
            + Self.allowed + ["--no-confirm"]
        let end = try run(lacking, program, words)
        #expect([.exited(0), .exited(2), .exited(3)].contains(end.status), "\(end.output)")
        let text = end.output.split { " \n".contains($0) }.joined(separator: " ")
        #expect(text.contains("side A has no parameter properties of point-read"), "\(end.output)")
        #expect(text.contains("column-sum model") && text.contains("in 1 case"), "\(end.output)")
        let more = try program("more") { text in
            text.replace("[\"properties\",\"snapshot\"]", with: "[\"properties\",\"scans\",\"snapshot\"]")
        }
        let other = try run(program, more, words).output.split { " \n".contains($0) }.joined(separator: " ")
        #expect(other.contains("side B has another parameter of point-read, scans"), "\(other)")
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
        #expect(end.output.contains("no case in common") && end.output.contains("on side B"), "\(end.output)")
    }

    @Test("another version of a built-in engine is the subject of the comparison, a peer's is not")
    func ownVersion() throws {
        let other = try program("other") { text in
            text.replace("\"assay\":\"0.1\"", with: "\"assay\":\"0.2\"")
            text.replace("\"name\":\"strata\",\"version\":\"0.1\"", with: "\"name\":\"strata\",\"version\":\"0.2\"")
        }
        let end = try run(
            program, other,
            ["--scenario", "iterate", "--engine", "strata", "--size", "100", "--pairs", "10"] + Self.allowed
                + ["--no-confirm"])
        #expect([.exited(0), .exited(2), .exited(3)].contains(end.status), "\(end.output)")
        #expect(end.output.contains("objects/s") && !end.output.contains("Left out"), "\(end.output)")
        // A peer of another version is another engine.
        let odd = try program("odd") { text in
            text.replace("\"name\":\"strata\",\"version\":\"0.1\"", with: "\"name\":\"strata\",\"version\":\"0.2\"")
        }
        let refused = try run(program, odd, ["--scenario", "iterate", "--engine", "strata"] + Self.allowed)
        #expect(refused.status == .exited(64), "\(refused.output)")
        #expect(refused.output.contains("strata is 0.1 on side A and 0.2 on side B"), "\(refused.output)")
    }

    @Test("a directory with foreign files is refused and left as it is")
    func foreignDirectory() throws {
        try FileTree.createDirectory(out)
        try FileTree.writeText(out + "/letter", "dear")
        let end = try run(program, program, Self.small + Self.allowed)
        #expect(end.status == .exited(64) && end.output.contains("is not empty (letter)"), "\(end.output)")
        #expect(try FileTree.names(in: out) == ["letter"])
        #expect(try FileTree.readText(out + "/letter") == "dear")
    }

    @Test("a directory in use is refused, and one that holds a finished comparison is moved aside")
    func claimed() throws {
        let claim = try RunClaim.take(out, id: "other")
        let end = try run(program, program, Self.small + Self.allowed)
        #expect(end.status == .exited(1) && end.output.contains("is in use by"), "\(end.output)")
        try claim.end()
        withExtendedLifetime(claim) {}
        try FileTree.writeText(out + "/measurements.jsonl", "old")
        let other = directory.path + "/free"
        _ = try RunClaim.take(other, id: "before")
        try FileTree.writeText(other + "/measurements.jsonl", "old")
        let next = try AssayProcess.run(
            ["ab", "--a", program, "--b", program, "--out", other] + Self.small + Self.allowed + ["--no-confirm"],
            in: directory)
        #expect(next.output.contains("is now in \(other).1"), "\(next.output)")
        #expect(try FileTree.readText(other + ".1/measurements.jsonl") == "old")
        #expect(try FileTree.readText(other + "/measurements.jsonl") != "old")
    }

    @Test("after an interrupt the status is 130, and only the measurements stay")
    func interrupted() throws {
        let shell = try ShellProcess(directory)
        let words = (["ab", "--a", program, "--b", program, "--out", out] + Self.small + Self.allowed)
            .map { ShellWord.quoted($0 == "10" ? "1000" : $0) }.joined(separator: " ")
        let processID = try shell.start("exec assay \(words)", output: "stopped")
        let raw = out + "/measurements.jsonl"
        // Waits until the command has written a measurement; fails if the process ends before that.
        var status: Int32 = 0
        while !FileTree.exists(raw) {
            try #require(waitpid(processID, &status, WNOHANG) == 0, "it ended by itself")
            usleep(10_000)
        }
        kill(processID, SIGINT)
        #expect(AssayProcess.wait(processID) == .exited(Interruption.exitStatus))
        let text = try FileTree.readText(directory.path + "/stopped")
        #expect(text.contains("stopped: the measurements are in \(raw)"), "\(text)")
        #expect(!FileTree.exists(out + "/work") && !FileTree.exists(out + "/ab.json"))
    }

    @Test("limits that its workers would hit are refused before anything is written")
    func limits() throws {
        let shell = try ShellProcess(directory)
        let words = (["ab", "--a", program, "--b", program, "--out", out] + Self.small + Self.allowed)
            .map(ShellWord.quoted).joined(separator: " ")
        let end = try shell.run("ulimit -v 2000000 || exit 99\nassay \(words)")
        #expect(end.status == .exited(1) && end.output.contains("ulimit -v"), "\(end.output)")
        #expect(!FileTree.exists(out))
    }

    #if Zoo
        @Test("a build with planted bugs is refused, and marked if it is allowed")
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
            #expect(end.output.contains("SLOWER") && end.output.contains("again: rows/s"), "\(end.output)")
            let lines = try FileTree.readText(out + "/measurements.jsonl").split(separator: "\n")
            #expect(lines.count == 60)
        }
    #endif

    #if DEBUG
        @Test("a debug build is refused, and marked if it is allowed")
        func debug() throws {
            let end = try run(program, program, Self.small + ["--allow-zoo"])
            #expect(end.status == .exited(64) && end.output.contains("is a debug build"), "\(end.output)")
        }
    #endif
}
