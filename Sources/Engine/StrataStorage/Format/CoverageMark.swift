internal import Synchronization

#if Zoo
    internal import StrataFiles
#endif

/// A rare and important branch of the engine, which a test must have reached before its result counts.
///
/// Builds with the trait Zoo and debug builds count how often each mark is hit; in other builds a mark compiles to
/// nothing. The simulation lists the marks that it never reached, and so do `assay run` and `assay soak` of a build
/// with Zoo.
package enum CoverageMark: String, CaseIterable, Sendable {
    /// Replay ended at a torn batch.
    case tornBatch = "log.tornBatch"
    /// Replay corrected a flipped bit.
    case mendedBit = "log.mendedBit"
    /// Replay continued in the other half.
    case secondHalf = "log.secondHalf"
    /// A durable record is missing.
    case lostRecord = "log.lostRecord"
    /// A log was required, and was empty.
    case emptyLog = "recovery.emptyLog"
    case replayed = "recovery.replayed"
    /// The log's name led to another file, and a copy of the log got the name.
    case logWrittenAgain = "log.writtenAgain"
    /// A log that this process may not remove was emptied and used again.
    case logTakenOver = "log.takenOver"
    /// A log that this process may not remove was left beside the store.
    case logLeft = "log.left"
    case replayedInMemory = "recovery.replayedInMemory"
    /// One slot was unreadable, and the log shows that it was the newer one.
    case lostSlot = "recovery.lostSlot"
    /// A log of an older format was beside the store.
    case setLogAside = "recovery.setLogAside"
    /// The data file is older than the log beside it.
    case olderThanLog = "recovery.olderThanLog"
    /// The slots differed, or there was a log that no slot requires: an open completed an unfinished close.
    case settledAtOpen = "recovery.settledAtOpen"
    case noSpaceToRecover = "recovery.noSpace"
    /// A transaction too large for the log.
    case largeTransaction = "commit.largeTransaction"
    /// A transaction that had written nodes to the file before its commit was rolled back.
    case rolledBackPlaced = "commit.rolledBackPlaced"
    /// A compaction at open had no room for a copy.
    case noSpaceToCompact = "compaction.noSpace"
    /// A copy column by column broke a rule, and another one was made row by row.
    case copiedRowByRow = "copy.rowByRow"
    case copiedSegments = "copy.segments"
    /// A transaction changed more than its memory budget.
    case spilled = "commit.spilled"
    /// A step of an online compaction moved nodes.
    case compacted = "space.compacted"
    /// A long value was moved.
    case movedValue = "space.movedValue"
    /// A half of the log was full: a checkpoint began.
    case segmentFull = "commit.segmentFull"
    /// A commit waited for another thread's sync.
    case followedLeader = "commit.followedLeader"
    case noSpaceAtCommit = "commit.noSpace"
    case poisoned = "commit.poisoned"
    case failedCheckpoint = "checkpoint.failed"
    case droppedTail = "space.droppedTail"
    case cutFile = "space.cutFile"
    case usedAgain = "space.usedAgain"
    case manyRuns = "space.manyRuns"
    case heldByPin = "space.heldByPin"
    /// The growth step did not fit, and the size needed did.
    case smallerGrowth = "space.smallerGrowth"
    case foldedPatches = "group.foldedPatches"
    case rebuiltGroup = "group.rebuilt"
    case promotedGroups = "group.promoted"
    case mergedGroups = "group.merged"
    case grownTree = "tree.grown"
    case collapsedTree = "tree.collapsed"
    case longValue = "value.long"
    case joinedLeaves = "entries.joinedLeaves"
    case joinedBranches = "entries.joinedBranches"
    /// A page of the mapping could not be read.
    case lostPage = "damage.lostPage"
    case cutWhileOpen = "damage.cutWhileOpen"
    /// The turn to write was lent to another process.
    case lentTurn = "processes.lentTurn"
    /// A guest claimed ownership in the middle of a transaction.
    case guestClaimed = "processes.guestClaimed"
    /// The disk had no room for the lock file.
    case noSpaceForProcesses = "processes.noSpace"
    /// A lock file that this process may not remove was zeroed.
    case lockFileTakenOver = "processes.lockFileTakenOver"
    /// An owner restored its overwritten owner word.
    case ownerWordRestored = "processes.ownerWordRestored"
    /// The owner word named a process without the writer lock.
    case idleOwner = "processes.idleOwner"
    /// A turn was offered to a process that did not accept it.
    case grantWithdrawn = "processes.grantWithdrawn"
    /// An owner had no room to hand ownership over, and refused.
    case refusedOwnership = "processes.refusedOwnership"
    /// The owner died during a guest's transaction, and the guest continued it as the owner.
    case guestOutlivedOwner = "processes.guestOutlivedOwner"
}

@inline(__always)
func mark(_ mark: CoverageMark) {
    #if Zoo || DEBUG
        CoverageMarks.hit(mark)
    #endif
}

/// How often this process has hit each mark.
package enum CoverageMarks {
    /// Whether this build counts hits.
    package static var areCounted: Bool {
        #if Zoo || DEBUG
            true
        #else
            false
        #endif
    }

    private static let counts = Mutex<[CoverageMark: Int]>([:])

    static func hit(_ mark: CoverageMark) {
        let isFirst = counts.withLock { counts in
            counts[mark, default: 0] += 1
            return counts[mark] == 1
        }
        #if Zoo
            if isFirst { CoverageFile.note(mark.rawValue) }
        #else
            _ = isFirst
        #endif
    }

    /// Hits of each mark since the process started; marks without a hit are missing.
    package static var hits: [CoverageMark: Int] { counts.withLock { $0 } }
}
