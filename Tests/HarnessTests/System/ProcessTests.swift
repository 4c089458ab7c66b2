import Files
import JSONText
import Measuring
import Platform
import RunRecords
import Seeds
import Synchronization
import Testing

@testable import Harness

@Suite struct ThreadGroupTests {
    @Test("every index runs once, all at the same time, and results are in order")
    func order() throws {
        // Each thread waits for all others, so the test ends only if they run at the same time.
        let arrived = Atomic<Int>(0)
        let results = try ThreadGroup.run(6) { index in
            arrived.add(1, ordering: .sequentiallyConsistent)
            while arrived.load(ordering: .sequentiallyConsistent) < 6 {}
            return index * index
        }
        #expect(results == [0, 1, 4, 9, 16, 25])
    }

    @Test("the error of the lowest index is thrown after all have ended")
    func errors() {
        let ended = Atomic<Int>(0)
        let error = #expect(throws: HarnessError.self) {
            try ThreadGroup.run(4) { index in
                ended.add(1, ordering: .sequentiallyConsistent)
                if index >= 2 { throw HarnessError("thread \(index)") }
            }
        }
        #expect(error?.message == "thread 2")
        #expect(ended.load(ordering: .sequentiallyConsistent) == 4)
    }
}

@Suite struct ForkedChildTests {
    @Test("a process that has threads cannot fork")
    func threads() throws {
        // The test runner itself has several.
        try #require(ForkedChild.threadCount() > 1)
        #expect(throws: HarnessError.self) { try ForkedChild.start { _ in 0 } }
    }

    @Test("a wait status is decoded")
    func waitStatus() {
        #expect(ChildEnd(waitStatus: 0) == .exited(0))
        #expect(ChildEnd(waitStatus: 3 << 8) == .exited(3))
        #expect(ChildEnd(waitStatus: 9) == .signalled(9))
        #expect(ChildEnd(waitStatus: 11 | 0x80) == .signalled(11))
    }

    @Test("lanes cover all trials once, in order")
    func lanes() {
        #expect(TrialRunner.split(10, lanes: 3) == [0..<3, 3..<6, 6..<10])
        #expect(TrialRunner.split(1, lanes: 4) == [0..<1])
        #expect(TrialRunner.split(0, lanes: 2) == [0..<0])
    }

    @Test("of a crash the runtime's message is kept, without addresses")
    func crashText() {
        let text = "noise\nA/B.swift:4: Fatal error: Index out of range\n*** Crash at 0x7f00\n"
        #expect(CrashText.reason(text) == "A/B.swift:4: Fatal error: Index out of range")
        #expect(CrashText.reason("at 0x7f00") == "")
        let given = "Fatal error: earlier\nout of memory\n\(ExitInsideCall.line)\n"
        #expect(CrashText.reason(given) == "exit inside a call: out of memory")
        #expect(CrashText.reason(ExitInsideCall.line) == "exit inside a call: it printed nothing")
        // The messages of C libraries, and of LMDB's assertions.
        for line in ["a: log.cc:7: int f(): Assertion `x' failed.", "mdb.c:9: Assertion 'x' failed in f()"] {
            #expect(CrashText.reason("at 0x7f\n" + line) == "aborted by an assertion: " + line)
        }
        #expect(CrashText.reason("terminate called without an exception").hasPrefix("terminate"))
    }

    @Test("a crash of a process that printed nothing has its signal as words")
    func silentCrash() {
        #expect(CrashText.detail("", signal: SIGSEGV).hasPrefix("its process was ended by signal 11 (Segmentation"))
        #expect(CrashText.detail("at 0x7f00", signal: SIGABRT).hasPrefix("its process was ended by signal 6 ("))
        #expect(CrashText.detail("a: Fatal error: b", signal: SIGILL) == "a: Fatal error: b")
    }
}

