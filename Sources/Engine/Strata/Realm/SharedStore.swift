import Dispatch
import Platform
import StrataFiles
import StrataStorage
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file that this process has open, shared by all Realm instances of its path. Closes the file when the last of them
/// is released.
///
/// Concurrency: every member may be called from any thread. Lock order: registry, a path's entry, state. An entry's
/// lock is held while its file is opened and migrated, so that one thread does this and others wait; no other lock is
/// held across I/O.
final class SharedStore: Sendable {
    let store: Store
    let key: Key
    /// Whether the file was opened with `readOnly`; a later open must ask for the same, and for the same key.
    let isReadOnly: Bool
    private let encryptionKey: Data?
    private let state: Mutex<State>
    private let open: OpenCount
    /// The queue on which asynchronous writes wait for the write gate, one after the other.
    let writeQueue = DispatchQueue(label: "strata.writes")

    struct Key: Hashable {
        var path: String
        /// Identifies a file system of tests or of a harness; nil for the operating system's.
        var fileSystem: ObjectIdentifier?
    }

    private struct State {
        var inboxes: [ObjectIdentifier: WeakInbox] = [:]
        /// The last version that changed the schema, as far as notices of commits have told this process.
        var schemaVersion = TransactionID(0)
        var token: ObserverToken?
        /// The configuration whose handler is called if the close fails: that of the last open which had one.
        var teller: RealmConfiguration
    }

    private struct WeakInbox { weak var inbox: ChangeInbox? }

    /// What is known of one path: its store while it is open, and the thread that is opening it.
    private final class Entry: Sendable {
        let store = Mutex(WeakStore())
        /// The number of the thread that is opening the store, or 0. If the migration on that thread opens the file
        /// again, that is refused: it would wait for itself.
        let opener = Atomic<UInt64>(0)
    }

    /// Counts the stores of one file that are not closed yet, so that an open waits for a close that is running. A file
    /// that replaces it at the same path gets a count of its own.
    private final class OpenCount: Sendable {
        let value = Atomic<Int>(0)
        /// A store that could not be closed. The lock is held only to exchange it.
        let unclosed = Mutex<UnclosedStore?>(nil)

        func takeUnclosed() -> UnclosedStore? {
            unclosed.withLock { kept in
                defer { kept = nil }
                return kept
            }
        }
    }

    private struct WeakStore {
        weak var store: SharedStore?
        var open = OpenCount()
    }

    private static let registry = Mutex<[Key: Entry]>([:])

    /// The store of a configuration: opens the file if it is not open, and brings it to the configuration's schema.
    /// - Throws: ``Realm/Error``, or the error of the migration block.
    static func open(_ configuration: RealmConfiguration) throws -> SharedStore {
        let key = Key(configuration)
        let entry = registry.withLock { registry in
            if let known = registry[key] { return known }
            let made = Entry()
            registry[key] = made
            return made
        }
        if entry.opener.load(ordering: .relaxed) == CallingContext.thread {
            throw RealmError(
                .wrongState, "\(key.path) is being migrated by this thread; use the migration's own objects")
        }
        let opened = try entry.store.withLock { place in
            entry.opener.store(CallingContext.thread, ordering: .relaxed)
            defer { entry.opener.store(0, ordering: .relaxed) }
            // A file that was replaced or deleted stays open for its instances; this open uses the file that is there
            // now.
            if let known = place.store, !known.isStale {
                if known.isReadOnly != configuration.readOnly {
                    throw RealmError(
                        .alreadyOpen,
                        "\(key.path) is open already with readOnly \(known.isReadOnly); use the same value")
                }
                if known.encryptionKey != configuration.encryptionKey {
                    throw RealmError(.alreadyOpen, "\(key.path) is open already with another encryptionKey")
                }
                try SchemaSetup.join(known.store, configuration)
                known.adopt(configuration)
                return known
            }
            if place.store != nil { place.open = OpenCount() }
            while place.open.value.load(ordering: .acquiring) > 0 { sched_yield() }
            let made = try SharedStore(configuration, key, place.open)
            place.store = made
            return made
        }
        KeptMemory.keep(opened, configuration)
        return opened
    }

