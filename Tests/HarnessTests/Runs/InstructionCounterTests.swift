import Files
import RunRecords
import Testing

@testable import Harness

@Suite struct InstructionCounterTests {
    @Test("the count is the summary at the end of cachegrind's file, and a file without one has none")
    func summary() {
        #expect(InstructionCounter.count("events: Ir\nfn=a\n1 2\nsummary: 76433787\n") == 76_433_787)
        #expect(InstructionCounter.count("events: Ir Dr\nsummary: 5 6\n") == 5)
        for text in ["", "summary: \n", "summary: x\n", "summary: 1\nfn=a\n", "fn=summary: 1\n", "summary: -1\n"] {
            #expect(InstructionCounter.count(text) == nil, "\(text)")
        }
    }

    @Test("the worker's file is read, not a forked child's")
    func children() throws {
        let directory = try TestDirectory()
        try FileTree.writeText(directory.path + "/instructions.12", "summary: 7\n")
        try FileTree.writeText(directory.path + "/instructions.123", "summary: 9\n")
        #expect(try InstructionCounter.count(place: directory.path, processID: 12) == 7)
        #expect(try InstructionCounter.count(place: directory.path, processID: 1) == nil)
    }

    @Test(
        "a plan with instruction counts gets them in each round, or a message about what is missing",
        .disabled(if: KernelCalls.hasThreadSanitizer, "it does not run under valgrind"))
    func counted() throws {
        let directory = try TestDirectory()
        let shell = try ShellProcess(directory)
        try FileTree.writeText(
            directory.path + "/plan.json5",
            """
            { summary: 'p', rounds: 2, engines: 'model', instructions: true, budgets: { instructions: '+20%' },
              cases: [{ scenario: 'planted-pass', headline: true }] }
            """)
        let end = try shell.run("assay run ./plan.json5 --plans . --out run")
        #expect(end.status == .exited(0), "\(end.output)")
        let run = try RunDirectory(path: directory.path + "/run").load()
        #expect(!FileTree.exists(directory.path + "/run/work"), "no file of the copy remains")
        guard !run.header.notBuilt.contains(where: { $0.name == InstructionCounter.name }) else {
            #expect(end.output.contains(InstructionCounter.remedy))
            print("SKIPPED the count of instructions: \(InstructionCounter.remedy)")
            return
        }
        let id = try #require(run.header.cases.first)
        let counts = try #require(run.rounds[id]).map { $0.value(InstructionCounter.metric, label: "whole case") ?? 0 }
        #expect(counts.count == 4 && counts.allSatisfy { $0 > 1_000_000 }, "\(counts)")
        let saved = try shell.run("assay baseline save run --name ./b.json && assay gate run --baseline ./b.json")
        #expect(saved.status == .exited(0), "\(saved.output)")
    }

    @Test(
        "a case of a decided comparison is profiled with a new fixture, since the run has removed its own",
        .disabled(if: KernelCalls.hasThreadSanitizer, "it does not run under valgrind"))
    func profiled() throws {
        let directory = try TestDirectory()
        let shell = try ShellProcess(directory)
        guard InstructionCounter.find("valgrind") != nil, InstructionCounter.find("strip") != nil else {
            print("SKIPPED a profile: \(InstructionCounter.remedy)")
            return
        }
        try FileTree.writeText(
            directory.path + "/plan.json5",
            """
            { summary: 'p', rounds: 6, engines: 'strata',
              cases: [{ scenario: 'iterate', datasets: 'people', sizes: 100, headline: true }] }
            """)
        let end = try shell.run("assay run ./plan.json5 --plans . --out run --profile callgrind")
        #expect(end.status == .exited(0), "\(end.output)")
        #expect(end.output.contains("Profile  "), "\(end.output)")
    }
}
