/// A mistake that a wrapped engine makes on purpose, to test that scenarios detect it.
///
/// One mistake at a time, in the process of the case and in its children. The fixture is built without it.
package enum EngineMistake: String, Sendable, CaseIterable {
    /// The last row's text has another last byte, in every read of that row.
    case lastByte = "last-byte"
    /// The last row is missing in every read.
    case rowDropped = "row-dropped"
    /// The last row is returned twice.
    case rowTwice = "row-twice"
    /// Two elements of the last list are swapped, or the last link leads to another row.
    case linkSwapped = "link-swapped"
    /// The third transaction of the process is acknowledged but not executed. The load of a database does not count.
    case commitMissing = "commit-missing"
    /// Closing an existing database restores its files to their state at the open.
    case olderState = "older-state"

    /// Counts and digests are off by one.
    case wrongRead = "wrong-read"
    /// Reads fifteen to seventeen of a session are off by one; all others are right.
    case wrongMeanwhile = "wrong-meanwhile"
    /// The last of several increments is acknowledged but not executed.
    case lostIncrement = "lost-increment"
    /// Every fifth change of a single row is acknowledged but not executed.
    case updateLost = "update-lost"
    /// An increment of a single row uses the value that its session read first.
    case incrementStale = "increment-stale"
    /// A scan of a range of rows ends before its last row.
    case scanShort = "scan-short"
    /// Every two hundredth operation on single rows takes 50 ms longer.
    case stall
    /// A pinned version shows the newest data.
    case unpinned
    /// A version stays pinned after its reader released it, and after its session was closed.
    case pinKept = "pin-kept"
    /// A compaction returns without effect.
    case compactionNothing = "compaction-nothing"
    /// A compaction leaves a copy of the old file beside the new one.
    case compactionGrows = "compaction-grows"
    /// A compaction uses a temporary file, which is never removed after an interruption.
    case compactionLeftover = "compaction-leftover"
    /// A compaction allocates memory for the whole file.
    case compactionHoards = "compaction-hoards"
    /// The engine refuses a database whose lock file is empty.
    case emptyLockRefused = "empty-lock-refused"
    /// The engine's check returns without checking anything.
    case checkNothing = "check-nothing"
    /// The engine's check only opens and closes the database, and reports that nothing is wrong.
    case checkOpensOnly = "check-opens-only"
    /// The engine's check reports damage where there is none.
    case checkAlarm = "check-alarm"
    /// A salvage loses one row more than it reports.
    case salvageDropsRow = "salvage-drops-row"
    /// A salvage gives a row a value of another one.
    case salvageMixesRows = "salvage-mixes-rows"
    /// A salvage reports one lost row too many.
    case salvageOverclaims = "salvage-overclaims"
    /// A salvage reports no losses, whatever is lost.
    case salvageSilent = "salvage-silent"
    /// A salvage loses all rows of a table without a report.
    case salvageForgetsTable = "salvage-forgets-table"
    /// The engine lists no lock file.
    case lockFileAlone = "lock-file-alone"
    /// The second session of a process waits 300 ms before each of its commits.
    case slowWriter = "slow-writer"
    /// The second session of a process is refused every write.
    case refuseWriter = "refuse-writer"
    /// Full durability is not applied, while all settings read as full.
    case syncLeftOut = "sync-left-out"
    /// The engine opens plain files instead of encrypted ones.
    case keyLeftOut = "key-left-out"
    /// Opening an existing database ends the process.
    case crashAtOpen = "crash-at-open"
    /// A failed transaction is acknowledged.
    case errorSwallowed = "error-swallowed"
    /// A transaction whose sync failed is acknowledged.
    case failedSyncAcknowledged = "failed-sync-acknowledged"
    /// After a failed transaction every later one of the process fails.
    case failureSticks = "failure-sticks"
    /// After a transaction whose sync the disk delayed, every later one of the process is as slow.
    case slowForGood = "slow-for-good"
    /// A failed transaction leaves something: the first half of its rows, or another value.
    case errorTears = "error-tears"

    /// A deletion by a condition is acknowledged but not executed.
    case deletionNothing = "deletion-nothing"
    /// Several elements appended to a list at once lack the last one.
    case listElementLost = "list-element-lost"
    /// The last of several elements read by index is its neighbour.
    case listNeighbour = "list-neighbour"
    /// The last of several elements inserted at the front of a list becomes second.
    case listOutOfOrder = "list-out-of-order"
    /// The last of several elements to be removed stays, and the one before it is removed.
    case listRemovesNeighbour = "list-removes-neighbour"
    /// A walk over a list ends before its last element.
    case listWalkShort = "list-walk-short"
    /// The last element of a new list and the first one of the next are swapped.
    case listStrays = "list-strays"
    /// A read by key makes one more allocation.
    case allocationMore = "allocation-more"
    /// The start of a session takes some hundred thousand more instructions.
    case instructionsMore = "instructions-more"
    /// A change of columns leaves the second half of the rows without the new value.
    case columnsHalf = "columns-half"
    /// A change of columns loses the last row.
    case columnsRowLost = "columns-row-lost"

    /// Mistakes that every comparison of contents must find.
    package static let content: [EngineMistake] = [
        .lastByte, .rowDropped, .rowTwice, .linkSwapped, .commitMissing, .olderState,
    ]
}
