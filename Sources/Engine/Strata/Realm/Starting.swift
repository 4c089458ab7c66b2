import Dispatch
import StrataStorage

extension RealmInstance {
    /// Starts an observer, unless its token was released before.
    /// - Parameter initial: delivers the initial notification. Changes that the program makes in it are notified
    ///   afterwards.
    func start(_ observer: any Observer, _ token: NotificationToken, _ initial: () -> Void) {
        guard token.hold(observer) else { return }
        guard add(observer) else {
            token.invalidate()
            return
        }
        let shown = snapshotVersion
        observation.telling(observer, initial)
        // If `initial` committed something, observers are behind now; if damage is known, some may be. Otherwise the
        // round over all observers is saved.
        if !isInWrite, observation.isBehind || damage.isKnown || snapshotVersion != shown {
            observation.deliver(self)
        }
    }

    /// Starts an observer on a queue, with a Realm of that queue.
    func start(
        on queue: DispatchQueue, _ token: NotificationToken,
        _ carried: Carried<(start: (RealmInstance, NotificationToken) -> Void, fail: (any Error) -> Void)>
    ) {
        let configuration = file.configuration
        let place = Confinement.queue(queue)
        place.scheduler? { [weak token] in
            guard let token, token.isActive else { return }
            do {
                let instance = try InstanceCache.instance(configuration, place)
                instance.refresh()
                carried.value.start(instance, token)
            } catch {
                carried.value.fail(error)
            }
        }
    }

    /// Starts an observer on an actor, with a Realm of that actor.
    /// - Parameter start: called with nil if there can be no Realm.
    func start(
        on actor: some Actor, _ isolation: isolated (any Actor)?,
        _ start: @escaping (RealmInstance?, NotificationToken) -> Void
    ) async -> NotificationToken {
        let token = NotificationToken(nil)
        guard let shared = file.shared else { return token }
        await Self.start(
            isolatedOn: actor, configuration: file.configuration, shared: shared, token: token,
            carried: Carried(value: start))
        return token
    }

    private static func start(
        isolatedOn actor: isolated any Actor, configuration: RealmConfiguration, shared: SharedStore,
        token: NotificationToken, carried: Carried<(RealmInstance?, NotificationToken) -> Void>
    ) {
        // The task that would own the token was cancelled.
        if Task.isCancelled { return }
        let instance: RealmInstance?
        do { instance = try InstanceCache.instance(configuration, shared, .actor(actor)) } catch { instance = nil }
        instance?.refresh()
        carried.value(instance, token)
    }

    /// Adds an observer. It is notified of what changes from the Realm's present version on.
    ///
    /// Inside a write that has changed something there is no version to start from: the write fails.
    /// - Returns: whether it was added.
    func add(_ observer: any Observer) -> Bool {
        if let write {
            guard !write.hasChanged else {
                write.fail(
                    RealmError(
                        .wrongState,
                        "observe was called inside a write that has changed something; observe before the first "
                            + "change, or after the write"))
                return false
            }
            // The observer starts from the transaction's base. With earlier observers, beginning the write has pinned
            // it.
            if snapshot?.version != write.transaction.view.version {
                _ = write.transaction.waitUntilBaseIsVisible()
                do throws(StorageError) { shown.pin(try file.store.snapshot()) } catch {
                    write.fail(RealmError(error))
                    return false
                }
            }
        }
        guard let snapshot else {
            reportShowingNothing("nothing of it can be observed; refresh it first")
            return false
        }
        observation.add(observer, seen: snapshot)
        return true
    }
}
