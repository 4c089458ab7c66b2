import Files
import JSONText
import Platform
import RunRecords
import Testing

@testable import Harness

/// `assay baseline` and `assay gate` by the real executable, on real runs.
@Suite(.serialized, .disabled(if: KernelCalls.hasThreadSanitizer, "no library is preloaded there"))
struct GateRunTests {
    private let directory: TestDirectory
    private let shell: ShellProcess

    init() throws {
        directory = try TestDirectory()
        shell = try ShellProcess(directory)
        try FileTree.createDirectory(directory.path + "/Benchmarks/Plans")
        try write(budgets: "syncs: '==', write_calls: '==', allocations: '==', instructions: '+0.5%'")
    }

    private func write(budgets: String) throws {
        try FileTree.writeText(
            directory.path + "/Benchmarks/Plans/guard.json5",
            """
            { summary: 'p', rounds: 2, engines: 'strata-storage', budgets: { \(budgets) }, cases: [
              { scenario: 'commit', datasets: 'people', sizes: 100, parameters: { commits: 10 }, headline: true },
              { scenario: 'point-read', datasets: 'people', sizes: 300, headline: true },
            ] }
            """)
    }

    /// A library that doubles every sync, preloaded before the counting one.
    private func syncTwice() throws -> String {
        let path = directory.path + "/twice"
        try FileTree.writeText(
            path + ".c",
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            int fdatasync(int fd) {
                int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
                next(fd);
                return next(fd);
            }
            """)
        let end = try shell.run("clang -O1 -shared -fPIC -o twice.so twice.c -ldl")
        try #require(end.status == .exited(0), "clang cannot make a library: \(end.output)")
        return path + ".so"
    }

    private func expect(_ script: String, _ status: Int32, _ parts: String..., line: Int = #line) throws {
        let end = try shell.run(script)
        #expect(end.status == .exited(status), "line \(line): \(script): \(end.output)")
        for part in parts { #expect(end.output.contains(part), "line \(line): \(script): \(end.output)") }
    }

    /// The lines of docs/assay.md that run a plan of counts into G, keep them as the baseline `mine`, and compare.
    private static func documentedLines() throws -> [String] {
        try FileTree.readText(SourceTree.root + "/docs/assay.md").split(separator: "\n").map(String.init)
            .filter { $0.contains(/^assay (run guard|baseline save|gate)\s/) }
    }

    @Test("a build passes against itself by the lines of the page, and one sync more per commit is named")
    func oneSyncMore() throws {
        let lines = try Self.documentedLines()
        try #require(lines.count == 3, "\(lines)")
        try expect(lines[0], 0)
        try expect("assay gate G --baseline mine", 64, "there is no baseline", "assay baseline save RUN --name N")
        try expect(lines[1], 0, "Benchmarks/Baselines/mine.json")
        let saved = try FileTree.readText(directory.path + "/Benchmarks/Baselines/mine.json")
        try expect(lines[2], 0, "within budget")
        try expect("assay run guard --out second && assay gate second --baseline mine", 0, "within budget")
        #expect(try FileTree.readText(directory.path + "/second/gate.md").hasPrefix("## assay gate"))

        let library = try syncTwice()
        try expect("LD_PRELOAD=\(library) assay run guard --out worse", 0)
        try expect("assay gate worse --baseline mine", 2, "EXCEEDED", "commit", "syncs_per_commit")
        try readByPython("worse/gate.xml")

        // A typing mistake replaces nothing.
        try expect("assay baseline save worse --name mine", 64, "did not change it", "--replace")
        try expect("assay baseline save nowhere --name mine --replace", 64, "no run in nowhere")
        try expect("assay baseline save G --also G --name two", 64, "given twice")
        #expect(try FileTree.readText(directory.path + "/Benchmarks/Baselines/mine.json") == saved)
        try expect("assay gate G --baseline minee", 64, "did you mean mine?")
        try expect("assay baseline save G --also second --name mine --replace", 0)
        try expect("assay gate second --baseline Benchmarks/Baselines/mine.json --out elsewhere", 0)
        #expect(FileTree.exists(directory.path + "/elsewhere/gate.xml"))
    }

    #if Zoo
        @Test("one allocation more per read, and one percent of instructions more, are named")
        func moreWork() throws {
            let variable = MistakeVariable.name
            // Under valgrind a case takes seconds, so instructions are counted for one case in one round.
            for (plan, line, test) in [
                ("counted", "rounds: 2, budgets: { 'point-read.allocations': '+0.5' }", "'point-read', sizes: 300"),
                (
                    "executed", "rounds: 1, instructions: true, budgets: { instructions: '+0.5%' }",
                    "'commit', sizes: 100, parameters: { commits: 10 }"
                ),
            ] {
                try FileTree.writeText(
                    directory.path + "/Benchmarks/Plans/\(plan).json5",
                    """
                    { summary: 'p', engines: 'strata-storage', \(line), cases: [
                      { scenario: \(test), datasets: 'people', headline: true },
                    ] }
                    """)
                // The runs without more work plant a mistake that costs nothing, so that all runs are wrapped in the
                // same way.
                try expect("\(variable)=check-alarm assay run \(plan) --out first-\(plan)", 0)
                try expect("assay baseline save first-\(plan) --name \(plan)", 0)
                try expect("\(variable)=check-alarm assay run \(plan) --out again-\(plan)", 0)
                try expect("assay gate again-\(plan) --baseline \(plan)", 0, "within budget")
            }
            try expect("\(variable)=allocation-more assay run counted --out reads", 0)
            let reads = try shell.run("assay gate reads --baseline counted")
            let counts = try RunDirectory(path: directory.path + "/reads").load().header
            let countsAllocations = !counts.notBuilt.contains { $0.name == "allocation counts" }
            if countsAllocations {
                #expect(reads.output.contains("EXCEEDED") && reads.output.contains("allocations_per_operation"))
                #expect(reads.output.contains("point-read"), "\(reads.output)")
            } else {
                print("SKIPPED allocations: this build does not count them")
            }
            let instructions = try RunDirectory(path: directory.path + "/first-executed").load().header
            let hasValgrind = !instructions.notBuilt.contains { $0.name == InstructionCounter.name }
            guard hasValgrind else { return print("SKIPPED instructions: \(InstructionCounter.remedy)") }
            try expect("\(variable)=instructions-more assay run executed --out slow", 0)
            let slow = try shell.run("assay gate slow --baseline executed")
            #expect(slow.output.contains("EXCEEDED") && slow.output.contains("instructions"), "\(slow.output)")
            #expect(slow.output.contains("commit"), "\(slow.output)")
        }
    #endif

    @Test("bad input ends with 64 and a remedy")
    func badInput() throws {
        try expect("assay run guard --out run", 0)
        try expect("assay baseline save run --name ci", 0)
        let file = directory.path + "/Benchmarks/Baselines/ci.json"
        let text = try FileTree.readText(file)
        try FileTree.writeText(file, String(text.dropLast(40)))
        try expect("assay gate run --baseline ci", 64, "damaged or cut")
        try FileTree.writeText(file, text.replacing("assay-baseline/1", with: "assay-baseline/7"))
        try expect("assay gate run --baseline ci", 64, "has the format assay-baseline/7")
        try FileTree.writeText(file, text.replacing("\"n\":", with: "\"n\": 1"))
        try expect("assay gate run --baseline ci", 64, "is not as it was written")
        try FileTree.writeText(file, text)
        try expect("assay gate nowhere --baseline ci", 64, "no run in nowhere")
        try expect("assay gate run", 64, "--baseline N is missing")
        try expect("assay baseline list run --name x", 64, "unknown action list")
        try expect("assay baseline save run --name a:b", 64, "the name of a baseline is")

        let wrong = [
            ("synks: '=='", "did you mean syncs?"), ("'comit.syncs': '=='", "did you mean commit?"),
            ("syncs: '=1'", "is no budget"), ("duration_ms: '+5%'", "unknown counter duration_ms"),
        ]
        for (budgets, expected) in wrong {
            try write(budgets: budgets)
            try expect("assay run guard --out other", 64, expected, "guard.json5:1:")
            try expect("assay gate run --baseline ci --budgets guard", 64, expected)
            #expect(!FileTree.exists(directory.path + "/other"))
        }
        try write(budgets: "")
        try expect("assay gate run --baseline ci --budgets guard", 64, "has no budgets")
        try write(budgets: "instructions: '+0.5%'")
        try expect("assay gate run --baseline ci --budgets guard", 3)

        let results = directory.path + "/run/results.jsonl"
        let lines = try FileTree.readText(results).split(separator: "\n")
        // The two lines are two rounds, or one round that was disturbed and measured again. In both cases the run lacks
        // measurements.
        try FileTree.writeText(results, lines.prefix(2).joined(separator: "\n") + "\n")
        try expect("assay gate run --baseline ci", 64, "is not finished", "assay run --resume run")
        try expect("assay baseline save run --name new", 64, "is not finished")
        #expect(!FileTree.exists(directory.path + "/Benchmarks/Baselines/new.json"))
    }

    /// Reads the file by the parser of Python, if that is installed.
    private func readByPython(_ file: String) throws {
        guard try shell.run("command -v python3").status == .exited(0) else {
            print("SKIPPED the JUnit file by Python's reader: there is no python3. Remedy: apt-get install python3")
            return
        }
        try FileTree.writeText(
            directory.path + "/read.py",
            """
            import sys, xml.etree.ElementTree as tree
            root = tree.parse(sys.argv[1]).getroot()
            cases = root.findall('testsuite/testcase')
            assert root.tag == 'testsuites' and int(root.get('tests')) == len(cases) > 0
            failed = [c for c in cases if c.find('failure') is not None]
            assert int(root.get('failures')) == len(failed) > 0
            assert any(c.get('name').startswith('syncs_per_commit') for c in failed)
            assert all(c.get('time') == '0' for c in cases)
            assert all(c.get('classname').endswith('.strata-storage') for c in failed)
            # No run counted instructions: a budget without a figure is a case of its own, and is skipped.
            alone = [c for c in cases if c.get('classname') == 'budgets']
            assert [c.find('skipped').get('type') for c in alone] == ['skipped']
            assert all('in the baseline' in c.find('failure').get('message') for c in failed)
            for suite in root.findall('testsuite'):
                assert int(suite.get('tests')) == len(suite.findall('testcase'))
                assert any(p.get('name') == 'baseline' and p.get('value') == 'mine'
                           for p in suite.findall('properties/property'))
            """)
        let end = try shell.run("python3 read.py \(file)")
        #expect(end.status == .exited(0), "\(end.output)")
    }
}
