import Dispatch
import StrataStorage
import Synchronization

/// Finds the live instance of a file on a thread, queue or actor, so that each of these sees a single version of a
/// file. Retains none of them.
enum InstanceCache {
    private struct Key: Hashable {
        var store: SharedStore.Key
        var place: Confinement.Identity
    }

    private static let instances = Mutex<[Key: InstanceReference]>([:])

    /// The live instance of a configuration on `queue`, or without one where the caller runs; opened if there is none.
    /// - Throws: ``Realm/Error``, or the error of the migration block.
    static func instance(_ configuration: RealmConfiguration, queue: DispatchQueue?) throws -> RealmInstance {
        try instance(configuration, queue.map { .queue($0) } ?? .here)
    }

    static func instance(_ configuration: RealmConfiguration, _ place: Confinement) throws -> RealmInstance {
        if let known = try known(configuration, place) { return known }
        return try make(configuration, try SharedStore.open(configuration), place)
    }

    /// The instance of a file that is already open.
    static func instance(
        _ configuration: RealmConfiguration, _ shared: SharedStore, _ place: Confinement
    ) throws -> RealmInstance {
        if let known = try known(configuration, place, shared) { return known }
        return try make(configuration, shared, place)
    }

    /// The live instance of a frozen one's file, on this thread, queue or actor. Nil if it cannot be opened.
    static func live(_ frozen: RealmInstance) -> RealmInstance? {
        guard let shared = frozen.file.shared else { return nil }
        return live(frozen.file.configuration, shared)
    }

    /// The live instance of an open file where the caller runs. On an actor that has the file open it is the actor's
    /// own; an actor that has not cannot be told from the thread that it runs on. Nil if it cannot be opened.
    static func live(_ configuration: RealmConfiguration, _ shared: SharedStore) -> RealmInstance? {
        if let known = onActor(configuration, shared) { return known }
        do { return try instance(configuration, shared, .here) } catch { return nil }
    }

    private static func onActor(_ configuration: RealmConfiguration, _ shared: SharedStore) -> RealmInstance? {
        let references = instances.withLock { instances in
            instances.compactMap { key, reference -> InstanceReference? in
                guard case .actor = key.place, key.store == shared.key else { return nil }
                return reference
            }
        }
        for reference in references {
            if let instance = reference.instance, instance.file.shared === shared, instance.confinement.isHere,
                instance.file.configuration.isCompatible(with: configuration)
            {
                return instance
            }
        }
        return nil
    }

    private static func known(
        _ configuration: RealmConfiguration, _ place: Confinement, _ shared: SharedStore? = nil
    ) throws -> RealmInstance? {
        try configuration.requirePlace()
        let reference = instances.withLock { $0[Key(store: SharedStore.Key(configuration), place: place.identity)] }
        // An actor is identified by its address, which an earlier actor that is gone may have had.
        guard let instance = reference?.instance, instance.confinement.isHere,
            instance.file.configuration.isCompatible(with: configuration)
        else { return nil }
        // If the file was replaced, an instance that was made before still shows the old one.
        if let shared { return instance.file.shared === shared ? instance : nil }
        if instance.file.shared?.isStale ?? false { return nil }
        return instance
    }

    private static func make(
        _ configuration: RealmConfiguration, _ shared: SharedStore, _ place: Confinement
    ) throws -> RealmInstance {
        let made = try unshared(configuration, shared, place)
        let reference = made.reference
        let key = Key(store: shared.key, place: place.identity)
        instances.withLock { instances in
            instances = instances.filter { $0.value.isThere }
            instances[key] = reference
        }
        return made
    }

    /// A new live instance, which the cache does not know.
    static func unshared(
        _ configuration: RealmConfiguration, _ shared: SharedStore, _ place: Confinement
    ) throws -> RealmInstance {
        let target = InstanceReference()
        let scheduler = place.scheduler
        let inbox = ChangeInbox(
            wake: scheduler.map { schedule in { @Sendable in schedule { target.instance?.wakeUp() } } })
        let made = try RealmInstance(
            .live, of: OpenedFile(store: shared.store, shared: shared, configuration: configuration),
            confinement: place, inbox: inbox, reference: target)
        do throws(StorageError) {
            shared.add(inbox)
            made.show(try shared.store.snapshot())
        } catch {
            throw RealmError(error)
        }
        return made
    }
}

extension RealmInstance {
    /// Called after a commit of another instance or process, and when damage was found, on the main thread, queue or
    /// actor of this instance: shows the newest version, or tells the program that there is one.
    func wakeUp() {
        observation.inbox?.wakeArrived()
        #if Zoo
            if PlantedMistake.wakeLate.isPlanted { PlantedMistake.pause(milliseconds: 1_200) }
        #endif
        guard currentView != nil else { return }
        if let onWake = observation.onWake { return onWake() }
        if isInWrite { return }
        if observation.autorefresh {
            refresh()
        } else if let snapshot, file.store.hasNewer(than: snapshot) {
            observation.tellRefreshIsRequired()
        }
    }
}

extension RealmConfiguration {
    /// - Throws: `invalidInput` if it names neither a file nor a database in memory.
    func requirePlace() throws(RealmError) {
        if fileURL != nil || inMemoryIdentifier != nil { return }
        throw RealmError(.invalidInput, "the configuration has neither fileURL nor inMemoryIdentifier")
    }

    /// Whether an instance of this configuration can serve `other`.
    func isCompatible(with other: RealmConfiguration) -> Bool {
        guard readOnly == other.readOnly, schemaVersion == other.schemaVersion else { return false }
        guard invalidAccess == other.invalidAccess, encryptionKey == other.encryptionKey else { return false }
        return objectTypes.map { $0.map { ObjectIdentifier($0) } }
            == other.objectTypes.map { $0.map { ObjectIdentifier($0) } }
    }
}
