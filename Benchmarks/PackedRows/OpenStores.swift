import Platform
import Synchronization

/// The open databases of this process, for libraries that may open a path only once: sessions share one handle.
///
/// `@inlinable`, so that the compiler specialises it in each adapter's target: otherwise the first open of a process
/// would include look-ups of generic metadata, which docs/decisions/0069-malloc.md names among its measured causes.
@usableFromInline
package final class OpenStores<Store: AnyObject & Sendable>: Sendable {
    /// Searched linearly: a process has few open databases.
    @usableFromInline
    struct Entries {
        @usableFromInline var paths: [String] = []
        @usableFromInline var stores: [Store] = []
        @usableFromInline var sessions: [Int] = []

        @inlinable
        init() {}

        @inlinable
        func place(_ path: String) -> Int? { paths.firstIndex(of: path) }

        @inlinable
        mutating func add(_ path: String, _ store: Store) {
            paths.append(path)
            stores.append(store)
            sessions.append(1)
        }

        @inlinable
        mutating func remove(_ place: Int) -> Store {
            paths.remove(at: place)
            sessions.remove(at: place)
            return stores.remove(at: place)
        }
    }

    @usableFromInline let entries = Mutex(Entries())
    /// The process that opened the entries. A forked child ignores them: a handle is used and closed only by the
    /// process that opened it.
    @usableFromInline let owner = Atomic<Int32>(getpid())

    @inlinable
    package init() {}

    /// Makes Swift create what it needs for the first database: see `Engine.learn`.
    @inlinable
    package func prepare() {
        entries.withLock { entries in
            entries.paths.reserveCapacity(1)
            entries.stores.reserveCapacity(1)
            entries.sessions.reserveCapacity(1)
            _ = entries.place("")
        }
    }

    /// The open database of that path, opened by `open` if it is not.
    @inlinable
    package func store<Failure: Error>(
        _ path: String, open: () throws(Failure) -> Store
    ) throws(Failure) -> Store {
        try entries.withLock { entries throws(Failure) in
            if owner.exchange(getpid(), ordering: .relaxed) != getpid() {
                // Not even released: that would close databases that belong to the parent.
                for store in entries.stores { _ = Unmanaged.passRetained(store) }
                entries = Entries()
            }
            if let place = entries.place(path) {
                entries.sessions[place] += 1
                return entries.stores[place]
            }
            let store = try open()
            entries.add(path, store)
            return store
        }
    }

    /// Calls `close` when the last session is released.
    @inlinable
    package func letGo<Failure: Error>(
        _ path: String, close: (Store) throws(Failure) -> Void
    ) throws(Failure) {
        try entries.withLock { entries throws(Failure) in
            guard let place = entries.place(path) else { return }
            if entries.sessions[place] > 1 {
                entries.sessions[place] -= 1
                return
            }
            try close(entries.remove(place))
        }
    }

    /// Closes and reopens a database that only one session has open; nil if other sessions have it open, too.
    @inlinable
    package func reopen<Failure: Error>(
        _ path: String, _ body: (Store) throws(Failure) -> Store
    ) throws(Failure) -> Store? {
        try entries.withLock { entries throws(Failure) -> Store? in
            guard let place = entries.place(path), entries.sessions[place] == 1 else { return nil }
            let store = try body(entries.remove(place))
            entries.add(path, store)
            return store
        }
    }
}
