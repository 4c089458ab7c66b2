import Harness
import RunRecords

/// Counts what happened in trials, which run in processes of their own: how many kills hit, how many files were there
/// to be damaged. A case in which nothing happened has nothing to say.
struct TrialTally {
    private let prefix: String

    /// - Parameter what: names it among the tallies of the case, in letters that a file name can have.
    init(_ context: CaseContext, _ what: String) {
        prefix = context.directory + "/tally-" + what
    }

    /// May be called in any process of the case.
    func add() throws { try FileTree.append(prefix, [1]) }

    func count() throws -> Int { FileTree.exists(prefix) ? try FileTree.size(prefix) : 0 }
}

extension CaseContext {
    /// Makes the case inconclusive where something that it is about never happened.
    func require(_ count: Int, _ reason: String) {
        // A budget that was too short is said already, and a single trial that is repeated shows no other.
        if count == 0 && !report.isCut && onlyTrial == nil { report.inconclusive(reason) }
    }
}
