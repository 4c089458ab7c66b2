import FaultModel
import Files

/// A program's operations on a directory, from first to last, and its output: enough to build every state of the disk
/// that a power failure may have left, and to judge it.
package struct TracedRun: Sendable {
    /// The program and its arguments.
    package var words: [String]
    /// The content of the directory before the run.
    package var base: DiskImage
    package var baseDirectories: Set<String>
    package var operations: [IORecord]
    package var printed: [TraceReader.Words]
    package var directoryChanges: [TraceReader.DirectoryChange]
    /// The reasons against a verdict; empty if the record has all I/O.
    package var unseen: [String]
    package var end: WatchedEnd
    /// The record has a sync of each file in place of one of all files.
    package var hasWideSync = false
    /// The part of `unseen` that bypassed the recorder: no fault can strike it either.
    package var past: [String] = []
    /// Links, FIFOs and sockets among the files.
    package var nodes: [Inode: FileNode] = [:]
    package var baseModes = FileModes()
    package var modeChanges: [ModeChange] = []

    /// Syncs of files in the record.
    package var syncCount: Int {
        operations.count { operation in
            switch operation.action {
            case .sync, .syncRange: true
            default: false
            }
        }
    }

    /// The program's output before operation number `operation`, counted from 0, was requested.
    package func acknowledged(at operation: Int) -> [UInt8] {
        printed.prefix { $0.operations <= operation }.flatMap(\.bytes)
    }

    /// The number of its bytes.
    package func acknowledgedCount(at operation: Int) -> Int {
        printed.prefix { $0.operations <= operation }.reduce(0) { $0 + $1.bytes.count }
    }

    /// The directories at that moment: the disk model holds only files, so directories are never lost.
    package func directories(at operation: Int) -> Set<String> {
        directoryChanges.prefix { $0.operations <= operation }.reduce(into: baseDirectories) { directories, change in
            if change.isMade { directories.insert(change.path) } else { directories.remove(change.path) }
        }
    }

    /// The permissions at that moment.
    package func modes(at operation: Int) -> FileModes {
        modeChanges.prefix { $0.operations <= operation }.reduce(into: baseModes) { modes, change in
            change.apply(to: &modes)
        }
    }

    /// Writes the content of a disk of the run to an empty directory.
    package func build(_ image: DiskImage, at operation: Int, in directory: String) throws {
        try DirectorySnapshot.build(
            image, directories: directories(at: operation), nodes: nodes, modes: modes(at: operation), at: directory)
    }

    /// As text, for people: `writes 4096 bytes at 8192 of data.db`.
    package func text(of operation: Int) -> String {
        OperationText(base: base, operations: operations, nodes: nodes).text(of: operation)
    }

    /// The outcome of each undecided operation in a state, for people.
    package func description(of step: CrashAddress.Step, profile: CrashProfile) -> [String] {
        let model = DiskModel(base, after: step.operation, of: operations, profile: profile)
        let texts = OperationText(base: base, operations: operations, nodes: nodes)
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
