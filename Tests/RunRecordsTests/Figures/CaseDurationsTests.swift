import Files
import FilesTests
import Seeds
import Testing

@testable import RunRecords

@Suite struct CaseDurationsTests {
    private let machine = RunDirectoryTests.header([]).machine

    @Test("a case is recognized with any seed, on the same machine, with the same parameters")
    func known() throws {
        var durations = CaseDurations()
        var test = CaseTests.example
        durations.note(1.5, of: test, on: machine)
        durations.note(.nan, of: test, on: machine)
        test.seed = Seed(99)
        #expect(durations.seconds(of: test, on: machine) == 1.5)
        durations.note(2.5, of: test, on: machine)
        #expect(durations.seconds(of: CaseTests.example, on: machine) == 2.5)
        test.size += 1
        #expect(durations.seconds(of: test, on: machine) == nil)
        var other = machine
        other.coreCount += 1
        #expect(durations.seconds(of: CaseTests.example, on: other) == nil)
    }

    @Test("a file round-trips, and a damaged one is an error")
    func stored() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/durations.json"
        #expect(try CaseDurations.read(path) == CaseDurations())
        var durations = CaseDurations()
        durations.note(0.25, of: CaseTests.example, on: machine)
        try durations.write(path)
        #expect(try CaseDurations.read(path) == durations)
        try FileTree.writeText(path, "{\"format\": \"assay-durations/2\"}")
        #expect(throws: (any Error).self) { try CaseDurations.read(path) }
    }
}
