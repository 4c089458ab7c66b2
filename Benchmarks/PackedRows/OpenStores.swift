import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Databases that this process has open, for libraries that may open a path once only: sessions share one handle.
package final class OpenStores<Store: AnyObject & Sendable>: Sendable {
    private struct Entry {
        var store: Store
        var sessions: Int
    }

    private let entries = Mutex<[String: Entry]>([:])
    /// The process that the entries are of. A child that was forked has none: a handle is used and closed where it was
    /// opened, and left alone elsewhere.
    private let owner = Atomic<Int32>(getpid())

    package init() {}

    /// The open database of that path, opened by `open` if it is not.
    package func store<Failure: Error>(
        _ path: String, open: () throws(Failure) -> Store
    ) throws(Failure) -> Store {
        try entries.withLock { entries throws(Failure) in
            if owner.exchange(getpid(), ordering: .relaxed) != getpid() {
                // Not even let go of: that would close them.
                for entry in entries.values { _ = Unmanaged.passRetained(entry.store) }
                entries = [:]
            }
            if let entry = entries[path] {
                entries[path] = Entry(store: entry.store, sessions: entry.sessions + 1)
                return entry.store
            }
            let store = try open()
            entries[path] = Entry(store: store, sessions: 1)
            return store
        }
    }

    /// Calls `close` when the last session lets go.
    package func letGo<Failure: Error>(
        _ path: String, close: (Store) throws(Failure) -> Void
    ) throws(Failure) {
        try entries.withLock { entries throws(Failure) in
            guard let entry = entries[path] else { return }
            if entry.sessions > 1 {
                entries[path]?.sessions -= 1
                return
            }
            entries[path] = nil
            try close(entry.store)
        }
    }

    /// Closes and opens anew what one session alone has open; nil where others have it open too.
    package func reopen<Failure: Error>(
        _ path: String, _ body: (Store) throws(Failure) -> Store
    ) throws(Failure) -> Store? {
        try entries.withLock { entries throws(Failure) -> Store? in
            guard let entry = entries[path], entry.sessions == 1 else { return nil }
            entries[path] = nil
            let store = try body(entry.store)
            entries[path] = Entry(store: store, sessions: 1)
            return store
        }
    }
}
