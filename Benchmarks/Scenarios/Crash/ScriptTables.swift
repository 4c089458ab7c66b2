import Datasets
import Harness
import RunRecords
import Seeds

/// The tables that scripts work on.
enum ScriptTables {
    static func session(_ session: (any Session)?) throws -> any TableSession {
        guard let tables = session as? any TableSession else { throw HarnessError("a session has no tables") }
        return tables
    }

    /// Without rows.
    static func schema() throws -> TableSet { try PeopleDataset().tables(size: 0, seed: Seed(0)) }

    /// The first transaction of a script.
    static func create(in session: any Session) throws { try self.session(session).load(try schema()) }
}
