import Files
import Measuring
import Platform
import Testing

@testable import Harness

/// `assay damage`, `eio`, `full` and `kill` by their command lines.
@Suite(.enabled(if: AssayProcess.executable != nil, "no assay beside the tests"))
struct FaultCommandTests {
    @Test("impossible requests are refused, with the remedy")
    func refused() throws {
        let directory = try TestDirectory()
        let file = directory.path + "/rows"
        try FileTree.writeText(file, "rows of a table\n")
        try FileTree.writeText(directory.path + "/empty", "")
        let lines: [([String], String)] = [
            (["damage", file, "--read", "cat rows"], "has no {}"),
            (["damage", file], "--read COMMAND is missing"),
            (["damage", file + "2", "--read", "cat {}"], "there is no file"),
            (["damage", directory.path + "/empty", "--read", "cat {}"], "nothing to damage"),
            (["damage", file, "--read", "cat {}", "--faults", "flap"], "did you mean flip?"),
            (["damage", file, "--read", "cat {}", "--faults", "age"], "--older COPY"),
            (["damage", file, "--read", "cat {}", "--only", "bit:99999"], "beyond the 16 bytes"),
            (["damage", file, "--read", "cat {}", "--every", "--samples", "3"], "leave one out"),
            (["damage", file, "--read", "false {}"], "fails on an undamaged copy"),
            (["eio", "--check", "true {}", "--", "/bin/sh", "-c", "true"], "no argument of the program is {}"),
            (["full", "--check", "true {}", "--error", "EIO", "--", "touch", "{}/x"], "unknown error EIO"),
            (["kill", "--check", "true {}", "--only", "io:write#1,EIO", "--", "touch", "{}/x"], "is no address"),
            (["eio", "--check", "true {}", "--calls", "wrote", "--", "touch", "{}/x"], "did you mean write?"),
            (["damage", file, "--read", "cat {}", "--csv", file + "/none/x.csv"], "--csv"),
            (["damage", file, "--read", "cat {}", "--case", directory.path + "/none/x.case.json"], "--case"),
            (["kill", "--check", "true {}", "--csv", directory.path, "--", "touch", "{}/x"], "--csv"),
            (["crash", "--check", "true {}", "--csv", "/proc/none.csv", "--", "touch", "{}/x"], "--csv"),
        ]
        for (words, remedy) in lines {
            let end = try AssayProcess.run(words, in: directory)
            #expect(end.status == .exited(64) && end.output.contains(remedy), "\(words): \(end.output)")
        }
    }

