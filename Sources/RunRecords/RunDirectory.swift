import JSONText

/// Where a run is kept.
///
/// Layout:
/// - `run.json`: the header, written before the first case.
/// - `cases.json`: the plan worked out, see RunManifest of the room Harness.
/// - `results.jsonl`: a line of at most 64 KiB per case, appended when the case ends. A run that was killed leaves at
///   most one line without an end, which counts as not written.
/// - `trials/CASE.bin`: for a sweep, a byte per trial in address order: `Outcome.code`, 0 for a trial that broke
///   the harness, 255 for one that the budget left out.
/// - `series/CASE.json`: series and histograms.
/// - `work/`: fixtures and the files of running cases, removed when the run ends.
package struct RunDirectory: Sendable {
    package static let lineLimit = 64 << 10

    package var path: String

    package init(path: String) {
        self.path = path
    }

    package var headerFile: String { path + "/run.json" }
    package var resultsFile: String { path + "/results.jsonl" }
    package var workDirectory: String { path + "/work" }

    package func trialsFile(_ id: String) -> String { "\(path)/trials/\(id).bin" }
    package func detailsFile(_ id: String) -> String { "\(path)/series/\(id).json" }

    /// Whether a run was written there.
    package var exists: Bool { FileTree.exists(headerFile) }

    package func create(_ header: RunHeader) throws {
        for part in ["", "/trials", "/series", "/work"] {
            try FileTree.createDirectory(path + part)
        }
        try FileTree.replaceText(headerFile, header.json.text + "\n")
    }

    /// Details first, so that a line in results.jsonl always has its files.
    package func append(_ result: CaseResult, details: CaseDetails) throws {
        let id = result.test.id
        if !details.trialCodes.isEmpty {
            try FileTree.writeBytes(trialsFile(id), details.trialCodes)
        }
        if !details.series.isEmpty || !details.histograms.isEmpty {
            try FileTree.writeText(detailsFile(id), details.json.text + "\n")
        }
        try FileTree.append(resultsFile, Self.line(result) + [UInt8(ascii: "\n")])
    }

    /// The result in at most 64 KiB: texts are shortened first, then trials are left out, then samples.
    static func line(_ result: CaseResult) -> [UInt8] {
        var line = result.json.bytes
        guard line.count >= lineLimit else { return line }
        var short = result
        short.message = String(short.message.prefix(2_000)) + " (shortened)"
        short.crash?.standardError = String(result.crash?.standardError.suffix(2_000) ?? "")
        for index in short.trials.indices {
            short.trials[index].detail = String(short.trials[index].detail.prefix(160))
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

    /// Reads the whole run, finished or not. Where a case stands twice, the later line counts.
    package func load() throws -> Run {
        let header = try readHeader()
        var byID: [String: CaseResult] = [:]
        for result in try readResults() {
            byID[result.test.id] = result
        }
        var run = Run(header: header, results: header.cases.compactMap { byID[$0] }, directory: path)
        for result in run.results {
            if let details = try readDetails(result.test.id) {
                run.details[result.test.id] = details
            }
        }
        return run
    }

    package func readHeader() throws -> RunHeader {
        let value = try JSONReader.read(try FileTree.readBytes(headerFile))
        return try RunHeader(json: try JSONObjectReader(value, path: "run.json"))
    }

    package func readResults() throws -> [CaseResult] {
        guard FileTree.exists(resultsFile) else { return [] }
        let bytes = try FileTree.readBytes(resultsFile)
        var results: [CaseResult] = []
        for (index, line) in Self.wholeLines(bytes).enumerated() {
            let value = try JSONReader.read(Array(line))
            results.append(
                try CaseResult(json: try JSONObjectReader(value, path: "results.jsonl line \(index + 1)")))
        }
        return results
    }

    private static func wholeLines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        return bytes[..<end].split(separator: UInt8(ascii: "\n"))
    }

    private func readDetails(_ id: String) throws -> CaseDetails? {
        let hasDetails = FileTree.exists(detailsFile(id))
        let hasTrials = FileTree.exists(trialsFile(id))
        guard hasDetails || hasTrials else { return nil }
        let codes = hasTrials ? try FileTree.readBytes(trialsFile(id)) : []
        guard hasDetails else { return CaseDetails(trialCodes: codes) }
        let value = try JSONReader.read(try FileTree.readBytes(detailsFile(id)))
        return try CaseDetails(json: try JSONObjectReader(value, path: "series/\(id).json"), trialCodes: codes)
    }

    /// Cuts off a line that a killed run left without an end, so that the next line stands on its own.
    package func repairResults() throws {
        guard FileTree.exists(resultsFile) else { return }
        let bytes = try FileTree.readBytes(resultsFile)
        let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < bytes.count {
            try FileTree.truncate(resultsFile, to: whole)
        }
    }
}
