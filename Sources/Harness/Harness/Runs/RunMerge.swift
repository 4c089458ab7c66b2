import Files
import JSONText
import RunRecords

/// Merges the runs of shards into one. It reads and checks all of them before it writes.
package struct RunMerge {
    package let union: ShardUnion
    private let manifest: RunManifest
    private let results: [CaseResult]

    /// - Parameter allowsMissing: whether shards may be missing.
    /// Throws: `MergeError` if runs do not belong together, have not ended, or are damaged.
    package init(_ paths: [String], allowsMissing: Bool) throws {
        var seen: [String: String] = [:]
        for path in paths {
            guard let place = FileTree.absolute(path), RunDirectory(path: path).exists else {
                throw MergeError("no run in \(path): there is no run.json. Name the directories of the shards")
            }
            if let other = seen.updateValue(path, forKey: place) {
                throw MergeError("\(path)\(other == path ? "" : ", which is \(other),") is named twice: name it once")
            }
        }
        let sources = try paths.map { try Source(path: $0) }
        union = try ShardUnion(sources.map(\.run), allowsMissing: allowsMissing)
        let ordered = union.shards.compactMap { shard in sources.first { $0.run.path == shard.path } }
        for source in ordered { try source.check() }
        var cases: [String: PlannedCase] = [:]
        for planned in ordered.flatMap(\.manifest.cases) { cases[planned.test.id] = planned }
        var manifest = ordered[0].manifest
        manifest.cases = union.header.cases.compactMap { cases[$0] }
        self.manifest = manifest
        var results: [String: [CaseResult]] = [:]
        for result in ordered.flatMap(\.results) { results[result.test.id, default: []].append(result) }
        self.results = union.header.cases.flatMap { id in
            (results[id] ?? []).sorted {
                ($0.turn.round, $0.turn.side.rawValue) < ($1.turn.round, $1.turn.side.rawValue)
            }
        }
    }

    /// The options of the shards, for the marker of the merged run's directory.
    package var options: [String: [String]] { union.shards[0].options }

    /// Writes the raw files of the merged run. Equal shards give equal bytes, in whatever directory.
    package func write(to directory: RunDirectory) throws -> Run {
        try directory.create(union.header)
        try manifest.write(to: directory)
        let lines = results.flatMap { RunDirectory.line($0) + [UInt8(ascii: "\n")] }
        try FileTree.writeBytes(directory.resultsFile, lines)
        for shard in union.shards {
            for folder in ["series", "trials"] where FileTree.isDirectory("\(shard.path)/\(folder)") {
                for name in try FileTree.names(in: "\(shard.path)/\(folder)") {
                    let bytes = try FileTree.readBytes("\(shard.path)/\(folder)/\(name)")
                    try FileTree.writeBytes("\(directory.path)/\(folder)/\(name)", bytes)
                }
            }
        }
        return try directory.load()
    }

    /// The exit status that a run of the whole plan would have had.
    package func exitStatus(_ run: Run) -> Int32 { run.exitStatus(of: manifest.cases) }
}

/// The directory of a shard, as it was read.
private struct Source {
    let run: ShardRun
    let manifest: RunManifest
    /// One per measurement; of a repeated one, the later result.
    let results: [CaseResult]
    private let directory: RunDirectory
    private let unreadable: [String]

    init(path: String) throws {
        directory = RunDirectory(path: path)
        let header: RunHeader
        let marker: DirectoryMarker
        do {
            header = try directory.readHeader()
            manifest = try RunManifest.read(from: directory)
            marker = try DirectoryMarker.read(from: path)
            let read = try directory.readResults()
            var last: [String: CaseResult] = [:]
            for result in read.results {
                last["\(result.test.id) \(result.turn.round) \(result.turn.side.rawValue)"] = result
            }
            (results, unreadable) = (Array(last.values), read.unreadable)
        } catch let error as JSONShapeError where error.path.hasSuffix(".format") {
            throw MergeError(
                "\(path) is of another format (\(error)): merge with the assay that ran it, or run that shard again")
        } catch {
            throw MergeError("\(path) is damaged (\(error)): \(Self.remedy)")
        }
        var options = marker.options
        options["--shard"] = nil
        let bounds = [
            "hang_seconds": "\(manifest.hangSeconds)", "memory_megabytes": "\(manifest.memoryMegabytes)",
            "rounds": "\(manifest.rounds)", "instructions": "\(manifest.countsInstructions)",
            "budgets": manifest.budgets.map { "\($0.key) \($0.text)" }.sorted().joined(separator: ", "),
        ]
        run = try ShardRun(
            path: path, header: header, options: options, bounds: bounds, tests: manifest.cases.map(\.test))
    }

    private static let remedy =
        "copy it again from where it was made, run that shard again, or leave it out with --partial"

    /// Checks that the shard has ended, and that its files have not changed since then.
    func check() throws {
        let path = directory.path
        if let first = unreadable.first { throw MergeError("\(path) is damaged (\(first)): \(Self.remedy)") }
        let counts = Dictionary(grouping: results, by: \.test.id).mapValues(\.count)
        if let stranger = counts.keys.sorted().first(where: { !run.header.cases.contains($0) }) {
            throw MergeError("\(path) is damaged (case \(stranger) is none of its cases): \(Self.remedy)")
        }
        let open = run.header.cases.filter { (counts[$0] ?? 0) < run.header.measurementCount(of: $0) }
        guard open.isEmpty else {
            throw MergeError(
                "\(path) has not ended: \(open.count) of its \(run.header.cases.count) cases are not done. Go on with  "
                    + "assay run --resume \(ShellWord.quoted(path))  or leave it out with --partial")
        }
        let recorded: RecordSums?
        do { recorded = try RecordSums.read(from: directory) } catch {
            throw MergeError("\(path) is damaged (\(error)): \(Self.remedy)")
        }
        guard let recorded else {
            throw MergeError(
                "\(path) has no sums.json, which a shard gets at its end: copy all of its files, or finish it with  "
                    + "assay run --resume \(ShellWord.quoted(path))")
        }
        if let file = recorded.differences(from: try RecordSums(of: directory)).first {
            throw MergeError("\(path) is damaged (\(file) is not what it was when the shard ended): \(Self.remedy)")
        }
    }
}
