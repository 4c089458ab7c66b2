import Harness
import RunRecords

/// What a crash may have left of a history, and what is said of what it left.
struct CrashJudgement {
    /// The content after each number of transactions: first that of none.
    let contents: [HistoryContent]
    /// How many transactions may be there.
    let allowed: ClosedRange<Int>

    /// Opens what a crash left, reads all of it, closes it, and has the engine check it.
    ///
    /// - Parameter found: gets what was read, where that was all of it.
    func judge(
        open: () throws -> any Session, check: () throws -> Void, found: (HistoryContent) throws -> Void = { _ in }
    ) throws -> (Outcome, String) {
        let reading = HistoryReading()
        do {
            let session = try open()
            do {
                try HistoryTables.session(session).readAll(try HistoryTables.schema(), into: reading)
            } catch let error as EngineError {
                // Without its table the database is as before the first transaction.
                if allowed.lowerBound > 0 || error.kind == .damaged || reading.rowCount > 0 {
                    // Whatever else goes wrong now: this is what was found.
                    do { try session.close() } catch {}
                    throw error
                }
            }
            try session.close()
            if reading.difference == nil { try found(reading.content) }
            try check()
        } catch let error as EngineError {
            if let difference = reading.difference { return (.silentlyWrong, difference) }
            return (error.kind == .damaged ? .detectedAtRead : .refused, "\(error)")
        }
        if let difference = reading.difference { return (.silentlyWrong, difference) }
        return judge(reading.content)
    }

    private func judge(_ found: HistoryContent) -> (Outcome, String) {
        if allowed.contains(where: { contents[$0] == found }) { return (.correct, "") }
        let words = "at least \(allowed.lowerBound) of \(contents.count - 1) transactions were acknowledged"
        if let older = (0..<allowed.lowerBound).last(where: { contents[$0] == found }) {
            return (.lostCommit, "\(words), and the rows are those after \(older)")
        }
        let difference = found.difference(from: contents[allowed.upperBound]) ?? ""
        return (.silentlyWrong, "the rows are those of no transaction that may be there: \(difference)")
    }
}
