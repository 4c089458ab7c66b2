import StrataStorage
import Synchronization

/// Caches the schema of a version in the form that a program sees (``Schema``), because a program's loop over the
/// properties of a class asks for it in each turn.
///
/// Concurrency: any thread.
final class ShownSchemas: Sendable {
    private struct State {
        /// Identifies the storage schema from which the cache was made; for a view with another one it is emptied.
        var identity: (any AnyObject & Sendable)?
        var whole: Schema?
        var classes: [String: ObjectSchema] = [:]
    }

    private let state = Mutex(State())

    /// All classes of a version.
    /// - Complexity: O(properties of all classes) for the first call with a schema, then O(1).
    func whole(_ view: ReadView, _ plan: (String) -> ClassPlan?) -> Schema {
        if let known = following(view, { $0.whole }) { return known }
        let made = Schema(view.schema, plan)
        following(view) { $0.whole = made }
        return made
    }

    /// One class of a version; nil if the version has none of that name.
    /// - Complexity: O(properties) for the first call with a schema, then O(1).
    func ofClass(_ name: String, _ view: ReadView, _ plan: ClassPlan?) -> ObjectSchema? {
        if let known = following(view, { $0.classes[name] ?? $0.whole?[name] }) { return known }
        guard let table = view.schema.table(named: name) else { return nil }
        let made = ObjectSchema(table, in: view.schema, plan)
        following(view) { $0.classes[name] = made }
        return made
    }

    private func following<Value: Sendable>(_ view: ReadView, _ body: (inout State) -> Value) -> Value {
        state.withLock { state in
            if state.identity !== view.schemaIdentity { state = State(identity: view.schemaIdentity) }
            return body(&state)
        }
    }
}
