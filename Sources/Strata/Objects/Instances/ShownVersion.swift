import StrataStorage

// 1. Reading: the view is that of the pinned snapshot. Writing: the view is the transaction's, and the snapshot stays
//    pinned, because observers were last notified of it. Neither: there is no view, and outside a write no snapshot.
// 2. Every change of the view or its contents gives a new stamp, under which no cached location of a row is valid.

/// The version that an instance shows. A value inside the instance: reads load the stamp and the view directly.
///
/// Concurrency: confined with its instance.
struct ShownVersion {
    private(set) var stamp: UInt64 = 1
    /// What reads go through; nil after ``invalidate()``, and while the instance shows no version.
    private(set) var view: ReadView?
    private(set) var write: RunningWrite?
    private(set) var snapshot: Snapshot?
    /// What the running write changed, by stamps.
    var marks = WriteMarks()
    /// The inner collections that the program holds references to.
    let nested = NestedPlaces()

    /// Shows a pinned version.
    mutating func show(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        view = snapshot.view
    }

    /// Shows the state of a transaction, with its own changes.
    mutating func show(_ transaction: WriteTransaction) { view = transaction.view }

    /// Keeps a version pinned as the one that observers start from, without showing it: the running write's base.
    mutating func pin(_ snapshot: Snapshot) { self.snapshot = snapshot }

    mutating func begin(_ write: RunningWrite) { self.write = write }

    /// Releases the running write. Its view must not be read any more: the caller shows a snapshot next.
    mutating func endWrite(isCancelled: Bool) {
        if let write {
            if isCancelled {
                nested.rollBack(write.number)
            } else {
                write.noteCommit()
                nested.noteCommit(of: TransactionID(write.version))
            }
        }
        write = nil
    }

    /// Releases the version.
    mutating func invalidate() {
        // Without a version to start from, inner collections cannot be found again in a later one: all are lost.
        nested.follow(isPinned: true) { _, _ in nil }
        snapshot = nil
        view = nil
    }

    /// Gives a new stamp after a change of the view, or of contents that no mark names.
    mutating func advanceUnmarked() {
        marks.markEverything(stamp &+ 1)
        stamp &+= 1
    }

    /// Gives a new stamp after a change that was marked with it.
    @inline(__always)
    mutating func advance() { stamp &+= 1 }
}
