import Harness
import RunRecords

/// The allowed contents after a history with a fault, and the judgement of the actual content.
protocol HistoryTruth {
    /// Whether the table may be missing: the database is then in its state before any acknowledgement.
    var mayLackTable: Bool { get }

    func judge(_ content: HistoryContent) -> (outcome: Outcome, detail: String)
}

extension HistoryTruth {
    /// Opens the database, reads all of it, closes it, and runs the engine's check.
    ///
    /// - Parameter found: receives the rows of a complete read.
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
                    // The finding stands, whatever fails in the close.
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
