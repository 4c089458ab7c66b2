internal import StrataFiles

/// Observers of commits, and the notices that they have not been called with yet.
///
/// Notices are delivered in the order of their versions, each once its version is visible, by one thread at a time and
/// without locks. A part of ``StoreState``.
struct CommitObservers {
    typealias Observer = @Sendable (CommitNotice) -> Void

    /// In the order of registration.
    private var observers: [(id: Int, tell: Observer)] = []
    private var lastID = 0
    /// Of versions that were committed and not delivered yet, in order.
    private var notices: [CommitNotice] = []
    private var isTelling = false
    /// Notices of this process's own transactions that another process commits: only this process has their changes.
    private var handedIn: [UInt64: CommitNotice] = [:]

    var isEmpty: Bool { observers.isEmpty }

    /// - Returns: the argument of ``remove(_:)``.
    mutating func add(_ observer: @escaping Observer) -> Int {
        lastID += 1
        observers.append((lastID, observer))
        return lastID
    }

    mutating func remove(_ id: Int) { observers.removeAll { $0.id == id } }

    /// Queues the notice of a committed version until that version is visible.
    mutating func note(_ notice: CommitNotice) { notices.append(notice) }

    /// Without observers, notices of visible versions are dropped.
    mutating func becameVisible(_ version: UInt64) {
        if observers.isEmpty && !notices.isEmpty { notices.removeAll { $0.version.rawValue <= version } }
    }

    /// Takes the next notice and the observers to call; the caller then calls ``endTelling()``.
    /// - Returns: nil if there is none, or another thread delivers: that thread takes the next one, too.
    mutating func beginTelling(visible: UInt64) -> (notice: CommitNotice, observers: [Observer])? {
        guard !isTelling, let first = notices.first, first.version.rawValue <= visible else { return nil }
        isTelling = true
        notices.removeFirst()
        return (first, observers.map(\.tell))
    }

    mutating func endTelling() { isTelling = false }

    // MARK: Other processes

    /// Keeps the notice of a transaction that is submitted to the owner of writing.
    mutating func handIn(_ notice: @autoclosure () -> CommitNotice, _ version: UInt64) {
        if !observers.isEmpty { handedIn[version] = notice() }
    }

    /// Drops the notice of a submitted transaction that was not committed.
    mutating func refuse(_ version: UInt64) { handedIn[version] = nil }

    /// Queues the notice of another process's version that replaces the visible one.
    mutating func follow(_ version: VersionState, after visible: VersionState) {
        if version.version > visible.version && !observers.isEmpty {
            let isNext = version.version == visible.version + 1
            notices.append((isNext ? handedIn[version.version] : nil) ?? Self.general(version, after: visible))
        }
        if !handedIn.isEmpty { handedIn = handedIn.filter { $0.key > version.version } }
    }

    /// A notice that says that any row may have changed.
    private static func general(_ version: VersionState, after visible: VersionState) -> CommitNotice {
        let tables = version.tables.map { table in
            var changes = TableChanges(table: table.id)
            changes.isComplete = false
            return changes
        }
        return CommitNotice(
            version: TransactionID(version.version), changes: tables,
            schemaChanged: version.schemaNode != visible.schemaNode)
    }
}

/// Ends an observation when cancelled or released.
package final class ObserverToken: Sendable {
    private let end: @Sendable () -> Void
    private let cancelled = ClosedFlag()

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { cancel() }

    package func cancel() { if cancelled.set() { end() } }
}
