/// A mistake that a wrapped engine makes on purpose, so that a scenario which would believe anything is found out.
///
/// One at a time, in the process of the case and in those that it starts. What was prepared for the case is sound: it
/// is made without the mistake.
package enum EngineMistake: String, Sendable, CaseIterable {
    /// The last row's text comes back with another last byte, in whatever read holds that row.
    case lastByte = "last-byte"
    /// The last row comes back in no read.
    case rowDropped = "row-dropped"
    /// The last row comes back twice.
    case rowTwice = "row-twice"
    /// Two elements of the last list change places, or the last link leads to another row.
    case linkSwapped = "link-swapped"
    /// The third transaction of the process is acknowledged and not done. The load of a database does not count.
    case commitMissing = "commit-missing"
    /// Closing a database that was there before puts its files back to what they were when it was opened.
    case olderState = "older-state"

    /// Counts and digests are off by one.
    case wrongRead = "wrong-read"
    /// The fifteenth to the seventeenth read of a session are off by one, and those before and after them are right.
    case wrongMeanwhile = "wrong-meanwhile"
    /// The last of several increments is acknowledged and not done.
    case lostIncrement = "lost-increment"
    /// Every fifth change of a single row is acknowledged and not done.
    case updateLost = "update-lost"
    /// An increment of a single row works on the value that its session read first.
    case incrementStale = "increment-stale"
    /// A scan of a range of rows ends before its last row.
    case scanShort = "scan-short"
    /// Every two hundredth operation on single rows takes 50 ms longer.
    case stall
    /// A pinned version shows the newest data.
    case unpinned
    /// A version stays pinned after its reader let go of it, and after its session was closed.
    case pinKept = "pin-kept"
    /// A compaction returns without having done anything.
    case compactionNothing = "compaction-nothing"
    /// A compaction leaves a copy of the old file beside the new one.
    case compactionGrows = "compaction-grows"
    /// A compaction has a file of its own until it is over, and nobody removes it when that was interrupted.
    case compactionLeftover = "compaction-leftover"
    /// A compaction takes memory of its own for all of the file.
    case compactionHoards = "compaction-hoards"
    /// The engine refuses a database whose lock file is empty.
    case emptyLockRefused = "empty-lock-refused"
    /// The engine's check of a database returns without having looked.
    case checkNothing = "check-nothing"
    /// The engine's check opens the database, closes it, and says that nothing is wrong.
    case checkOpensOnly = "check-opens-only"
    /// The engine's check reports damage where there is none.
    case checkAlarm = "check-alarm"
    /// A salvage loses a row more than it says.
    case salvageDropsRow = "salvage-drops-row"
    /// A salvage gives a row a value of another one.
    case salvageMixesRows = "salvage-mixes-rows"
    /// A salvage says that a row more is lost than is.
    case salvageOverclaims = "salvage-overclaims"
    /// A salvage says that nothing is lost, whatever is.
    case salvageSilent = "salvage-silent"
    /// A salvage loses all rows of a table, and does not speak of it.
    case salvageForgetsTable = "salvage-forgets-table"
    /// The engine names no lock file, as if it had none.
    case lockFileAlone = "lock-file-alone"
    /// The second session of a process waits 300 ms before each of its commits.
    case slowWriter = "slow-writer"
    /// The second session of a process is refused each of its writes.
    case refuseWriter = "refuse-writer"
    /// Who asks for full durability gets none, and reads everywhere that it is full.
    case syncLeftOut = "sync-left-out"
    /// The engine opens plain files where the caller asks for encrypted ones.
    case keyLeftOut = "key-left-out"
    /// Opening a database that is there ends the process.
    case crashAtOpen = "crash-at-open"
    /// A transaction that failed is acknowledged.
    case errorSwallowed = "error-swallowed"
    /// A transaction whose sync failed is acknowledged.
    case failedSyncAcknowledged = "failed-sync-acknowledged"
    /// After a transaction that failed every later one of the process fails.
    case failureSticks = "failure-sticks"
    /// Once a few transactions in a row took longer than a disk takes, all later ones do.
    case slowForGood = "slow-for-good"
    /// A transaction that failed leaves something: the first half of its rows, or another value.
    case errorTears = "error-tears"

    /// A deletion by a condition is acknowledged and not done.
    case deletionNothing = "deletion-nothing"
    /// Several elements that are appended to a list at once lack their last one.
    case listElementLost = "list-element-lost"
    /// The last of several elements that are read by their places is its neighbour.
    case listNeighbour = "list-neighbour"
    /// The last of several elements that are inserted in front of a list comes second.
    case listOutOfOrder = "list-out-of-order"
    /// The last of several elements to be removed stays, and the one before it goes.
    case listRemovesNeighbour = "list-removes-neighbour"
    /// A walk over a list ends before its last element.
    case listWalkShort = "list-walk-short"
    /// The last element of a new list and the first one of the next change places.
    case listStrays = "list-strays"
    /// A read by key makes an allocation more.
    case allocationMore = "allocation-more"
    /// A session takes some hundred thousand instructions more to begin.
    case instructionsMore = "instructions-more"
    /// A change of columns leaves the last half of the rows without the value that it had to give them.
    case columnsHalf = "columns-half"
    /// A change of columns loses the last row.
    case columnsRowLost = "columns-row-lost"

    /// What every comparison of contents has to find.
    package static let content: [EngineMistake] = [
        .lastByte, .rowDropped, .rowTwice, .linkSwapped, .commitMissing, .olderState,
    ]
}
