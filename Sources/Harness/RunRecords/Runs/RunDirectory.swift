import Files
import JSONText

/// The directory of a run.
///
/// Layout:
/// - `run.json`: the header, written before the first case.
/// - `cases.json`: the expanded plan, see RunManifest of the room Harness.
/// - `results.jsonl`: a line of at most 64 KiB per measurement, appended when the measurement ends. A case has one, or
///   one per round and side. A killed run leaves at most one incomplete line, which counts as not written.
/// - `trials/CASE.bin`: for a sweep, a byte per trial in the order of addresses: `Outcome.code`, or 0 for a trial in
///   which the harness failed, 255 for one that the budget left out.
/// - `measurements.jsonl`, `ab.csv`, `ab.json`, `ab.html`: for a comparison of two builds, in place of `cases.json`,
///   `results.jsonl` and `trials`.
/// - `bisect.json`, `bisect.jsonl`, `steps`: for a search for a slower revision, see BisectRecord of the room Harness.
/// - `series/CASE.json`: series, histograms, and the positions of a sweep's trials. Of later rounds
///   `series/CASE-ROUND.json`, and with `-control` of the control.
/// - `profiles/CASE.html`, `.folded`, and the profiler's own output: for `assay run --profile`.
/// - `cases/CASE-HASH.case.json`: the first failures of each cause, see KeptCaseName and the room CaseFiles.
/// - `sums.json`: for a shard that has ended, see RecordSums.
/// - `.assay-run`, `.assay-lock`: the ownership of the directory, see DirectoryMarker of the room Files, and RunClaim.
/// - `work/assay-scratch-*/files`: fixtures and the files of running cases, removed when the run ends.
package struct RunDirectory: Sendable {
    package static let lineLimit = 64 << 10

    /// The entries that a run creates in its directory, besides marker, lock and scratch.
    static let entries = [
        "run.json", "cases.json", "results.jsonl", "trials", "series", "cases", "sums.json", "profiles", "report.html",
        "results.csv", "peers.csv", "scale.csv", "faults.csv", "measurements.jsonl", "ab.csv", "ab.json", "ab.html",
        "bisect.json", "bisect.jsonl", "steps",
    ]

    package var path: String
    /// The databases of a running run. The whole directory may be removed when the run has ended.
    package var workDirectory: String

    /// - Parameter workDirectory: nil for a process that only reads the run.
    package init(path: String, workDirectory: String? = nil) {
        self.path = path
        self.workDirectory = workDirectory ?? "\(path)/work" + "/\(ScratchDirectory.prefix)unclaimed"
    }

    package var headerFile: String { path + "/run.json" }
    package var resultsFile: String { path + "/results.jsonl" }

    package func trialsFile(_ id: String) -> String { "\(path)/trials/\(id).bin" }

    /// The common prefix of the files of a case's profile.
    package func profileBase(_ id: String) -> String { "\(path)/profiles/\(id)" }

    package func detailsFile(_ id: String, _ turn: Turn = Turn()) -> String {
        let round = turn.round == 0 ? "" : "-\(turn.round)"
        return "\(path)/series/\(id)\(round)\(turn.side == .control ? "-control" : "").json"
    }

    /// Whether there is a run in the directory.
    package var exists: Bool { FileTree.exists(headerFile) }

    package func create(_ header: RunHeader) throws {
        for part in ["", "/trials", "/series"] { try FileTree.createDirectory(path + part) }
        try FileTree.createDirectory(workDirectory)
        try FileTree.replaceText(headerFile, header.json.text + "\n")
    }

    /// The details are written first, so that a line in results.jsonl always has its files.
    package func append(_ result: CaseResult, details: CaseDetails) throws {
        let id = result.test.id
        if !details.trialCodes.isEmpty {
            try FileTree.writeBytes(trialsFile(id), details.trialCodes)
        }
        if !details.series.isEmpty || !details.histograms.isEmpty || details.map != nil {
            try FileTree.writeText(detailsFile(id, result.turn), details.json.text + "\n")
        }
        try FileTree.append(resultsFile, Self.line(result) + [UInt8(ascii: "\n")])
    }

    /// The result in at most 64 KiB. If it is longer, first texts are shortened, then trials are left out, then
    /// samples.
    package static func line(_ result: CaseResult) -> [UInt8] {
        var line = result.json.bytes
        guard line.count >= lineLimit else { return line }
        var short = result
        short.message = String(short.message.prefix(2_000)) + " (shortened)"
        short.crash?.standardError = String(result.crash?.standardError.suffix(2_000) ?? "")
        for index in short.trials.indices {
            short.trials[index].detail = String(short.trials[index].detail.prefix(160))
        }
        for index in short.causes.indices {
            short.causes[index].detail = String(short.causes[index].detail.prefix(80))
        }
        line = short.json.bytes
        while line.count >= lineLimit, !short.trials.isEmpty {
            short.trials.removeLast((short.trials.count + 1) / 2)
            line = short.json.bytes
        }
        while line.count >= lineLimit, !short.samples.isEmpty {
            short.samples.removeLast((short.samples.count + 1) / 2)
            line = short.json.bytes
        }
        return line
    }

    /// Reads the whole run, finished or not. Of a repeated measurement the later line counts. Verdicts that depend on
    /// the machine or on all results together are adjusted here, and not in the lines: `SyncHonesty`,
    /// `SuspectedHarness`.
    package func load() throws -> Run {
        let header = try readHeader()
        let (results, unreadable) = try readResults()
        var measurements: [String: [Turn: CaseResult]] = [:]
        for result in results { measurements[result.test.id, default: [:]][result.turn] = result }
        var run = Run(header: header, results: [], directory: path, unreadable: unreadable)
        for id in header.cases {
            let all = (measurements[id] ?? [:]).values.sorted {
                ($0.turn.round, $0.turn.side.rawValue) < ($1.turn.round, $1.turn.side.rawValue)
            }
            guard let merged = CaseResult.merged(all) else { continue }
            run.results.append(merged)
            if header.rounds[id] != nil { run.rounds[id] = all }
            var details: [CaseDetails] = []
            for result in all where result.turn.side == .measured {
                do {
                    if let found = try readDetails(id, result.turn) { details.append(found) }
                } catch {
                    run.unreadable.append("\(detailsFile(id, result.turn)): \(error)")
                }
            }
            if !details.isEmpty { run.details[id] = CaseDetails.merged(details) }
        }
        let kept = path + "/" + KeptCaseName.directory
        if FileTree.isDirectory(kept) {
            run.caseFiles = Set(try FileTree.names(in: kept).filter { $0.hasSuffix(KeptCaseName.ending) })
        }
        return SuspectedHarness.judged(SyncHonesty.judged(run))
    }

    /// Throws: `UnreadableRun` if the file is not JSON; `JSONShapeError` if it is not a run's.
    package func readHeader() throws -> RunHeader {
        let bytes = try FileTree.readBytes(headerFile)
        do {
            return try RunHeader(document: bytes, named: "run.json")
        } catch let error as JSONError {
            throw UnreadableRun(directory: path, reason: "\(error)")
        }
    }

    /// Every readable line, and for each other line a sentence with file and line number. A bad line loses no other
    /// line.
    package func readResults() throws(FileTreeError) -> (results: [CaseResult], unreadable: [String]) {
        guard FileTree.exists(resultsFile) else { return ([], []) }
        let bytes = try FileTree.readBytes(resultsFile)
        var results: [CaseResult] = []
        var unreadable: [String] = []
        for (index, line) in Self.wholeLines(bytes).enumerated() where !line.isEmpty {
            let place = "\(resultsFile) line \(index + 1)"
            do {
                results.append(try CaseResult(document: Array(line), named: "result"))
            } catch {
                unreadable.append("\(place): \(error)")
            }
        }
        return (results, unreadable)
    }

    private static func wholeLines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        return bytes[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    private func readDetails(_ id: String, _ turn: Turn) throws -> CaseDetails? {
        let file = detailsFile(id, turn)
        let hasDetails = FileTree.exists(file)
        let hasTrials = FileTree.exists(trialsFile(id))
        guard hasDetails || hasTrials else { return nil }
        let codes = hasTrials ? try FileTree.readBytes(trialsFile(id)) : []
        guard hasDetails else { return CaseDetails(trialCodes: codes) }
        return try CaseDetails(
            document: try FileTree.readBytes(file), named: "details", onto: CaseDetails(trialCodes: codes))
    }

    /// Removes an incomplete last line that a killed run left: the next line would be appended to it.
    package func repairResults() throws {
        guard FileTree.exists(resultsFile) else { return }
        let bytes = try FileTree.readBytes(resultsFile)
        let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < bytes.count {
            try FileTree.truncate(resultsFile, to: whole)
        }
    }
}

/// The header of a run, `run.json`, is truncated or otherwise not JSON.
package struct UnreadableRun: Error, CustomStringConvertible {
    package let directory: String
    package let reason: String

    package var description: String { "\(directory)/run.json: \(reason)" }
}
