import Synchronization

/// Stores in memory that stay when the last Realm of theirs goes.
///
/// Concurrency: every member may be called from any thread. A store that is let go of closes outside of the lock.
enum KeptMemory {
    private struct State {
        var isOn = false
        var stores: [SharedStore.Key: SharedStore] = [:]
    }

    private static let state = Mutex(State())

    static var isOn: Bool {
        get { state.withLock { $0.isOn } }
        set { state.withLock { $0.isOn = newValue } }
    }

    /// Keeps a store that was opened or joined by a configuration of memory, while that is asked for.
    static func keep(_ store: SharedStore, _ configuration: Realm.Configuration) {
        guard configuration.inMemoryIdentifier != nil else { return }
        state.withLock { if $0.isOn { $0.stores[store.key] = store } }
    }

    static func end(_ key: SharedStore.Key) {
        let ended = state.withLock { $0.stores.removeValue(forKey: key) }
        withExtendedLifetime(ended) {}
    }

    static func endAll() {
        let ended = state.withLock { state in
            defer { state.stores = [:] }
            return state.stores
        }
        withExtendedLifetime(ended) {}
    }
}

extension Realm.Configuration {
    /// Whether a Realm in memory keeps its contents when its last instance goes, until ``Realm/endInMemoryRealms()``.
    ///
    /// Off at first: a Realm in memory lives as long as one of its instances. On, a fixture that a test's `setUp` makes
    /// and lets go of is still there in the test. Set it before the first Realm is opened, and end them in `tearDown`.
    public static var keepsInMemoryRealms: Bool {
        get { KeptMemory.isOn }
        set { KeptMemory.isOn = newValue }
    }
}

extension Realm {
    /// Lets go of every Realm in memory that ``Configuration/keepsInMemoryRealms`` keeps. Those of which an instance is
    /// alive go with it; the others are empty when they are opened next.
    public static func endInMemoryRealms() { KeptMemory.endAll() }
}