@Suite struct WorkerReportTests {
    @Test("request and report round-trip")
    func roundTrip() throws {
        let test = Case(
            scenario: "s", family: .crash, engine: "e", dataset: "d", size: 3,
            parameters: [CaseParameter(name: "k", value: "v")], seed: Seed(.max), durability: .none)
        let request = WorkerRequest(
            task: .buildFixture, test: test, directory: "/a", fixture: "/b", deadline: .max,
            onlyTrial: FaultAddress(.flip, 4))
        let read = try WorkerRequest(
            json: try JSONObjectReader(try JSONReader.read(request.json.text), path: "request"))
        #expect(read == request)

        let caseReport = CaseReport()
        for index in 0..<300 {
            caseReport.add(Trial(address: FaultAddress(.flip, index), outcome: index < 50 ? .crashed : .correct))
        }
        caseReport.addBroken(FaultAddress(.flip, 300), "why")
        caseReport.addUntried()
        caseReport.note("a note")
        var histogram = Histogram()
        histogram.record(5)
        caseReport.add(histogram, name: "h")
        let report = caseReport.ended
        #expect(report.details.trialCodes.count == 302)
        #expect(report.trials.count == CaseFindings.keptTrials)
        let copy = try WorkerReport(json: try JSONObjectReader(try JSONReader.read(report.json.text), path: "report"))
        #expect(copy == report)
    }

    @Test("a distribution gives the quantiles that its values carry, and no other")
    func quantiles() {
        func statistics(_ count: Int) -> [String] {
            var histogram = Histogram()
            histogram.record(5, count: UInt64(count))
            let report = CaseReport()
            report.add(histogram, name: "h")
            return report.samples.map(\.statistic)
        }
        #expect(statistics(19) == ["max", "mean"])
        #expect(statistics(999) == ["p50", "p90", "max", "mean"])
        #expect(statistics(10_000) == ["p50", "p90", "p99", "p99.9", "max", "mean"])
    }

    @Test("a request of another protocol is refused")
    func otherProtocol() throws {
        let text = #"{"protocol":999,"task":"case"}"#
        #expect(throws: JSONShapeError.self) {
            try WorkerRequest(json: try JSONObjectReader(try JSONReader.read(text), path: "request"))
        }
    }
}

@Suite struct MachineInspectionTests {
    @Test("syncs on a file system in memory are not honest, and a sync faster than a disk is suspicious")
    func honesty() {
        #expect(MachineInspection.honesty(fileSystem: "tmpfs", nanoseconds: 1_000_000) == .no)
        #expect(MachineInspection.honesty(fileSystem: "ext4", nanoseconds: 5_000) == .suspicious)
        #expect(MachineInspection.honesty(fileSystem: "ext4", nanoseconds: 100_000) == .yes)
    }

    @Test("the machine is described, and a debug build is named in capitals")
    func describes() throws {
        let directory = try TestDirectory()
        let machine = try MachineInspection.inspect(directory: directory.path)
        #expect(machine.coreCount > 0)
        #expect(machine.memoryBytes > 0)
        #expect(machine.fileSystem != "unknown")
        #expect(machine.fsyncNanoseconds > 0)
        #expect(MachineInspection.warnings(machine, isReleaseBuild: false).contains { $0.hasPrefix("DEBUG BUILD") })
        #expect(!MachineInspection.warnings(machine, isReleaseBuild: true).contains { $0.hasPrefix("DEBUG BUILD") })
        func isSwapNamed(_ warnings: [String]) -> Bool { warnings.contains { $0.hasPrefix("swapped memory: 90 MiB") } }
        #expect(isSwapNamed(MachineInspection.warnings(machine, isReleaseBuild: true, swappedBytes: 90 << 20)))
        let outcomes = MachineInspection.warnings(machine, isReleaseBuild: true, measures: false)
        #expect(!outcomes.contains { $0.hasPrefix("swapped memory") }, "outcomes do not depend on swapped memory")
        #expect(try FileTree.names(in: directory.path).isEmpty, "the probe is removed")
    }
}
