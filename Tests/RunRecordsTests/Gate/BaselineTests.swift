import JSONText
import Testing

@testable import RunRecords

@Suite struct BaselineTests {
    private func text() throws -> String { try Baseline.make(name: "b", of: [CountedRun.sound().run]).0.text }

    private func error(_ text: String) throws -> String {
        try #require(throws: BaselineError.self) { try Baseline(Array(text.utf8), path: "b.json") }.description
    }

    @Test("a baseline round-trips to equal bytes")
    func roundTrip() throws {
        let made = try Baseline.make(name: "b", of: [CountedRun.sound().run]).0
        let read = try Baseline(Array(made.text.utf8), path: "b.json")
        #expect(read == made)
        #expect(read.text == made.text)
        let commit = try #require(read.cases.first?.figures)
        #expect(commit.count == 3, "rates are not kept")
        let instructions = try #require(commit.first { $0.key.counter == .instructions }?.value)
        #expect(instructions.low == 76_433_787 && instructions.high == 76_504_497 && instructions.count == 3)
        #expect(!instructions.repeatsExactly)
    }

    @Test("a figure has its own line, so that its change can be reviewed")
    func lines() throws {
        let lines = try text().split(separator: "\n")
        #expect(lines.count { $0.contains("\"metric\"") } == 6)
        #expect(lines.allSatisfy { $0.split(separator: "\"metric\"").count <= 2 })
    }

    @Test("a truncated file is refused with a remedy")
    func cut() throws {
        let whole = try text()
        // The line end after the last brace is not part of the document.
        for length in 0..<(whole.utf8.count - 1) {
            let message = try error(String(decoding: whole.utf8.prefix(length), as: UTF8.self))
            #expect(message.contains("damaged or cut") && message.contains("--replace"), "\(length): \(message)")
        }
    }

    @Test("every changed digit and letter is detected")
    func changed() throws {
        let whole = Array(try text().utf8)
        for index in whole.indices where whole[index] >= 0x30 && whole[index] != 0x7B && whole[index] != 0x7D {
            var bytes = whole
            bytes[index] = bytes[index] == 0x37 ? 0x38 : 0x37
            #expect(throws: BaselineError.self, "byte \(index)") { try Baseline(bytes, path: "b.json") }
        }
    }

    @Test("another space or line end changes nothing")
    func spaces() throws {
        let whole = try text()
        let other = whole.split(separator: "\n").joined(separator: "\r\n")
        #expect(try Baseline(Array(other.utf8), path: "b.json").text == whole)
    }

    @Test("another format, and a file of something else, are refused by name")
    func formats() throws {
        let newer = try text().split(separator: "assay-baseline/1").joined(separator: "assay-baseline/9")
        #expect(try error(newer).contains("has the format assay-baseline/9, this build reads assay-baseline/1"))
        #expect(try error("{\"format\": \"assay-run/2\"}").contains("is no baseline"))
        #expect(try error("[]").contains("damaged or cut"))
    }

    @Test("an unfinished or partly unreadable run makes no baseline")
    func unfinished() throws {
        var run = CountedRun.sound().run
        run.results.removeLast()
        let first = try #require(throws: BaselineError.self) { try Baseline.make(name: "b", of: [run]) }
        #expect(first.description.contains("is not finished") && first.description.contains("--resume"))
        run = CountedRun.sound().run
        run.unreadable = ["results.jsonl line 3: broken"]
        let second = try #require(throws: BaselineError.self) { try Baseline.make(name: "b", of: [run]) }
        #expect(second.description.contains("line 3"))
    }

    @Test("runs with other cases, or of another build, cannot be combined")
    func mixed() throws {
        let run = CountedRun.sound().run
        var other = run
        other.header.buildDigest = "else"
        #expect(throws: BaselineError.self) { try Baseline.make(name: "b", of: [run, other]) }
        other = run
        other.header.cases.reverse()
        #expect(throws: BaselineError.self) { try Baseline.make(name: "b", of: [run, other]) }
        let both = try Baseline.make(name: "b", of: [run, run]).0
        #expect(both.cases.first?.figures.values.allSatisfy { $0.count == 6 } == true)
    }

    @Test("a failed or cut case is left out by name, and a run of only such cases makes no baseline")
    func leftOut() throws {
        var made = CountedRun.sound()
        made.add("bad", ["file_syncs": [1, 1]], verdict: .violation)
        let (baseline, leftOut) = try Baseline.make(name: "b", of: [made.run])
        #expect(baseline.cases.count == 2)
        #expect(leftOut == ["bad  strata  people 10: violation"])
        var bad = CountedRun()
        bad.add("bad", ["file_syncs": [1, 1]], verdict: .inconclusive)
        let error = try #require(throws: BaselineError.self) { try Baseline.make(name: "b", of: [bad.run]) }
        #expect(error.description.contains("bad  strata"))
    }

    @Test(
        "counters are distinguished from times and from the kernel's counts",
        arguments: [
            ("syncs_per_commit", Counter.syncs), ("file_syncs", .syncs), ("written_bytes_per_row", .writtenBytes),
            ("file_bytes", .fileBytes), ("file_bytes_per_row", .fileBytes), ("allocations_per_operation", .allocations),
            ("instructions", .instructions), ("file_calls", .fileCalls), ("latency_ns", nil),
            ("cpu_ns_per_commit", nil),
            ("written_bytes", nil), ("read_syscalls", nil), ("peak_rss_bytes", nil), ("device_bytes_per_commit", nil),
            ("syncs_per_", nil), ("page_faults", nil), ("rows_per_second", nil), ("", nil),
        ] as [(String, Counter?)])
    func counters(metric: String, counter: Counter?) {
        #expect(Counter(metric: metric) == counter)
    }
}
