import CaseFiles
import Harness

/// The change of an operation to the rows that it finds.
enum ScriptChange: Equatable {
    case insert([Int64], ScriptRow)
    case update(Int64, number: Int64)
    case delete(Int64)

    /// nil for an operation that changes no row: another action, or one whose row does not exist or exists already.
    init?(_ operation: ScriptOperation, before content: ScriptContent) {
        let arguments = operation.arguments
        guard let key = arguments.first.map({ Int64($0) }) else { return nil }
        switch operation.action {
        case "insert":
            let keys = (key..<(key + Int64(arguments[1]))).filter { content.rows[$0] == nil }
            if keys.isEmpty { return nil }
            self = .insert(keys, ScriptRow(number: Int64(arguments[2]), length: arguments[3]))
        case "update":
            guard content.rows[key] != nil else { return nil }
            self = .update(key, number: Int64(arguments[1]))
        case "delete":
            guard content.rows[key] != nil else { return nil }
            self = .delete(key)
        default: return nil
        }
    }

    func applied(to content: ScriptContent) -> ScriptContent {
        var content = content
        switch self {
        case .insert(let keys, let row): for key in keys { content.rows[key] = row }
        case .update(let key, let number): content.rows[key]?.number = number
        case .delete(let key): content.rows[key] = nil
        }
        return content
    }

    /// In one transaction.
    func perform(on session: any Session) throws {
        switch self {
        case .insert(let keys, let row):
            guard let tables = session as? any TableSession else { throw HarnessError("a session has no tables") }
            try tables.insertAll(ScriptContent.table(keys.map { ($0, row) }))
        case .update(let key, let number):
            guard let updates = session as? any UpdateSession else { throw HarnessError("a session has no updates") }
            try updates.update(table: "Person", column: "age", keys: [key], values: [number])
        case .delete(let key):
            guard let deletions = session as? any DeletionSession else {
                throw HarnessError("a session has no deletions")
            }
            try deletions.delete(table: "Person", keys: [key])
        }
    }
}
