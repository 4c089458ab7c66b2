import FaultModel
import Files
import Harness
import ProgramTrials
import RunRecords

/// The allowed contents after a power failure at one moment of a recorded script.
struct RecordedTruth {
    /// The contents that are allowed if every acknowledged transaction had to survive.
    let whole: any ScriptTruth
    /// The contents that the durability class of the case allows.
    let promised: any ScriptTruth

    /// For a script without an error, after `operation` recorded operations.
    init(_ marks: CrashMarks, _ contents: [ScriptContent], at operation: Int, of test: Case) {
        let acknowledged = marks.allowed(before: operation, keepsAcknowledged: true)
        whole = CrashJudgement(contents: contents, allowed: acknowledged)
        promised =
            test.durability == .full ? whole : CrashJudgement(contents: contents, allowed: 0...acknowledged.upperBound)
    }

    init(whole: any ScriptTruth, promised: any ScriptTruth) {
        self.whole = whole
        self.promised = promised
    }
}

/// A possible disk after a power failure, in a directory of its own.
struct RecordedDisk {
    struct Finding {
        var outcome: Outcome
        var detail: String
        /// Acknowledged transactions are missing, whether or not the class allows that.
        var lacksAcknowledged = false
        /// The open was refused before anything was acknowledged: nothing is lost.
        var isUnmade = false
    }

    let location: DatabaseLocation
    private let context: CaseContext

    /// Writes the disk's files into the directory, and removes everything else in it.
    init(_ image: DiskImage, directories: Set<String>, at directory: String, _ context: CaseContext) throws {
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
        try DirectorySnapshot.build(image, directories: directories, at: directory)
        location = DatabaseLocation(directory: directory)
        self.context = context
    }

    /// Opens the database in this process, and judges its content.
    func judge(by truth: RecordedTruth) throws -> Finding {
        var content: ScriptContent?
        let (outcome, detail) = try truth.promised.judge(
            open: { try context.open(location) },
            check: {
                // An engine whose open creates no file leaves nothing to check on an empty disk.
                guard let checking = context.engine as? any CheckingEngine,
                    context.engine.capabilities.contains(.checks), !context.engine.files(at: location).isEmpty
                else { return }
                try checking.check(location)
            },
            found: { content = $0 })
        var finding = Finding(outcome: outcome, detail: detail)
        if let content {
            finding.lacksAcknowledged = truth.whole.judge(content).outcome != .correct
            return finding
        }
        guard [.refused, .detectedAtRead, .lostCommit].contains(outcome) else { return finding }
        if truth.whole.mayLackTable {
            finding.isUnmade = true
            finding.outcome = .correct
        } else {
            finding.lacksAcknowledged = true
            // Nothing damaged the files: a database that cannot be read has lost what was acknowledged.
            if context.test.durability == .full { finding.outcome = .lostCommit }
        }
        return finding
    }
}
