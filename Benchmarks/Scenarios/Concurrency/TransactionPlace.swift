import Harness
import RunRecords

/// The database with the cells that transactions work on.
enum TransactionPlace {
    static func make(_ context: CaseContext, at location: DatabaseLocation, cells: Int) throws {
        let session = try context.open(location, as: (any TableSession).self)
        try session.load(TransactionCells.tables(count: cells))
        try session.close()
    }

    /// That of the case; an engine in memory gets it made here and now.
    static func location(_ context: CaseContext, cells: Int) throws -> DatabaseLocation {
        if let fixture = context.fixture { return fixture }
        let location = try context.emptyLocation("cells")
        try make(context, at: location, cells: cells)
        return location
    }

    /// Runs the body in a transaction, which is rolled back when it throws: others would wait for its lock for ever.
    static func transaction<Output>(
        _ access: TransactionAccess, on session: any TransactionSession, _ body: () throws -> Output
    ) throws -> Output {
        try session.begin(access)
        do {
            let output = try body()
            try session.commit()
            return output
        } catch {
            let first = error
            do { try session.rollback() } catch { throw EngineError(.refused, "\(first); and no rollback: \(error)") }
            throw first
        }
    }
}
