import StrataStorage
import Synchronization

/// Something that is told when its Realm goes from one version to another.
///
/// Concurrency: used on its Realm's thread or queue; `isActive` from anywhere.
protocol Observer: AnyObject {
    var isActive: ActiveFlag { get }
    /// The Realm shows `batch.new` by now; `batch.old` is still pinned.
    func update(_ batch: ChangeBatch)
}

/// Whether somebody still wants to be told.
final class ActiveFlag: Sendable {
    private let value = Atomic<Bool>(true)
    func store(_ new: Bool, ordering: AtomicStoreOrdering) { value.store(new, ordering: .relaxed) }
    var isSet: Bool { value.load(ordering: .relaxed) }
}

/// The observers of one Realm instance.
///
/// The rule of delivery: an observer without a queue is told on the thread of its Realm, at the end of that Realm's own
/// commits, by `refresh()`, and at the begin of a write, which refreshes; on the main thread also when the main queue
/// runs after another thread's commit. An observer with a queue is told there. `.initial` comes before `observe`
/// returns, or first on the queue. Inside a notification the Realm may be written to; observers are told of that
/// afterwards.
final class Observation {
    let inbox: ChangeInbox?
    private var observers: [WeakObserver] = []
    private var isDelivering = false
    private var waiting: [ChangeBatch] = []

    private struct WeakObserver { weak var observer: (any Observer)? }

    init(_ inbox: ChangeInbox?) { self.inbox = inbox }

    var isEmpty: Bool { observers.allSatisfy { $0.observer == nil } }

    func add(_ observer: any Observer) {
        observers.removeAll { $0.observer == nil }
        observers.append(WeakObserver(observer: observer))
        inbox?.setCollecting(true)
    }

    /// What happened between two versions, if anybody wants to know.
    func changes(from old: Snapshot, to new: Snapshot) -> ChangeBatch? {
        observers.removeAll { $0.observer == nil }
        guard !observers.isEmpty else {
            inbox?.setCollecting(false)
            return nil
        }
        let notices = inbox?.take(after: old.version, upTo: new.version)
        return ChangeBatch(old: old, new: new, notices: notices)
    }

    /// Tells every observer but those of `tokens`. Changes that come while it does so are told afterwards, in order.
    func deliver(_ batch: ChangeBatch, silencing tokens: [NotificationToken]) {
        waiting.append(batch)
        batch.silenced = tokens
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        while !waiting.isEmpty {
            let next = waiting.removeFirst()
            for observer in observers.compactMap(\.observer) where observer.isActive.isSet {
                next.isSilenced = next.silenced.contains { $0.holds(observer) }
                observer.update(next)
            }
        }
    }
}

/// The changes between two versions, by table.
final class ChangeBatch {
    let old: Snapshot
    let new: Snapshot
    /// Nil when the details are not known, so that observers compare.
    let tables: [TableID: MergedChanges]?
    var silenced: [NotificationToken] = []
    /// Whether the observer that is being told takes note without calling anybody.
    var isSilenced = false

    init(old: Snapshot, new: Snapshot, notices: [CommitNotice]?) {
        self.old = old
        self.new = new
        guard let notices, notices.allSatisfy({ $0.changes.allSatisfy(\.isComplete) && !$0.schemaChanged }) else {
            tables = nil
            return
        }
        var tables: [TableID: MergedChanges] = [:]
        for notice in notices {
            for change in notice.changes { tables[change.table, default: MergedChanges()].add(change) }
        }
        self.tables = tables
    }
}

/// What several commits did to one table.
struct MergedChanges {
    private(set) var inserted: [ClosedRange<Int64>] = []
    private(set) var deleted: Set<Int64> = []
    /// Columns by key, as identities.
    private(set) var modified: [Int64: Set<UInt16>] = [:]

    mutating func add(_ change: TableChanges) {
        inserted += change.inserted
        deleted.formUnion(change.deleted)
        for (key, column) in change.modified { modified[key, default: []].insert(column) }
    }

    /// Notes a row that was deleted and made again.
    mutating func recreate(_ key: Int64) {
        inserted.append(key...key)
        deleted.insert(key)
    }

    /// Keys of new rows, at most as many as `limit`; nil when there are more.
    func insertedKeys(limit: Int) -> [Int64]? {
        var keys: [Int64] = []
        for range in inserted {
            guard range.count <= limit - keys.count else { return nil }
            keys += Array(range)
        }
        return keys
    }

    func wasInserted(_ key: Int64) -> Bool { inserted.contains { $0.contains(key) } }
}
