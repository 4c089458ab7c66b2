import Dispatch
import StrataFiles
import StrataStorage
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// One open file in this process, shared by all Realm instances of its path.
///
/// Concurrency: every member may be called from any thread. Lock order: registry, a path's entry, state. An entry's
/// lock is held while its file is opened and migrated, so that this happens once; no other lock is held across I/O.
final class SharedStore: Sendable {
    let store: Store
    let key: Key
    /// Options with which the file was opened.
    let isReadOnly: Bool
    private let encryptionKey: Data?
    private let state: Mutex<State>
    private let open: OpenCount
    /// The queue on which asynchronous writes wait for the write gate, one after the other.
    let writeQueue = DispatchQueue(label: "strata.writes")

    struct Key: Hashable {
        var path: String
        /// Identifies a file system; nil is the operating system's.
        var fileSystem: ObjectIdentifier?
    }

    private struct State {
        var inboxes: [ObjectIdentifier: WeakInbox] = [:]
        /// The last version that changed the schema, as far as this process has seen.
        var schemaVersion = TransactionID(0)
        var token: ObserverToken?
        /// The configuration of the last open with a handler for it, which is called if the close fails.
        var teller: Realm.Configuration
    }

    private struct WeakInbox { weak var inbox: ChangeInbox? }

    /// State of one path: its store while it is open, and the thread that opens it.
    private final class Entry: Sendable {
        let store = Mutex(WeakStore())
        /// The thread that is opening the store, or 0. Keeps a migration from opening the file that it migrates.
        let opener = Atomic<UInt64>(0)
    }

    /// Stores of one file that are not closed yet; a file that replaces it is counted separately.
    private final class OpenCount: Sendable {
        let value = Atomic<Int>(0)
        /// A store that could not be closed. Its lock is not held across other calls.
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

    /// The store of a configuration; opened and brought to its schema if it is not open.
    /// - Throws: ``Realm/Error``, or the error of the migration block.
    static func open(_ configuration: Realm.Configuration) throws -> SharedStore {
        let key = Key(configuration)
        let entry = registry.withLock { registry in
            if let known = registry[key] { return known }
            let made = Entry()
            registry[key] = made
            return made
        }
        if entry.opener.load(ordering: .relaxed) == CallingContext.thread {
            throw Realm.Error(
                .wrongState, "\(key.path) is being migrated by this thread; use the migration's own objects")
        }
        let opened = try entry.store.withLock { place in
            entry.opener.store(CallingContext.thread, ordering: .relaxed)
            defer { entry.opener.store(0, ordering: .relaxed) }
            // Instances of a replaced or deleted file keep it; a new open uses the file that is there now.
            if let known = place.store, !known.isStale {
                if known.isReadOnly != configuration.readOnly {
                    throw Realm.Error(
                        .alreadyOpen,
                        "\(key.path) is open already with readOnly \(known.isReadOnly); use the same value")
                }
                if known.encryptionKey != configuration.encryptionKey {
                    throw Realm.Error(.alreadyOpen, "\(key.path) is open already with another encryptionKey")
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

    /// Whether this process has an instance of the configuration's file.
    static func isOpen(_ configuration: Realm.Configuration) -> Bool {
        let key = Key(configuration)
        guard let entry = registry.withLock({ $0[key] }) else { return false }
        // Called inside the file's own migration, which holds the lock.
        if entry.opener.load(ordering: .relaxed) == Confinement.currentThread { return true }
        return entry.store.withLock { $0.store } != nil
    }

    private init(_ configuration: Realm.Configuration, _ key: Key, _ open: OpenCount) throws {
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
        var failure: Realm.Error?
        do throws(StorageError) { try store.close() } catch {
            let unclosed = store.isOpen ? UnclosedStore(store: store, encryptionKey: encryptionKey) : nil
            if let unclosed { open.unclosed.withLock { $0 = unclosed } }
            failure = UnclosedStore.failure(of: store, error, isKept: unclosed != nil)
        }
        // Before the handlers are called, which may open the file again.
        open.value.subtract(1, ordering: .releasing)
        if let failure { teller.tell(.closeFailed(failure)) }
        StandardErrorReports.end(key.path)
    }

    /// The store of a file without a Realm in this process; a store that could not be closed before is closed now, or
    /// reused.
    private static func openStore(_ configuration: Realm.Configuration, _ open: OpenCount) throws -> Store {
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

    /// Releases a store that could not be closed, with its commits, because its file is to be deleted.
    static func dropUnclosed(_ configuration: Realm.Configuration) {
        let entry = registry.withLock { $0[Key(configuration)] }
        // Released outside the lock, like by the death of the process.
        _ = entry?.store.withLock { $0.open }.takeUnclosed()
    }

    private func adopt(_ configuration: Realm.Configuration) {
        if configuration.closeFailureHandler == nil && configuration.report == nil { return }
        state.withLock { $0.teller = configuration }
    }

    /// Whether the path leads to another file by now, or to none.
    var isStale: Bool {
        do { return try store.isStale } catch { return true }
    }

    /// The last version that may have changed the schema.
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
    init(_ configuration: Realm.Configuration) {
        path = configuration.path
        if let given = configuration.files, type(of: given) is AnyObject.Type {
            fileSystem = ObjectIdentifier(given as AnyObject)
        } else {
            fileSystem = nil
        }
    }
}
