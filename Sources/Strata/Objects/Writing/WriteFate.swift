import Synchronization

/// Whether a write was committed, for whoever leads to something that was made in it: see ``DetachedObject``.
final class WriteFate: Sendable {
    private let committed = Atomic<Bool>(false)

    /// False while the write runs, and for ever once it is rolled back.
    var isCommitted: Bool { committed.load(ordering: .acquiring) }

    func commit() { committed.store(true, ordering: .releasing) }
}
