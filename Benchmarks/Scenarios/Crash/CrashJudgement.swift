import Harness
import RunRecords

/// Judges the content after a crash: it must be that after one of the transactions that may have been the last.
struct CrashJudgement: ScriptTruth {
    /// The content after each number of transactions, from none on.
    let contents: [ScriptContent]
    /// The numbers of transactions that may have survived.
    let allowed: ClosedRange<Int>

    var mayLackTable: Bool { allowed.lowerBound == 0 }

    func judge(_ found: ScriptContent) -> (outcome: Outcome, detail: String) {
        if allowed.contains(where: { contents[$0] == found }) { return (.correct, "") }
        let words = "at least \(allowed.lowerBound) of \(contents.count - 1) transactions were acknowledged"
        if let older = (0..<allowed.lowerBound).last(where: { contents[$0] == found }) {
            return (.lostCommit, "\(words), and the rows are those after \(older)")
        }
        let difference = found.difference(from: contents[allowed.upperBound]) ?? ""
        return (.silentlyWrong, "the rows are those of no transaction that may be there: \(difference)")
    }
}
