import StrataStorage
import Synchronization

/// The notices of commits that the observers of one Realm instance have not been notified of.
///
/// Concurrency: a committing thread appends its notice, the instance reads and drops notices on its own thread.
/// Bounded: beyond `limit` changed rows and tables the notices are dropped, and the observers' changes are computed
/// from the two versions instead.
final class ChangeInbox: Sendable {
    private let state = Mutex(State())
    /// Wakes the instance on its queue or actor, or on the main thread; nil on other threads, which cannot be woken.
    private let wake: (@Sendable () -> Void)?
    private static let limit = 200_000

    private struct State {
        var notices: [CommitNotice] = []
        var entries = 0
        /// Whether any observer needs to know which rows changed. Without one, notices are not kept.
        var collects = false
        /// Notices up to this version were dropped.
        var lostUpTo = TransactionID(0)
        var isWakePending = false
        /// The last version whose notice has arrived. A version may be visible a moment before its notice arrives.
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

    /// Called by the instance when it has been woken: the next notice wakes it again.
    func wakeArrived() { state.withLock { $0.isWakePending = false } }

    /// The notices of the versions after `old`, up to and including `new`; nil if any of them was dropped or is
    /// missing.
    func notices(after old: TransactionID, upTo new: TransactionID) -> [CommitNotice]? {
        state.withLock { state in
            guard state.lostUpTo <= old, state.received >= new else { return nil }
            return state.notices.filter { $0.version <= new && $0.version > old }
        }
    }

    /// Drops the notices up to a version that every observer was notified of.
    func forget(upTo version: TransactionID) {
        state.withLock { state in
            guard let first = state.notices.first, first.version <= version else { return }
            state.notices.removeAll { $0.version <= version }
            state.entries = state.notices.count
        }
    }
}
