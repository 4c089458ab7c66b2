import Harness
import RunRecords

/// The allowed contents after a script with a fault, and the judgement of the actual content.
protocol ScriptTruth {
    /// Whether the table may be missing: the database is then in its state before any acknowledgement.
    var mayLackTable: Bool { get }

    func judge(_ content: ScriptContent) -> (outcome: Outcome, detail: String)
}

extension ScriptTruth {
    /// Opens the database, reads all of it, closes it, and runs the engine's check.
    ///
    /// - Parameter found: receives the rows of a complete read.
    func judge(
        open: () throws -> any Session, check: () throws -> Void, found: (ScriptContent) throws -> Void = { _ in }
    ) throws -> (Outcome, String) {
        let reading = ScriptReading()
        do {
            let session = try open()
            do {
                try ScriptTables.session(session).readAll(try ScriptTables.schema(), into: reading)
            } catch let error as EngineError {
                if !mayLackTable || error.kind == .damaged || reading.rowCount > 0 {
                    // What was found stays the finding, even if the close fails, too.
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
