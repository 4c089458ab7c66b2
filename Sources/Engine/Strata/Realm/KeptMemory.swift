import Synchronization

/// Retains in-memory stores, so that their contents outlive their last Realm.
///
/// Concurrency: every member may be called from any thread. A store is released, and so closed, outside the lock.
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

    /// Called at each open of a store: retains an in-memory one, if the program has set ``isOn``.
    static func keep(_ store: SharedStore, _ configuration: RealmConfiguration) {
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

extension RealmConfiguration {
    /// Whether an in-memory Realm keeps its contents after its last instance, until ``Realm/endInMemoryRealms()``.
    ///
    /// Off by default: an in-memory Realm lives as long as its instances. If on, a fixture that a test's `setUp` makes
    /// and releases still exists in the test. Set it before the first Realm is opened, and end the Realms in
    /// `tearDown`.
    public static var keepsInMemoryRealms: Bool {
        get { KeptMemory.isOn }
        set { KeptMemory.isOn = newValue }
    }
}

extension Realm {
    /// Releases every in-memory Realm that ``RealmConfiguration/keepsInMemoryRealms`` keeps. A Realm that the program
    /// still uses lives until the program releases it; the others are empty at their next open.
    public static func endInMemoryRealms() { KeptMemory.endAll() }
}
