import StrataStorage

// States
// 1. Reading: the view is that of the pinned snapshot.
// 2. Writing: the view is the transaction's. The snapshot stays pinned, because the instance notified its observers of
//    that version last; there is none if the write began while the instance showed nothing.
// 3. Showing nothing, before the first version and after ``RealmInstance/invalidate()``: there is neither a view nor a
//    snapshot.
// The instance advances the stamp after each change of the view or its contents. That invalidates every location of a
// row that an object has cached under an older stamp.

/// The version that an instance shows. The instance holds it as a value, so a read loads the stamp and the view from
/// the instance itself.
///
/// Concurrency: the thread, queue or actor of the instance reads and changes it. A frozen instance is shared by threads
/// only after it was made, and does not change it then.
struct ShownVersion {
    private(set) var stamp: UInt64 = 1
    /// The view that objects and collections read; nil while the instance shows no version.
    private(set) var view: ReadView?
    private(set) var write: RunningWrite?
    private(set) var snapshot: Snapshot?
    /// The tables, columns and rows that the running write changed, with the stamp of each change.
    var marks = WriteMarks()
    /// The lists and dictionaries inside values of any type that the program has references to.
    let nested = NestedPlaces()

    /// Shows a pinned version.
    mutating func show(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        view = snapshot.view
    }

    /// Shows the state of a transaction, with its own changes.
    mutating func show(_ transaction: WriteTransaction) { view = transaction.view }

    /// Keeps the base version of the running write pinned without showing it, for an observer that starts from it.
    mutating func pin(_ snapshot: Snapshot) { self.snapshot = snapshot }

    mutating func begin(_ write: RunningWrite) { self.write = write }

    /// Releases the running write, whose view no reader may use any more: the caller shows a snapshot next.
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

    /// Releases the snapshot and the view.
    mutating func invalidate() {
        // `follow` finds an inner collection in a later version from its place in this one, so it drops all of them.
        nested.follow(isPinned: true) { _, _ in nil }
        snapshot = nil
        view = nil
    }

    /// Advances the stamp after a change of the view, or of contents for which the caller set no mark.
    mutating func advanceUnmarked() {
        marks.markEverything(stamp &+ 1)
        stamp &+= 1
    }

    /// Advances the stamp to that with which the caller marked its change.
    @inline(__always)
    mutating func advance() { stamp &+= 1 }
}