    /// Whether this process has the configuration's file open.
    static func isOpen(_ configuration: RealmConfiguration) -> Bool {
        let key = Key(configuration)
        guard let entry = registry.withLock({ $0[key] }) else { return false }
        // The caller is the file's own migration: this thread holds the entry's lock.
        if entry.opener.load(ordering: .relaxed) == Confinement.currentThread { return true }
        return entry.store.withLock { $0.store } != nil
    }

    private init(_ configuration: RealmConfiguration, _ key: Key, _ open: OpenCount) throws {
        self.key = key
        self.open = open
        isReadOnly = configuration.readOnly
        encryptionKey = configuration.encryptionKey
        state = Mutex(State(teller: configuration))
        store = try Self.openStore(configuration, open)
        open.value.add(1, ordering: .relaxed)
        let token = store.addObserver { [weak self] notice in self?.receive(notice) }
        state.withLock { $0.token = token }
        configuration.tellOpened(store)
        OpenVerification.begin(self, configuration)
    }

    deinit {
        let teller = state.withLock { state in
            state.token?.cancel()
            return state.teller
        }
        var failure: RealmError?
        do throws(StorageError) { try store.close() } catch {
            let unclosed = store.isOpen ? UnclosedStore(store: store, encryptionKey: encryptionKey) : nil
            if let unclosed { open.unclosed.withLock { $0 = unclosed } }
            failure = UnclosedStore.failure(of: store, error, isKept: unclosed != nil)
        }
        // Before the handlers are called: a handler may open the file again, and that open waits for this count.
        open.value.subtract(1, ordering: .releasing)
        if let failure { teller.tell(.closeFailed(failure)) }
        StandardErrorReports.end(key.path)
    }

    /// Opens a file that has no Realm in this process. A store of it that could not be closed is closed first; if that
    /// fails again, it is used.
    private static func openStore(_ configuration: RealmConfiguration, _ open: OpenCount) throws -> Store {
        guard let unclosed = open.takeUnclosed() else { return try SchemaSetup.openStore(configuration) }
        do throws(StorageError) { try unclosed.store.close() } catch {
            guard unclosed.store.isOpen else {
                configuration.tell(.closeFailed(UnclosedStore.failure(of: unclosed.store, error, isKept: false)))
                return try SchemaSetup.openStore(configuration)
            }
            do { return try unclosed.join(configuration) } catch {
                open.unclosed.withLock { $0 = unclosed }
                throw error
            }
        }
        return try SchemaSetup.openStore(configuration)
    }

    /// Drops a store that could not be closed, together with the commits that only it has: its file is about to be
    /// deleted.
    static func dropUnclosed(_ configuration: RealmConfiguration) {
        let entry = registry.withLock { $0[Key(configuration)] }
        // Dropped outside the lock and without a close, as if the process had died.
        _ = entry?.store.withLock { $0.open }.takeUnclosed()
    }

    private func adopt(_ configuration: RealmConfiguration) {
        if configuration.closeFailureHandler == nil && configuration.report == nil { return }
        state.withLock { $0.teller = configuration }
    }

    /// Whether the path leads to another file than the open one by now, or to none.
    var isStale: Bool {
        do { return try store.isStale } catch { return true }
    }

    /// The last version that changed the schema, as far as notices of commits have told this process; 0 before the
    /// first.
    var schemaVersion: TransactionID { state.withLock { $0.schemaVersion } }

    func add(_ inbox: ChangeInbox) {
        state.withLock { $0.inboxes[ObjectIdentifier(inbox)] = WeakInbox(inbox: inbox) }
    }

    func remove(_ inbox: ChangeInbox) {
        let identity = ObjectIdentifier(inbox)
        state.withLock { _ = $0.inboxes.removeValue(forKey: identity) }
    }

    private func receive(_ notice: CommitNotice) {
        let inboxes = state.withLock { state in
            if notice.schemaChanged { state.schemaVersion = max(state.schemaVersion, notice.version) }
            return state.inboxes.values.compactMap(\.inbox)
        }
        for inbox in inboxes { inbox.receive(notice) }
    }
}

extension SharedStore.Key {
    init(_ configuration: RealmConfiguration) {
        path = configuration.path
        if let given = configuration.files, type(of: given) is AnyObject.Type {
            fileSystem = ObjectIdentifier(given as AnyObject)
        } else {
            fileSystem = nil
        }
    }
}
