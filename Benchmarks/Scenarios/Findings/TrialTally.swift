import Files
import Harness

/// Counts events in trials, which run in processes of their own: kills that hit, files that existed to be damaged. A
/// case without any is inconclusive.
struct TrialTally {
    private let prefix: String

    /// - Parameter what: names the tally within the case, in letters that are valid in a file name.
    init(_ context: CaseContext, _ what: String) {
        prefix = context.directory + "/tally-" + what
    }

    /// May be called in any process of the case.
    func add() throws { try FileTree.append(prefix, [1]) }

    func count() throws -> Int { FileTree.exists(prefix) ? try FileTree.size(prefix) : 0 }
}

extension CaseContext {
    /// Makes the case inconclusive if the event that it is about never happened.
    func require(_ count: Int, _ reason: String) {
        // A budget that was too short is reported already; a single replayed trial need not show the event.
        if count == 0 && !report.isCut && onlyTrial == nil { report.inconclusive(reason) }
    }
}
