import Synchronization

/// Databases that this process has open, for libraries that may open a path once only: sessions share one handle.
package final class OpenStores<Store: AnyObject & Sendable>: Sendable {
    private struct Entry {
        var store: Store
        var sessions: Int
    }

    private let entries = Mutex<[String: Entry]>([:])

    package init() {}

    /// The open database of that path, opened by `open` if it is not.
    package func store<Failure: Error>(
        _ path: String, open: () throws(Failure) -> Store
    ) throws(Failure) -> Store {
        try entries.withLock { entries throws(Failure) in
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
