import Harness
import RunRecords

/// What may be there of a history after something went wrong, and what is said of what is there.
protocol HistoryTruth {
    /// Without its table the database is as it was before anything was acknowledged.
    var mayLackTable: Bool { get }

    func judge(_ content: HistoryContent) -> (outcome: Outcome, detail: String)
}

extension HistoryTruth {
    /// Opens what was left, reads all of it, closes it, and has the engine check it.
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
                if !mayLackTable || error.kind == .damaged || reading.rowCount > 0 {
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
            if error.kind == .untold, reading.rowCount == 0 { return (.lostCommit, "\(error)") }
            return (error.outcomeOfRead, "\(error)")
        }
        if let difference = reading.difference { return (.silentlyWrong, difference) }
        return judge(reading.content)
    }
}