    /// Each starts a process outside the program's process group, which appends its number to $1.
    @Test(
        "daemons and processes with their own session end with their trial",
        arguments: [
            "setsid sh -c 'echo $$ >>$1; sleep 100' sh $1 & while ! test -s $1; do sleep 0.01; done",
            "(setsid sh -c 'echo $$ >>$1; sleep 100' sh $1 >/dev/null 2>&1 &); while ! test -s $1; do sleep 0.01; done",
            "(setsid env -i sh -c 'echo $$ >>$1; sleep 100' sh $1 &); while ! test -s $1; do sleep 0.01; done",
        ])
    func daemons(script: String) throws {
        let directory = try TestDirectory()
        let numbers = directory.path + "/numbers"
        let words = ["/bin/sh", "-c", script + "; echo row >$2", "sh", numbers, "{}/x"]
        let end = try AssayProcess.run(["kill", "--check", "true {}", "--"] + words, in: directory)
        // On a busy machine the program may end before the moment at which it is killed.
        #expect(end.status == .exited(0) || end.status == .exited(3), "\(end.output)")
        let started = try FileTree.readText(numbers).split(separator: "\n").compactMap { pid_t($0) }
        #expect(!started.isEmpty)
        for process in started { #expect(kill(process, 0) != 0, "\(process) still runs") }
    }

    /// A command once announced nine trials and counted eight at its end.
    @Test("impossible trials are counted separately, so that the first line and the last one agree")
    func countedTrials() throws {
        let directory = try TestDirectory()
        let end = try AssayProcess.run(
            ["full", "--every", "--check", "true {}", "--", "/bin/sh", "-c", "printf a >{}/x"], in: directory)
        func number(_ pattern: Regex<(Substring, Substring)>) throws -> Int {
            let match = try #require(end.output.firstMatch(of: pattern), "\(end.output)")
            return try #require(Int(match.output.1))
        }
        let announced = try number(/; ([0-9]+) trials?, seed/)
        // A write of one byte has no half.
        let impossible = try number(/([0-9]+) of them (?:is|are) impossible/)
        let done = try number(/\nevery promise was kept in ([0-9]+) trials?/)
        #expect(impossible > 0 && announced == impossible + done, "\(end.output)")
    }

    @Test("one byte, one file and one trial are written in the singular")
    func singular() throws {
        let directory = try TestDirectory()
        let file = directory.path + "/byte"
        try FileTree.writeText(file, "x")
        let end = try AssayProcess.run(
            ["damage", file, "--read", "cat {}", "--faults", "flip", "--samples", "1"], in: directory)
        #expect(end.output.contains("1 byte in 1 file, 1 trial, seed 1\n"), "\(end.output)")
    }

    @Test("a word that is no UTF-8 is refused, and names no other file")
    func foreignWord() throws {
        let directory = try TestDirectory()
        let end = try ShellProcess(directory).run("assay damage \"$(printf 'caf\\351')\" --read 'cat {}'; ls")
        #expect(end.output.contains("word 2 of the command line is no UTF-8"), "\(end.output)")
    }

    @Test("damage that a reader does not notice is found, shown, recorded and repeated")
    func damage() throws {
        let directory = try TestDirectory()
        let file = directory.path + "/rows"
        let csv = directory.path + "/trials.csv"
        try FileTree.writeText(file, (0..<9).map { "row \($0)\n" }.joined())
        let words = ["damage", file, "--read", "cat {}", "--faults", "flip,cut", "--samples", "3", "--csv", csv]
        let end = try AssayProcess.run(words, in: directory)
        #expect(end.status == .exited(2) && end.output.contains("silently-wrong"), "\(end.output)")
        let rows = try FileTree.readText(csv).split(separator: "\r\n")
        #expect(rows.count == 7 && rows[0].hasPrefix("address,fault,file"))
        let address = try #require(rows[1].split(separator: ",").first.map(String.init))
        #expect(end.output.contains("assay damage \(file) --read 'cat {}' --faults flip,cut --samples 3 --only "))
        let kept = directory.path + "/kept"
        let again = try AssayProcess.run(words + ["--only", address, "--keep", kept], in: directory)
        #expect(again.status == .exited(2) && again.output.contains("silently-wrong: line "), "\(again.output)")
        #expect(try FileTree.readBytes(kept + "/rows") != FileTree.readBytes(file))
        let noticed = try AssayProcess.run(
            [
                "damage", file, "--read",
                "[ $(cksum <{} | cut -d' ' -f1) = $(cksum <\(file) | cut -d' ' -f1) ] && cat {}",
            ]
                + ["--samples", "3"], in: directory)
        #expect(noticed.status == .exited(0), "\(noticed.output)")
    }

    @Test("an interrupt keeps the findings of damage: the table, the report and the case")
    func interrupted() throws {
        try interrupt("damage rows --read 'cat {}; SLOW' --every --faults flip", expecting: "silently-wrong")
    }

    private static let letters = "-- sh -c 'for x in a b c d e f g h; do echo $x >$1/$x; done' sh {}"

    /// Whether programs can be recorded here: the recorder was built, and the kernel reports calls.
    private static let records = {
        guard Preload.library(besides: AssayProcess.executable ?? "") != nil, let directory = try? TestDirectory()
        else { return false }
        let words = ["crash", "--check", "test -d {}", "--", "sh", "-c", "echo a >$1/a", "sh", "{}"]
        return (try? AssayProcess.run(words, in: directory))?.status == .exited(0)
    }()

    @Test(
        "an interrupt keeps the findings about a program: the table, the report and the case",
        .enabled(if: records, "no program can be recorded here"),
        arguments: [
            ("kill --random 0 --check", "broken"), ("eio --calls write --check", "broken"),
            ("crash --check", "VERDICT  violation"),
        ])
    func interruptedProgram(command: String, word: String) throws {
        // The check fails at the moments when the first letter was written and the third was not.
        try interrupt("\(command) 'SLOW; ! [ -s {}/a ] || [ -s {}/c ]' PLACE \(Self.letters)", expecting: word)
    }

    /// - Parameter command: a command that reads a file in `SLOW`, and becomes slower after some trials.
    private func interrupt(_ command: String, expecting word: String) throws {
        let directory = try TestDirectory()
        let shell = try ShellProcess(directory)
        try FileTree.writeText(directory.path + "/rows", (0..<9).map { "row \($0)\n" }.joined())
        let slow = "echo >>$COUNT; [ $(wc -l <$COUNT) -lt 13 ] || sleep 0.2"
        let options = "--jobs 1 --csv trials.csv --case found.case.json"
        let line = command.replacing("SLOW", with: slow)
        let process = try shell.start(
            "export COUNT=$PWD/count; exec assay "
                + (line.contains("PLACE") ? line.replacing("PLACE", with: options) : "\(line) \(options)"))
        let count = directory.path + "/count"
        #expect(OtherProcesses.wait { try FileTree.readBytes(count).count > 12 })
        kill(process, SIGINT)
        #expect(AssayProcess.wait(process) == .exited(130))
        let output = try FileTree.readText(directory.path + "/shell-output")
        #expect(output.contains("INTERRUPTED: ") && output.contains(word), "\(output)")
        let rows = try FileTree.readText(directory.path + "/trials.csv").split(separator: "\r\n")
        #expect(rows.count > 1 && rows.count < 500, "\(rows.count)")
        #expect(FileTree.exists(directory.path + "/found.case.json"))
    }

    @Test(
        "a program that reports success too early is found by failed calls, and the trial repeated",
        .enabled(if: Preload.library(besides: AssayProcess.executable ?? "") != nil, "nothing can be preloaded here"))
    func faults() throws {
        let directory = try TestDirectory()
        let program = ["--", "/bin/sh", "-c", "echo one >{}/rows; echo done"]
        let check = ["--check", "! grep -q done $ASSAY_ACKNOWLEDGED || grep -q one {}/rows"]
        let end = try AssayProcess.run(["eio"] + check + program, in: directory)
        #expect(end.status == .exited(2) && end.output.contains("broken  io:write#0,EIO"), "\(end.output)")
        #expect(end.output.contains("--only 'io:write#0,EIO' --"), "\(end.output)")
        let again = try AssayProcess.run(["eio"] + check + ["--only", "io:write#0,EIO"] + program, in: directory)
        #expect(again.status == .exited(2) && again.output.contains("broken: io:write#0,EIO"), "\(again.output)")
        let killed = try AssayProcess.run(["kill", "--random", "1"] + check + program, in: directory)
        // If the program ended before the random moment, the command reports that the trial decides nothing.
        let isDecided = killed.status == .exited(0) || killed.output.contains("not-struck  kill:moment#0")
        #expect(isDecided && killed.output.contains("survived"), "\(killed.output)")
    }
}
