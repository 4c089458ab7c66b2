internal import StrataFiles

/// Who wants to hear of commits, and what they are still to be told.
///
/// Notices are told in the order of their versions, each when its version is visible, by one thread at a time and
/// without locks. Guarded by the store's monitor.
struct CommitObservers {
    typealias Observer = @Sendable (CommitNotice) -> Void

    /// In the order in which they came.
    private var observers: [(id: Int, tell: Observer)] = []
    private var lastID = 0
    /// Of versions that are committed and not told of, in order.
    private var notices: [CommitNotice] = []
    private var isTelling = false
    /// Of this process's own transactions that another one commits: nobody else knows what they changed.
    private var handedIn: [UInt64: CommitNotice] = [:]

    var isEmpty: Bool { observers.isEmpty }

    /// - Returns: what ``remove(_:)`` takes.
    mutating func add(_ observer: @escaping Observer) -> Int {
        lastID += 1
        observers.append((lastID, observer))
        return lastID
    }

    mutating func remove(_ id: Int) { observers.removeAll { $0.id == id } }

    /// A version was committed, or followed, which observers are told of when it is visible.
    mutating func note(_ notice: CommitNotice) { notices.append(notice) }

    /// Whoever observes only after a version has become visible has no need to hear of it.
    mutating func becameVisible(_ version: UInt64) {
        if observers.isEmpty && !notices.isEmpty { notices.removeAll { $0.version.rawValue <= version } }
    }

    /// The next notice, and whom to tell it; ``endTelling()`` is called when that is done.
    /// - Returns: nil when there is none, or another thread tells one: it will come to the next by itself.
    mutating func beginTelling(visible: UInt64) -> (notice: CommitNotice, observers: [Observer])? {
        guard !isTelling, let first = notices.first, first.version.rawValue <= visible else { return nil }
        isTelling = true
        notices.removeFirst()
        return (first, observers.map(\.tell))
    }

    mutating func endTelling() { isTelling = false }

    // MARK: Other processes

    /// A transaction of this process is handed in to the one that commits it.
    mutating func handIn(_ notice: @autoclosure () -> CommitNotice, _ version: UInt64) {
        if !observers.isEmpty { handedIn[version] = notice() }
    }

    /// What was handed in was not committed.
    mutating func refuse(_ version: UInt64) { handedIn[version] = nil }

    /// A version of another process takes the place of the one that was visible.
    mutating func follow(_ version: VersionState, after visible: VersionState) {
        if version.version > visible.version && !observers.isEmpty {
            let isNext = version.version == visible.version + 1
            notices.append((isNext ? handedIn[version.version] : nil) ?? Self.general(version, after: visible))
        }
        if !handedIn.isEmpty { handedIn = handedIn.filter { $0.key > version.version } }
    }

    /// Says that anything may have changed.
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
