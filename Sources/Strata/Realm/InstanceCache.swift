import Dispatch
import StrataStorage
import Synchronization

/// Live instances by file and thread or queue, so that a thread sees one version of a file and not several.
enum InstanceCache {
    private struct Key: Hashable {
        var store: SharedStore.Key
        var place: UInt
        var isQueue: Bool
    }

    private struct Entry: @unchecked Sendable {  // read under the lock; used on the instance's own thread only
        weak var instance: RealmInstance?
    }

    private static let instances = Mutex<[Key: Entry]>([:])

    /// The live instance of a configuration here, opened when there is none.
    /// - Throws: ``Realm/Error``, or what the migration block threw.
    static func instance(_ configuration: Realm.Configuration, queue: DispatchQueue?) throws -> RealmInstance {
        guard configuration.fileURL != nil || configuration.inMemoryIdentifier != nil else {
            throw Realm.Error(.invalidInput, "the configuration has neither fileURL nor inMemoryIdentifier")
        }
        let key = key(SharedStore.Key(configuration), queue)
        if let known = known(key), known.configuration.isCompatible(with: configuration),
            known.shared?.isStale != true
        {
            return known
        }
        let shared = try SharedStore.open(configuration)
        return try make(configuration, shared, key, queue)
    }

    /// The live twin of a frozen instance on this thread.
    static func live(_ frozen: RealmInstance) -> RealmInstance? {
        guard let shared = frozen.shared else { return nil }
        let key = key(shared.key, nil)
        if let known = known(key) { return known }
        do { return try make(frozen.configuration, shared, key, nil) } catch { return nil }
    }

    private static func key(_ store: SharedStore.Key, _ queue: DispatchQueue?) -> Key {
        Key(
            store: store,
            place: queue.map { UInt(bitPattern: ObjectIdentifier($0).hashValue) } ?? Confinement.currentThread,
            isQueue: queue != nil)
    }

    private static func known(_ key: Key) -> RealmInstance? {
        let entry = instances.withLock { $0[key] }
        guard let instance = entry?.instance, instance.confinement.isHere else { return nil }
        return instance
    }

    private static func make(
        _ configuration: Realm.Configuration, _ shared: SharedStore, _ key: Key, _ queue: DispatchQueue?
    ) throws -> RealmInstance {
        let confinement = queue.map { Confinement.queue($0) } ?? .thread(Confinement.currentThread)
        let wakeQueue = queue ?? (Confinement.isMainThread ? DispatchQueue.main : nil)
        let place = WakePlace()
        let inbox = ChangeInbox(wake: wakeQueue.map { queue in { @Sendable in queue.async { place.wake() } } })
        let made = try RealmInstance(
            .live, store: shared.store, shared: shared, configuration: configuration, confinement: confinement,
            inbox: inbox)
        place.set(made)
        do throws(StorageError) {
            shared.add(inbox)
            made.show(try shared.store.snapshot())
        } catch {
            throw Realm.Error(error)
        }
        let entry = Entry(instance: made)
        instances.withLock { instances in
            instances = instances.filter { $0.value.instance != nil }
            instances[key] = entry
        }
        return made
    }
}

/// Leads from a commit on any thread to an instance on its own queue.
private final class WakePlace: Sendable {
    private struct Target: @unchecked Sendable {  // used on the instance's own queue only
        weak var instance: RealmInstance?
    }

    private let target = Mutex<Target>(Target())

    func set(_ instance: RealmInstance) {
        let made = Target(instance: instance)
        target.withLock { $0 = made }
    }

    func wake() {
        let found = target.withLock { $0 }
        guard let instance = found.instance else { return }
        instance.observation.inbox?.wakeArrived()
        if instance.autorefresh, !instance.isInWrite, instance.currentView != nil { instance.refresh() }
    }
}

extension Realm.Configuration {
    /// Whether an instance of this configuration can stand for one of `other`.
    func isCompatible(with other: Realm.Configuration) -> Bool {
        guard readOnly == other.readOnly, schemaVersion == other.schemaVersion else { return false }
        guard invalidAccess == other.invalidAccess, encryptionKey == other.encryptionKey else { return false }
        return objectTypes.map { $0.map { ObjectIdentifier($0) } }
            == other.objectTypes.map { $0.map { ObjectIdentifier($0) } }
    }
}
