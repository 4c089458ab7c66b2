import FaultModel
import Harness
import ProgramTrials
import RunRecords

/// What may be there when power went at one moment of a recorded history.
struct RecordedTruth {
    /// By what had been acknowledged.
    let whole: any HistoryTruth
    /// By what of it the durability class of the case keeps.
    let promised: any HistoryTruth

    /// After so many transactions of a history without an error.
    init(_ marks: CrashMarks, _ contents: [HistoryContent], at operation: Int, of test: Case) {
        let acknowledged = marks.allowed(before: operation, keepsAcknowledged: true)
        whole = CrashJudgement(contents: contents, allowed: acknowledged)
        promised =
            test.durability == .full ? whole : CrashJudgement(contents: contents, allowed: 0...acknowledged.upperBound)
    }

    init(whole: any HistoryTruth, promised: any HistoryTruth) {
        self.whole = whole
        self.promised = promised
    }
}

/// A disk that a loss of power may have left, in a directory of its own.
struct RecordedDisk {
    struct Finding {
        var outcome: Outcome
        var detail: String
        /// What was acknowledged is not all there, whatever the class says to that.
        var lacksAcknowledged = false
        /// It was refused, and nothing had been acknowledged: nothing is lost.
        var isUnmade = false
    }

    let location: DatabaseLocation
    private let context: CaseContext

    /// Builds it; what stood in the directory is gone.
    init(_ image: DiskImage, directories: Set<String>, at directory: String, _ context: CaseContext) throws {
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
        try DirectorySnapshot.build(image, directories: directories, at: directory)
        location = DatabaseLocation(directory: directory)
        self.context = context
    }

    /// Opens it in this process, and judges what is there.
    func judge(by truth: RecordedTruth) throws -> Finding {
        var content: HistoryContent?
        let (outcome, detail) = try truth.promised.judge(
            open: { try context.open(location) },
            check: {
                // An engine whose open makes no file has nothing to check where none was there.
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
            // Nobody damaged its files: not to be read is to have lost what was acknowledged.
            if context.test.durability == .full { finding.outcome = .lostCommit }
        }
        return finding
    }
}
