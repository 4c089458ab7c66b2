import StrataStorage
import Synchronization

/// Commit notices that one Realm instance's observers were not notified of yet.
///
/// Concurrency: commits append from their threads, the instance takes out on its own. Bounded: beyond `limit` entries
/// the details are dropped, and observers compare the versions instead.
final class ChangeInbox: Sendable {
    private let state = Mutex(State())
    /// Wakes the instance, where it lives; nil if it does not follow automatically.
    private let wake: (@Sendable () -> Void)?
    private static let limit = 200_000

    private struct State {
        var notices: [CommitNotice] = []
        var entries = 0
        /// Whether any observer needs details.
        var collects = false
        /// Notices up to this version were dropped.
        var lostUpTo = TransactionID(0)
        var isWakePending = false
        /// The last version whose notice has arrived; a version can be visible a moment before.
        var received = TransactionID(0)
    }

    init(wake: (@Sendable () -> Void)?) { self.wake = wake }

    func receive(_ notice: CommitNotice) {
        let wakes = state.withLock { state in
            state.received = max(state.received, notice.version)
            if state.collects {
                state.notices.append(notice)
                state.entries += notice.changes.reduce(1) { $0 + $1.deleted.count + $1.modified.count + 1 }
                if state.entries > Self.limit {
                    state.lostUpTo = notice.version
                    state.notices.removeAll()
                    state.entries = 0
                }
            } else {
                state.lostUpTo = notice.version
            }
            defer { state.isWakePending = true }
            return !state.isWakePending
        }
        if wakes, let wake { wake() }
    }

    func setCollecting(_ collects: Bool) {
        state.withLock { state in
            state.collects = collects
            if !collects {
                state.lostUpTo = max(state.lostUpTo, state.notices.last?.version ?? state.lostUpTo)
                state.notices.removeAll()
                state.entries = 0
            }
        }
    }

    func wakeArrived() { state.withLock { $0.isWakePending = false } }

    /// Notices after `old`, up to and including `new`; nil if details were dropped.
    func notices(after old: TransactionID, upTo new: TransactionID) -> [CommitNotice]? {
        state.withLock { state in
            guard state.lostUpTo <= old, state.received >= new else { return nil }
            return state.notices.filter { $0.version <= new && $0.version > old }
        }
    }

    /// Drops the notices that every observer has got.
    func forget(upTo version: TransactionID) {
        state.withLock { state in
            guard let first = state.notices.first, first.version <= version else { return }
            state.notices.removeAll { $0.version <= version }
            state.entries = state.notices.count
        }
    }
}
