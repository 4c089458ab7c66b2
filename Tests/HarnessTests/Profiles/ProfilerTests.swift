import Files
import RunRecords
import Testing

@testable import Harness

@Suite struct ProfilerTests {
    @Test("a callgrind file becomes stacks: the cost of a shared callee is divided among its callers by cost")
    func callgrind() {
        let file = CallgrindFile(
            """
            version: 1
            positions: line
            events: Ir
            fl=(1) a.c
            fn=(1) main
            3 10
            cfn=(2) one
            calls=2 7
            4 300
            cfn=(3) other
            calls=1 9
            +1 100
            fn=(2)
            7 100
            cfn=(4) shared
            calls=1 1
            8 200
            fn=(3)
            cfn=(4)
            calls=1 1
            * 100
            fn=(4)
            1 240
            cfn=(4)
            calls=5 1
            1 900
            fe=(1)
            2 60
            totals: 410
            """)
        // `shared` calls itself, which is ignored: its 300 are divided among its two callers, 2 to 1.
        #expect(file.stacks.text == "main 10\nmain;one 100\nmain;one;shared 200\nmain;other;shared 100\n")
        #expect(file.stacks.root.cost == 410 && file.stacks.unit == "instructions")
        #expect(CallgrindFile("nothing of the kind\n").stacks.root.cost == 0)
    }

    @Test("two functions of one name stay separate: the program's main appears below the function that calls it")
    func equalNames() {
        let file = CallgrindFile(
            "positions: line\nfn=(1) (below main)\n0 5\ncfn=(2) start\ncalls=1 0\n0 95\nfn=(2)\n0 5\n"
                + "cfn=(3) (below main)\ncalls=1 0\n0 90\nfn=(3)\n0 10\ncfn=(4) main\ncalls=1 0\n0 80\nfn=(4)\n7 80\n")
        #expect(file.stacks.root.cost == 100)
        #expect(file.stacks.text.contains("(below main);start;(below main);main 80\n"), "\(file.stacks.text)")
    }

    @Test("mutually recursive functions end")
    func circle() {
        let file = CallgrindFile(
            "positions: instr line\nfn=main\n0x1 1 5\ncfn=a\ncalls=1 1\n0x1 1 95\nfn=a\n0x2 1 40\ncfn=b\ncalls=1 1\n"
                + "0x2 2 60\nfn=b\n0x3 1 50\ncfn=a\ncalls=1 1\n0x3 1 10\n")
        #expect(file.stacks.text == "main 5\nmain;a 38\nmain;a;b 57\n")
    }

    @Test("samples of perf become stacks, outermost function first")
    func perf() {
        let stacks = PerfScript.stacks(
            """
            assay \n\t     113c step
            \t     2000 main

            assay \n\t     1144 step
            \t     2004 main

            perf worker \n\t   ffff0000 [unknown]

            """)
        #expect(stacks.text == "assay;main;step 2\nperf worker;[unknown] 1\n")
        #expect(stacks.root.cost == 3)
        #expect(PerfScript.stacks("").root.cost == 0)
    }

    @Test("a very deep stack, and a name with a separator, are harmless")
    func odd() {
        var stacks = FoldedStacks(unit: "samples")
        stacks.add(Array(repeating: "again", count: 5_000), cost: 2)
        stacks.add(["a;b"], cost: 1)
        #expect(stacks.root.cost == 3 && stacks.text.hasPrefix("a:b 1\nagain;again;"))
        #expect(stacks.text.utf8.count < 2_000)
    }

    @Test("Swift's names are demangled")
    func names() {
        #expect(Profiler.demangled("$sSS5countSivg") == "Swift.String.count.getter : Swift.Int")
        #expect(Profiler.demangled("sqlite3_step") == "sqlite3_step")
    }

    @Test("more than one case, and an unknown tool, are refused before anything is run")
    func refused() throws {
        let directory = try TestDirectory()
        try FileTree.writeText(
            directory.path + "/p.json5",
            "{ engines: [\"model\"], cases: [{ scenario: \"point-read\", sizes: [20, 30] }] }")
        let run = ["run", directory.path + "/p.json5", "--plans", directory.path, "--out", directory.path + "/out"]
        let several = try AssayProcess.run(run + ["--profile", "perf"], in: directory)
        #expect(several.status == .exited(64) && several.output.contains("has 2 with these"), "\(several.output)")
        let unknown = try AssayProcess.run(run + ["--profile", "callgrin"], in: directory)
        #expect(unknown.status == .exited(64) && unknown.output.contains("did you mean callgrind"), "\(unknown.output)")
        #expect(!FileTree.exists(directory.path + "/out"))
    }

    /// Whether perf is installed and permitted.
    private static let canWatch: Bool = {
        guard let perf = InstructionCounter.find("perf"), let directory = try? TestDirectory() else { return false }
        let words = [perf, "record", "-q", "-e", "cpu-clock:u", "-o", directory.path + "/data", "--", "true"]
        return (try? ChildProgram(words, outputFile: directory.path + "/log").run()) == .exited(0)
    }()

    @Test(
        "the profile and flame graph of a case are written beside the result, which is unaffected",
        .enabled(if: canWatch, "perf is not installed or may not look: apt-get install linux-perf"),
        .disabled(if: KernelCalls.hasThreadSanitizer, "it does not run under perf"))
    func profile() throws {
        let directory = try TestDirectory()
        try FileTree.writeText(
            directory.path + "/p.json5",
            "{ engines: [\"model\"], cases: [{ scenario: \"point-read\", sizes: [20000] }] }")
        let out = directory.path + "/out"
        let end = try AssayProcess.run(
            ["run", directory.path + "/p.json5", "--plans", directory.path, "--out", out, "--profile", "perf"],
            in: directory)
        #expect(end.status == .exited(0), "\(end.output)")
        let run = try RunDirectory(path: out).load()
        let id = try #require(run.header.cases.first)
        #expect(run.results.map(\.verdict) == [.pass])
        #expect(try FileTree.readText(out + "/profiles/\(id).folded").contains(";"), "\(end.output)")
        #expect(try FileTree.readText(out + "/profiles/\(id).html").contains("class=\"flame\""))
        #expect(FileTree.exists(out + "/profiles/\(id).perf.data") && !FileTree.exists(out + "/work"))
    }
}
