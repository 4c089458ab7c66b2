import Synchronization

/// Whether a write was committed. References to objects that it added, which may be resolved on another thread later,
/// retain it: see ``DetachedObject``.
final class WriteFate: Sendable {
    private let committed = Atomic<Bool>(false)

    /// False while the write runs, and for ever after a rollback.
    var isCommitted: Bool { committed.load(ordering: .acquiring) }

    func commit() { committed.store(true, ordering: .releasing) }
}
