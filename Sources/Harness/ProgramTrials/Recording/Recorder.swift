import FaultModel
import Files
import Harness
import Platform

/// Runs a program under the recorder.
package struct Recorder {
    package var directory: String
    package var volatile: VolatileNames
    package var program: WatchedProgram

    /// The directory of the trace.
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
        // The program may run in another directory.
        self.place = FileTree.absolute(place) ?? place
    }

    /// Throws: `TrialRefusal`, `HarnessError` if the program cannot be started, `WorkInterrupted`.
    package func run() throws -> TracedRun {
        let start = try DirectorySnapshot(of: directory, without: volatile)
        guard !place.hasPrefix(directory + "/") else {
            throw TrialRefusal("\(directory) is watched, and holds temporary files: name another --scratch")
        }
        let trace = place + "/trace"
        let lock = place + "/lock"
        try FileTree.writeBytes(trace, [])
        try FileTree.writeBytes(lock, [UInt8](repeating: 0, count: 4_096))
        let watch = try CallWatch(directory, without: volatile)
        var program = program
        program.variables += [
            "ASSAY_IO_ROOT=\(directory)", "ASSAY_IO_IGNORED_NAMES=\(volatile.patterns.joined(separator: ":"))",
            "ASSAY_TRACE=\(trace)", "ASSAY_TRACE_LOCK=\(lock)", "\(CallWatch.variable)=\(CallWatch.descriptor)",
        ]
        program.passed.append((own: watch.given, number: CallWatch.descriptor))
        try watch.start()
        defer { watch.stop() }
        let end = try program.run()
        let after = try DirectorySnapshot(of: directory, without: volatile)
        return Self.run(
            program.words, start, trace: try FileTree.readBytes(trace),
            count: Self.recordCount(try FileTree.readBytes(lock)),
            after: after, end: end, root: directory, calls: watch.finish())
    }

    /// Number of records begun: the second word of the memory shared by the recorders of all processes.
    private static func recordCount(_ lock: [UInt8]) -> Int {
        lock.dropFirst(8).prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// The run of a trace, and whether the trace is complete: applied to the directory before the run, it must yield
    /// the directory after it.
    ///
    /// - Parameters:
    ///   - count: the number of its records; nil: not checked.
    ///   - calls: the calls that the kernel reported; nil: not checked.
    static func run(
        _ words: [String], _ start: DirectorySnapshot, trace: [UInt8], count: Int?, after: DirectorySnapshot,
        end: WatchedEnd, root: String, calls: PastCalls? = nil
    ) -> TracedRun {
        var reader = TraceReader(root: root, start: start)
        var past: [String] = []
        do throws(TraceError) {
            let records = try TraceFile.read(trace)
            if let count, records.count != count {
                throw TraceError("the trace is cut short behind record \(records.count) of \(count)")
            }
            reader.take(records)
            past = reader.past + programs(reader, calls)
        } catch {
            past.append(error.description)
        }
        var run = TracedRun(
            words: words, base: reader.base(of: start.image), baseDirectories: start.directories,
            operations: reader.operations, printed: reader.words, directoryChanges: reader.directoryChanges,
            unseen: reader.unseen, end: end, hasWideSync: reader.hasWideSync, past: past, nodes: reader.nodes,
            baseModes: start.modes, modeChanges: reader.modeChanges)
        let result = DiskModel(run.base, after: run.operations.count, of: run.operations).current
        let difference =
            after.difference(from: result) ?? after.difference(from: run.modes(at: .max), entries: result.entries)
        if let difference {
            let text = "the recorded operations do not lead to what is on the disk: \(difference)"
            // If an operation was not understood, it may be the cause of the difference.
            if run.unseen.isEmpty { run.past.append(text) } else { run.unseen.append(text) }
        }
        run.unseen = run.past + run.unseen
        let printed = reader.words.flatMap(\.bytes)
        if end.isOutputCut ? !printed.starts(with: end.output) : printed != end.output {
            run.unseen.append(
                "the program printed \(end.output.count) bytes on standard output, and \(printed.count) were recorded")
        }
        return run
    }

    /// Programs that did not load the recorder.
    private static func programs(_ reader: TraceReader, _ calls: PastCalls?) -> [String] {
        guard let first = reader.first, first.parent == Int64(getpid()) else {
            return [
                "the program did not load the recorder: it is linked statically, may not (set-user-id), or its "
                    + "environment does not say so"
            ]
        }
        guard let calls else { return [] }
        var loaded = reader.starts.mapValues { $0 }
        // The execution of the first program is not reported: it started before the watch.
        loaded[first.process, default: 1] -= 1
        return calls.reasons + calls.withoutRecorder(loaded)
    }
}
