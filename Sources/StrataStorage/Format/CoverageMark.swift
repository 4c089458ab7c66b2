internal import Synchronization

#if Zoo
    internal import StrataFiles
#endif

/// A branch that is seldom taken and matters: what a test must have met before it says anything about it.
///
/// Hits are counted where the trait Zoo is on and in debug builds; elsewhere a mark is no code at all. The simulation
/// lists those that it never met, and so do `assay run` and `assay soak` of a build with Zoo.
package enum CoverageMark: String, CaseIterable, Sendable {
    /// Replay ended at a batch that was written in part.
    case tornBatch = "log.tornBatch"
    /// Replay flipped a bit back.
    case mendedBit = "log.mendedBit"
    /// Replay went on in the other half.
    case secondHalf = "log.secondHalf"
    /// A record that was durable is missing.
    case lostRecord = "log.lostRecord"
    /// A log was required, and nothing was in it.
    case emptyLog = "recovery.emptyLog"
    case replayed = "recovery.replayed"
    /// The log's name led to another file, and a copy got it.
    case logWrittenAgain = "log.writtenAgain"
    /// A log that this process may not remove was written over, or left behind.
    case logTakenOver = "log.takenOver"
    case logLeft = "log.left"
    case replayedInMemory = "recovery.replayedInMemory"
    /// One slot could not be read, and the log says that it was the newer one.
    case lostSlot = "recovery.lostSlot"
    /// A log of an older format stood beside the store.
    case setLogAside = "recovery.setLogAside"
    /// The data file is older than the log beside it.
    case olderThanLog = "recovery.olderThanLog"
    /// Slots that differ, or a log that no slot requires: an open finished what a close began.
    case settledAtOpen = "recovery.settledAtOpen"
    case noSpaceToRecover = "recovery.noSpace"
    /// A transaction too large for the log.
    case largeTransaction = "commit.largeTransaction"
    /// A transaction that wrote to the file before its commit was given up.
    case rolledBackPlaced = "commit.rolledBackPlaced"
    /// A compaction at open found no room for a copy.
    case noSpaceToCompact = "compaction.noSpace"
    /// A transaction changed more than its memory budget.
    case spilled = "commit.spilled"
    /// A step of an online compaction moved nodes down.
    case compacted = "space.compacted"
    /// A value in a node of its own was moved down.
    case movedValue = "space.movedValue"
    /// The segment was full: a checkpoint began.
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
    /// A growth step did not fit, and what was needed did.
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
    /// A page of the map could not be read.
    case lostPage = "damage.lostPage"
    case cutWhileOpen = "damage.cutWhileOpen"
    /// The turn to write was lent to another process.
    case lentTurn = "processes.lentTurn"
    /// A process took ownership in the middle of a transaction.
    case guestClaimed = "processes.guestClaimed"
    /// The disk had no room for the lock file.
    case noSpaceForProcesses = "processes.noSpace"
    /// A lock file that this process may not remove was emptied.
    case lockFileTakenOver = "processes.lockFileTakenOver"
    /// An owner put the owner word right that somebody had written over.
    case ownerWordRestored = "processes.ownerWordRestored"
    /// The owner word named a process that did not own writing.
    case idleOwner = "processes.idleOwner"
    /// A turn was lent to a process that did not take it.
    case grantWithdrawn = "processes.grantWithdrawn"
    /// An owner had no room to give writing on, and said so.
    case refusedOwnership = "processes.refusedOwnership"
    case guestOutlivedOwner = "processes.guestOutlivedOwner"
}

@inline(__always)
func mark(_ mark: CoverageMark) {
    #if Zoo || DEBUG
        CoverageMarks.hit(mark)
    #endif
}

package enum CoverageMarks {
    /// Whether this build counts.
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

    /// How often each was met since the process started; those never met are missing.
    package static var hits: [CoverageMark: Int] { counts.withLock { $0 } }
}
