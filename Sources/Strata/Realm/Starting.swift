import Dispatch
import StrataStorage

extension RealmInstance {
    /// Lets an observer begin, unless its token went before.
    /// - Parameter initial: tells what is there; whatever it changes is told afterwards.
    func start(_ observer: any Observer, _ token: NotificationToken, _ initial: () -> Void) {
        guard token.hold(observer) else { return }
        guard add(observer) else {
            token.invalidate()
            return
        }
        let shown = snapshotVersion
        observation.telling(observer, initial)
        // What `initial` changed, or what is known of the file. Else none is behind, and all would be looked at.
        if !isInWrite, observation.isBehind || knowsDamage || snapshotVersion != shown {
            observation.deliver(self)
        }
    }

    /// Lets an observer begin on a queue, with a Realm of that queue.
    func start(
        on queue: DispatchQueue, _ token: NotificationToken,
        _ carried: Carried<(start: (RealmInstance, NotificationToken) -> Void, fail: (any Error) -> Void)>
    ) {
        let configuration = configuration
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

    /// Lets an observer begin on an actor, with a Realm of that actor.
    /// - Parameter start: gets nil when there can be none.
    func start(
        on actor: some Actor, _ isolation: isolated (any Actor)?,
        _ start: @escaping (RealmInstance?, NotificationToken) -> Void
    ) async -> NotificationToken {
        let token = NotificationToken(nil)
        guard let shared else { return token }
        await Self.start(isolatedOn: actor, configuration, shared, token, Carried(value: start))
        return token
    }

    private static func start(
        isolatedOn actor: isolated any Actor, _ configuration: Realm.Configuration, _ shared: SharedStore,
        _ token: NotificationToken, _ carried: Carried<(RealmInstance?, NotificationToken) -> Void>
    ) {
        // Nobody waits for the token of a task that was cancelled on the way.
        if Task.isCancelled { return }
        let instance: RealmInstance?
        do { instance = try InstanceCache.instance(configuration, shared, .actor(actor)) } catch { instance = nil }
        instance?.refresh()
        carried.value(instance, token)
    }

    /// Adds an observer, which starts with what the Realm shows now.
    ///
    /// Inside a write that changed something nobody could say what that is: the write fails.
    /// - Returns: whether it was added.
    func add(_ observer: any Observer) -> Bool {
        if let write {
            guard !write.hasChanged else {
                write.fail(
                    Realm.Error(
                        .wrongState,
                        "observe was called inside a write that has changed something; observe before the first "
                            + "change, or after the write"))
                return false
            }
            // Nobody observes yet, or the snapshot would be the transaction's base.
            if snapshot?.version != write.transaction.view.version {
                _ = write.transaction.waitUntilBaseIsVisible()
                do throws(StorageError) { snapshot(is: try store.snapshot()) } catch {
                    write.fail(Realm.Error(error))
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
