import FaultModel
import Harness
import Measuring
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a program did to a directory, from its first operation to its last, and what it printed meanwhile: enough to
/// build every disk that a loss of power may have left, and to judge it.
package struct TracedRun: Sendable {
    /// The program and what it was told.
    package var words: [String]
    /// What the directory held before.
    package var base: DiskImage
    package var baseDirectories: Set<String>
    package var operations: [IORecord]
    package var printed: [TraceReader.Words]
    package var directoryChanges: [TraceReader.DirectoryChange]
    /// Why there is no verdict; empty where all I/O was seen.
    package var unseen: [String]
    package var end: WatchedEnd
    /// The record has a sync of each file where the program made one of all.
    package var hasWideSync = false

    /// Syncs of files in the record.
    package var syncCount: Int {
        operations.count { operation in
            switch operation.action {
            case .sync, .syncRange: true
            default: false
            }
        }
    }

    /// What the program had printed when that many operations had been asked for and no more.
    package func acknowledged(at operation: Int) -> [UInt8] {
        printed.prefix { $0.operations <= operation }.flatMap(\.bytes)
    }

    /// How much that is.
    package func acknowledgedCount(at operation: Int) -> Int {
        printed.prefix { $0.operations <= operation }.reduce(0) { $0 + $1.bytes.count }
    }

    /// The directories at that moment: the model of the disk has files alone, so these never go.
    package func directories(at operation: Int) -> Set<String> {
        directoryChanges.prefix { $0.operations <= operation }.reduce(into: baseDirectories) { directories, change in
            if change.isMade { directories.insert(change.path) } else { directories.remove(change.path) }
        }
    }

    /// In words, for people: `writes 4096 bytes at 8192 of data.db`.
    package func text(of operation: Int) -> String {
        OperationText(base: base, operations: operations).text(of: operation)
    }

    /// What a state has of each operation that was undecided, for people.
    package func description(of step: CrashAddress.Step, profile: CrashProfile) -> [String] {
        let model = DiskModel(base, after: step.operation, of: operations, profile: profile)
        let texts = OperationText(base: base, operations: operations)
        let next = step.operation < operations.count ? "before it \(texts.text(of: step.operation))" : "at its end"
        let lost = CrashPoint(model).parts(of: step.state).compactMap { part -> String? in
            let text = "operation \(part.record), which \(texts.text(of: part.record))"
            switch part.kept {
            case .all: return nil
            case .none: return "lost: \(text)"
            case .part(let sectors, let count, let isSizeKept):
                let data = count > 0 ? "\(sectors) of its \(count) sectors are there" : "it is not there"
                return "in part: \(text): \(data)\(isSizeKept ? "" : ", and the file has not grown")"
            }
        }
        return ["power goes \(next)"] + (lost.isEmpty ? ["nothing is lost"] : lost)
    }
}

/// Runs a program under the recorder.
package struct Recorder {
    package var directory: String
    package var volatile: VolatileNames
    package var program: WatchedProgram

    /// Where the trace is kept.
    private let place: String

    /// - Parameters:
    ///   - program: with the preloaded library.
    ///   - place: a directory for the trace.
    package init(_ program: WatchedProgram, directory: String, volatile: VolatileNames, in place: String) throws {
        guard FileTree.isDirectory(directory), let path = FileTree.absolute(directory) else {
            throw TrialRefusal("\(directory) is no directory: make it first")
        }
        guard path != "/", !path.contains(":") else {
            throw TrialRefusal("\(path) cannot be watched: name a directory without a colon in its path")
        }
        self.directory = path
        self.volatile = volatile
        self.program = program
        // The program may be at work in another directory.
        self.place = FileTree.absolute(place) ?? place
    }

    /// Throws: `TrialRefusal`, `HarnessError` where the program cannot be started, `WorkInterrupted`.
    package func run() throws -> TracedRun {
        let start = try DirectorySnapshot(of: directory, without: volatile)
        if let link = start.links.first {
            throw TrialRefusal("\(directory)/\(link) is a symbolic link: name a directory without any")
        }
        guard !place.hasPrefix(directory + "/") else {
            throw TrialRefusal("\(directory) is watched, and holds temporary files: name another --scratch")
        }
        let trace = place + "/trace"
        let lock = place + "/lock"
        try FileTree.writeBytes(trace, [])
        try FileTree.writeBytes(lock, [UInt8](repeating: 0, count: 4_096))
        var program = program
        program.variables += [
            "ASSAY_IO_ROOT=\(directory)", "ASSAY_IO_IGNORED_NAMES=\(volatile.patterns.joined(separator: ":"))",
            "ASSAY_TRACE=\(trace)", "ASSAY_TRACE_LOCK=\(lock)",
        ]
        let end = try program.run()
        let after = try DirectorySnapshot(of: directory, without: volatile)
        return Self.run(
            program.words, start, try FileTree.readBytes(trace), count: Self.recordCount(try FileTree.readBytes(lock)),
            after, end, root: directory)
    }

    /// How many records were begun: the second word of what the recorders of all processes share.
    private static func recordCount(_ lock: [UInt8]) -> Int {
        lock.dropFirst(8).prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// What comes of a trace, and whether it tells all: it has to lead from what was there to what is there.
    ///
    /// - Parameter count: of its records; nil: that is not asked.
    static func run(
        _ words: [String], _ start: DirectorySnapshot, _ trace: [UInt8], count: Int?, _ after: DirectorySnapshot,
        _ end: WatchedEnd, root: String
    ) -> TracedRun {
        var reader = TraceReader(root: root, start: start)
        var unseen: [String] = []
        do throws(TraceError) {
            let records = try TraceFile.read(trace)
            if let count, records.count != count {
                throw TraceError("the trace is cut short behind record \(records.count) of \(count)")
            }
            reader.take(records)
            if !reader.hasStarted {
                unseen.append(
                    "the program did not load the recorder: it is linked statically, or may not (set-user-id)")
            }
        } catch {
            unseen.append(error.description)
        }
        unseen += reader.unseen
        let result = DiskModel(start.image, after: reader.operations.count, of: reader.operations).current
        unseen += after.links.map { "\($0) is a symbolic link now, which is not understood" }
        if let difference = after.difference(from: result) {
            unseen.append("the recorded operations do not lead to what is on the disk: \(difference)")
        }
        let printed = reader.words.flatMap(\.bytes)
        if end.isOutputCut ? !printed.starts(with: end.output) : printed != end.output {
            unseen.append(
                "the program printed \(end.output.count) bytes on standard output, and \(printed.count) were recorded")
        }
        return TracedRun(
            words: words, base: start.image, baseDirectories: start.directories, operations: reader.operations,
            printed: reader.words, directoryChanges: reader.directoryChanges, unseen: unseen, end: end,
            hasWideSync: reader.hasWideSync)
    }
}
