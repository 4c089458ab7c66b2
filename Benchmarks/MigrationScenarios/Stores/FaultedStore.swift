import StoreMigration
import Synchronization

/// Passes calls on to another store, and fails in one planned way.
final class FaultedStore: PrimaryStore, Sendable {
    struct Planted: Error, CustomStringConvertible {
        let description = "planted failure of a store"
    }

    enum Fault: Sendable {
        /// The batch of that number, counted from 0, fails and nothing of it is written.
        case refuses(Int)
        /// That batch and all later ones fail, and nothing of them is written.
        case refusesFrom(Int)
        /// That batch is written, but the call throws.
        case losesAnswer(Int)
        /// That batch is acknowledged, but its last change is not written.
        case forgets(Int)
        /// Every batch fails while ``isFailing`` is true.
        case whileFailing
    }

    private let inner: any PrimaryStore
    private let fault: Fault
    private let batches = Mutex(0)
    private let failing = Mutex(false)

    var isFailing: Bool {
        get { failing.withLock { $0 } }
        set { failing.withLock { $0 = newValue } }
    }

    init(_ inner: any PrimaryStore, _ fault: Fault) {
        self.inner = inner
        self.fault = fault
    }

    var models: [RecordModel] { inner.models }

    func apply(_ changes: [RecordChange]) throws {
        let number = batches.withLock { count in
            defer { count += 1 }
            return count
        }
        switch fault {
        case .refuses(let at) where number == at: throw Planted()
        case .refusesFrom(let first) where number >= first: throw Planted()
        case .losesAnswer(let at) where number == at:
            try inner.apply(changes)
            throw Planted()
        case .forgets(let at) where number == at: try inner.apply(changes.dropLast())
        case .whileFailing where isFailing: throw Planted()
        default: try inner.apply(changes)
        }
    }

    func asKept(_ change: RecordChange) throws -> RecordChange { try inner.asKept(change) }
    func records(_ ids: [RecordID]) throws -> [RecordID: Record] { try inner.records(ids) }
    func changes(since token: ChangeToken?) throws -> StoreChanges { try inner.changes(since: token) }
    func scan(_ model: RecordModel, _ body: (RecordKey, [FieldValue]) throws -> Void) throws {
        try inner.scan(model, body)
    }
    func close() throws { try inner.close() }
    func reopen() throws { try inner.reopen() }
    func compact() throws { try inner.compact() }
}
