import Files
import RunRecords
import Testing

@testable import Harness

/// `assay replay --keep`, by the real executable.
@Suite struct KeptDatabaseTests {
    private let directory: TestDirectory
    private var run: String { directory.path + "/run" }
    private var kept: String { directory.path + "/kept" }

    init() throws {
        directory = try TestDirectory()
    }

    private func sweep(_ scenario: String, _ engine: String) throws -> CaseResult {
        let plan = directory.path + "/p.json5"
        try FileTree.writeText(
            plan,
            "{ summary: 'p', budget_seconds: 60, cases: [{ scenario: '\(scenario)', engines: '\(engine)', "
                + "parameters: { trials: 20 } }] }")
        let end = try AssayProcess.run(["run", plan, "--out", run, "--plans", directory.path], in: directory)
        try #require(end.status == .exited(0), "\(end.output)")
        return try #require(try RunDirectory(path: run).load().results.first)
    }

    private func replay(_ result: CaseResult, _ trial: String, _ more: [String]) throws -> AssayProcess.End {
        try AssayProcess.run(["replay", run, result.test.id, trial] + more, in: directory)
    }

    @Test(
        "the damaged database of a trial is kept as it was before its open",
        arguments: [
            "strata-storage", "sqlite",
        ])
    func keeps(engine: String) throws {
        let result = try sweep("zero-page", engine)
        let details = try #require(try RunDirectory(path: run).load().details[result.test.id]?.map)
        #expect(details.fault == .zero && details.positions.count >= 8)
        let place = try #require(details.place(ofTrial: 1))
        let trial = details.address(ofTrial: 1).text
        let end = try replay(result, trial, ["--keep", kept])
        #expect(end.status == .exited(0), "\(end.output)")
        let command = engine == "sqlite" ? "sqlite3 " : "strata check "
        #expect(end.output.contains("kept: \(kept)/database") && end.output.contains(command), "\(end.output)")
        let bytes = try FileTree.readBytes(kept + "/database/" + details.files[place.file].name)
        #expect(bytes.count == details.files[place.file].byteCount)
        #expect(bytes[place.offset..<place.offset + 4_096].allSatisfy { $0 == 0 })
        #expect(bytes.contains { $0 != 0 })
        let note = try FileTree.readText(kept + "/" + KeptDatabase.note)
        #expect(note.contains(trial) && note.contains(result.test.id) && note.contains("zero-page"))
        // The kept database now belongs to the user: a second replay must not replace it.
        let again = try replay(result, trial, ["--keep", kept])
        #expect(again.status == .exited(64) && again.output.contains("is not an empty directory"), "\(again.output)")
    }

    @Test("without a trial, or with several repetitions, nothing is kept")
    func refused() throws {
        let result = try sweep("zero-page", "strata-storage")
        let whole = try AssayProcess.run(["replay", run, result.test.id, "--keep", kept], in: directory)
        #expect(whole.status == .exited(64) && whole.output.contains("--keep needs a trial"), "\(whole.output)")
        #expect(!FileTree.exists(kept))
        let often = try replay(result, "zero:0", ["--keep", kept, "--times", "3"])
        #expect(often.status == .exited(64) && often.output.contains("leave --times out"), "\(often.output)")
    }
}
