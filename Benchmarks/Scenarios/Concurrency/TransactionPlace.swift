import Harness
import RunRecords

/// The database with the cells that transactions work on.
enum TransactionPlace {
    static func make(_ context: CaseContext, at location: DatabaseLocation, cells: Int) throws {
        let session = try context.open(location, as: (any TableSession).self)
        try session.load(TransactionCells.tables(count: cells))
        try session.close()
    }

    /// The case's database; for an engine in memory it is created in this call.
    static func location(_ context: CaseContext, cells: Int) throws -> DatabaseLocation {
        if let fixture = context.fixture { return fixture }
        let location = try context.emptyLocation("cells")
        try make(context, at: location, cells: cells)
        return location
    }

    /// Runs the body in a transaction, which is rolled back when it throws, so that it does not keep its lock.
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
