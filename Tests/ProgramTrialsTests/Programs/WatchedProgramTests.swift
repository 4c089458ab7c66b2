import Files
import Harness
import Measuring
import Platform
import Testing

@testable import ProgramTrials

@Suite struct WatchedProgramTests {
    private func shell(_ script: String, _ output: WatchedProgram.Output = .pipe) -> WatchedProgram {
        var program = WatchedProgram(["/bin/sh", "-c", script])
        program.output = output
        return program
    }

    @Test("status, signal and output are captured, on a terminal and by a pipe")
    func ends() throws {
        for output in [WatchedProgram.Output.terminal, .pipe] {
            let end = try shell("printf 'a\\nb\\n'; echo wrong >&2; exit 3", output).run()
            #expect(end.end == .exited(3) && !end.isTimeOut && !end.hasSucceeded)
            #expect(end.outputText == "a\nb\n" && end.errorText == "wrong\n")
            #expect(try shell("kill -SEGV $$", output).run().end == .signalled(SIGSEGV))
            let kind = try shell("if [ -t 1 ]; then echo terminal; else echo none; fi", output).run()
            #expect(kind.outputText == (output == .terminal ? "terminal\n" : "none\n") && kind.hasSucceeded)
        }
        #expect(throws: HarnessError.self) { try WatchedProgram(["/nowhere/at-all"]).run() }
    }

    @Test("the program starts in its directory, with its variables, and without this process's settings")
    func surroundings() throws {
        let directory = try TrialDirectory()
        var program = shell("pwd; echo \"$ASSAY_ONE/$HOME\"; cat")
        program.directory = directory.path
        program.variables = ["ASSAY_ONE=1", "HOME=here"]
        #expect(try program.run().outputText == directory.path + "\n1/here\n")
    }

    @Test("endless output is truncated, and the time limit ends the program and its children")
    func limits() throws {
        let directory = try TrialDirectory()
        var program = shell("(while :; do echo x; done) & echo $! > \(directory.path)/child; wait")
        program.limitSeconds = 0.3
        program.outputLimit = 100
        let end = try program.run()
        #expect(end.isTimeOut && end.output.count == 100 && end.isOutputCut)
        // Its remaining processes write nothing any more.
        let other = try shell("(sleep 0.05; sleep 100; touch \(directory.path)/late) & echo $!").run()
        #expect(other.hasSucceeded)
        for text in [try FileTree.readText(directory.path + "/child"), other.outputText] {
            let child = try #require(pid_t(text.split(separator: "\n").first ?? ""))
            let state = (try? FileTree.readText("/proc/\(child)/stat")) ?? ""
            #expect(state.isEmpty || state.contains(") Z"), "\(state)")
        }
    }

    private func started(_ script: String, _ file: String) throws -> RunningProgram {
        var program = WatchedProgram(["/bin/sh", "-c", script, "sh", file])
        program.output = .pipe
        return try program.start()
    }

    private func ended(_ running: RunningProgram) throws -> WatchedEnd {
        while true {
            if let end = try running.advance(waiting: 0.02) { return end }
        }
    }

    @Test("a program that waits for its daemon's end does not wait for ever")
    func deadDaemon() throws {
        let directory = try TrialDirectory()
        let script =
            "(setsid sh -c 'echo $$ >$1' sh $1 &); while ! test -s $1; do sleep 0.01; done; "
            + "while kill -0 $(cat $1) 2>/dev/null; do sleep 0.01; done; echo gone"
        let end = try ended(try started(script, directory.path + "/daemon"))
        #expect(end.hasSucceeded && end.outputText == "gone\n", "\(end.summary)")
    }

    @Test("control characters in a program's output are escaped readably")
    func escaped() {
        let end = WatchedEnd(
            end: .exited(1), isTimeOut: false, output: [], isOutputCut: false,
            errors: Array("first\nno /x/lane1/data/rows \u{1B}[31m\n \n".utf8), durationNanoseconds: 0)
        #expect(CheckCommand.lastLine(end, hiding: ["/x/lane1/data"]) == "no {}/rows \\x1B[31m")
    }

    @Test("a check gets the path as one word, and one that cannot be run is refused")
    func checks() throws {
        let directory = try TrialDirectory()
        let path = directory.path + "/it's a file"
        try FileTree.writeText(path, "contents")
        let check = CheckCommand("cat {} && test -f {} && echo \"$GIVEN\"")
        #expect(check.namesPath && !CheckCommand("true").namesPath)
        let end = try check.run(path, variables: ["GIVEN=word"])
        #expect(end.hasSucceeded && end.outputText == "contentsword\n" && CheckCommand.refusal(end) == nil)
        let missing = try CheckCommand("no-such-command-here {}").run(path)
        #expect(CheckCommand.refusal(missing)?.contains("no-such-command-here") == true)
        let failing = try CheckCommand("echo some; echo 'a reason' >&2; false {}").run(path)
        #expect(!failing.hasSucceeded && CheckCommand.refusal(failing) == nil)
        #expect(CheckCommand.lastLine(failing) == "a reason")
    }
}
