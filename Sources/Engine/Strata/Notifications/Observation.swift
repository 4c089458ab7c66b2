import StrataStorage

// Rules of delivery
// 1. An observer without a queue or actor is called where its Realm lives: at the end of that Realm's own commits, by
//    `refresh()`, and at the beginning of a write, which refreshes; on the main thread, on a queue and on an actor also
//    automatically after commits of other instances. An observer with a queue or an actor has a Realm there.
// 2. `.initial` is delivered before `observe` returns, or first on the queue or actor.
// 3. Observers are called one after the other, in the order of their addition. Each call covers everything between the
//    observer's last reported version and the one that the Realm shows at that moment, however many commits lie
//    between.
// 4. No observer is called inside a write. A notification may begin a write: before that, the observers after it in the
//    order are called for the present version; they are called for its commit at once, the writing observer after it
//    has returned.
// 5. An observer that is added in a notification starts with the version shown then. An observer whose token is
//    released is not called again, not even in the same round.
// 6. The observer of a silenced token is called for everything before the silenced commit and for everything after it.
//    If it is being called at the commit, it is not silenced, since it has not got everything before.

/// The observers of one Realm.
final class Observation {
    let inbox: ChangeInbox?
    let followed = FollowedQueries()
    private var entries: [Entry] = []
    /// Whether the Realm refreshes itself after another instance or process has committed.
    var autorefresh = true
    /// If set, ``RealmInstance/wakeUp()`` calls it after such a commit, and does not refresh.
    var onWake: (() -> Void)?
    /// Whether the Realm shows a version that observers were not called for.
    var isBehind = false
    /// Depth of nested deliveries.
    private var depth = 0
    /// Number of entries at which released observers are next removed.
    private var nextRemoval = 16

    private final class Entry {
        weak var observer: (any Observer)?
        let isActive: ActiveFlag
        /// The last version that was reported to the observer.
        @exclusivity(unchecked) var seen: Snapshot
        #if Zoo
            var kept: [Snapshot] = []
        #endif
        @exclusivity(unchecked) var isBeingTold = false

        init(_ observer: any Observer, _ seen: Snapshot) {
            self.observer = observer
            isActive = observer.isActive
            self.seen = seen
        }

        var isAlive: Bool { isActive.isSet && observer != nil }
    }

    init(_ inbox: ChangeInbox?) { self.inbox = inbox }

    var isEmpty: Bool { !entries.contains(where: \.isAlive) }

    /// - Parameter seen: the version from which the observer starts.
    /// - Complexity: O(1) on average, however many observers there are.
    func add(_ observer: any Observer, seen: Snapshot) {
        #if Zoo
            if PlantedMistake.observersSwept.isPlanted { removeGone() }
        #endif
        if entries.count >= nextRemoval {
            removeGone()
            nextRemoval = max(16, 2 * entries.count)
        }
        WorkSteps.note(1)
        entries.append(Entry(observer, seen))
        inbox?.setCollecting(true)
    }

    /// Runs `initial`; the observer is called for changes during it afterwards.
    func telling(_ observer: any Observer, _ initial: () -> Void) {
        let entry = entries.last { $0.observer === observer }
        entry?.isBeingTold = true
        initial()
        entry?.isBeingTold = false
    }

    private func removeGone() {
        WorkSteps.note(entries.count)
        // A token that is released clears the flag: no need for a reference to each observer.
        entries.removeAll { !$0.isActive.isSet }
        if entries.isEmpty { inbox?.setCollecting(false) }
    }

    /// Calls every observer for the changes up to the shown version, until none is behind.
    func deliver(_ instance: RealmInstance) {
        isBehind = false
        guard !entries.isEmpty else { return }
        depth += 1
        if instance.damage.isKnown, !instance.isInWrite {
            for entry in entries where entry.isActive.isSet && !entry.isBeingTold {
                entry.isBeingTold = true
                entry.observer?.damageIsKnown()
                entry.isBeingTold = false
            }
        }
        var batches = BatchCache(inbox)
        while tellRound(instance, &batches) {}
        depth -= 1
        guard depth == 0 else { return }
        removeGone()
        var oldest = TransactionID(.max)
        // Most often all have seen the same snapshot.
        var last: ReadView?
        for entry in entries where entry.seen.view !== last {
            last = entry.seen.view
            oldest = min(oldest, entry.seen.version)
        }
        inbox?.forget(upTo: oldest)
    }

    /// - Returns: whether any observer was behind.
    private func tellRound(_ instance: RealmInstance, _ batches: inout BatchCache) -> Bool {
        var isBehind = false
        guard var shown = instance.snapshot else { return false }
        var stamp = instance.stamp
        // Most often it is that of the observer before.
        var last: ChangeBatch?
        for entry in entries where !entry.isBeingTold {
            if instance.isInWrite { return false }
            if instance.stamp != stamp {
                // An observer has written, or gone on to another version.
                guard let now = instance.snapshot else { return false }
                (shown, stamp, last) = (now, instance.stamp, nil)
            }
            guard entry.seen.view !== shown.view, entry.seen.version < shown.version, entry.isActive.isSet
            else { continue }
            guard let observer = entry.observer else {
                entry.isActive.clear()
                continue
            }
            isBehind = true
            #if Zoo
                if PlantedMistake.observerPins.isPlanted { entry.kept.append(shown) }
                if PlantedMistake.lostNotification.isDue {
                    entry.seen = shown
                    continue
                }
            #endif
            let batch: ChangeBatch
            if let last, last.old.view === entry.seen.view {
                batch = last
            } else {
                batch = batches.batch(instance, from: entry.seen, to: shown)
                last = batch
            }
            entry.seen = shown
            entry.isBeingTold = true
            observer.update(batch, isSilenced: false)
            entry.isBeingTold = false
        }
        return isBehind
    }

    /// Has the observers of `tokens` skip a commit.
    /// - Parameter base: the version on which the commit was based.
    func silence(_ tokens: [NotificationToken], _ instance: RealmInstance, since base: TransactionID?) {
        #if Zoo
            if PlantedMistake.silenceIgnored.isPlanted { return }
        #endif
        guard let shown = instance.snapshot else { return }
        var batches = BatchCache(inbox)
        for entry in entries where entry.seen.version == base && !entry.isBeingTold {
            guard let observer = entry.observer, tokens.contains(where: { $0.holds(observer) }) else { continue }
            let batch = batches.batch(instance, from: entry.seen, to: shown)
            entry.seen = shown
            observer.update(batch, isSilenced: true)
        }
    }

    /// Reports that there is a newer version than the Realm shows.
    func tellRefreshIsRequired() {
        for entry in entries where entry.isActive.isSet { entry.observer?.refreshIsRequired() }
    }
}

/// The batches of one delivery: observers with the same last version share one, and its results.
private struct BatchCache {
    private let inbox: ChangeInbox?
    private var batches: [ChangeBatch] = []

    init(_ inbox: ChangeInbox?) { self.inbox = inbox }

    mutating func batch(_ instance: RealmInstance, from old: Snapshot, to new: Snapshot) -> ChangeBatch {
        let (before, after) = (old.version, new.version)
        for known in batches where known.oldVersion == before && known.newVersion == after { return known }
        let made = ChangeBatch(
            instance, old: old, new: new, notices: inbox?.notices(after: before, upTo: after))
        batches.removeAll { $0.newVersion != after }
        batches.append(made)
        return made
    }
}
