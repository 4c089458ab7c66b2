// An online compaction is a row of ordinary transactions that change no row: each moves some nodes from the end of the
// file to free pages further down, and commits an empty record. So readers, pins, crashes and replay are dealt with
// like for any other commit: a replay ends with the same rows on other pages. What the moved nodes leave becomes free
// as after any change, when neither a pin nor the last checkpoint needs it; then the end of the file is cut.
//
// Each step is a piece of background work of its own, which has the write gate for as long as it takes to copy
// ``StoreLimits/compactionStep`` pages, or the largest single value, or to cut a piece off the file. It waits for no
// sync: its record goes to the log with the next commit's, or before the checkpoint that frees what was moved from.

/// Decides when an online compaction begins, and what each of its steps does.
///
/// Does nothing to a file. Guarded by the write gate.
struct OnlineCompaction {
    /// What a step has to do.
    enum Step {
        /// Nothing yet: the next step asks again.
        case nothing
        /// Nothing before this version is durable: it asks for no sync with the write gate held.
        case waitUntilDurable(UInt64)
        /// To begin a checkpoint of the newest version.
        case checkpoint
        /// To move nodes that end behind page `limit`, from a cursor on; ``hasMoved(to:)`` is told how far it came.
        case move(from: CompactionCursor, limit: Int)
        /// To cut so many pages off the file at most; ``hasCut(to:)`` is told what is left.
        case cut(atMost: Int)
        /// The pass is over.
        case finish
    }

    /// How a store stands before a step.
    struct Situation {
        var isCheckpointing = false
        /// The newest version, while it is not durable.
        var undurable: UInt64?
        var space = Space(pages: 0, free: 0, held: 0)
        var definitions: SchemaDefinitions
    }

    /// Pages of the file's contents, free ones, and ones that older versions alone use.
    struct Space {
        var pages: Int
        var free: Int
        var held: Int
    }

    private enum Phase {
        /// A checkpoint lets go of pages that only the one before needs.
        case releasing
        /// How far the file can shrink is decided.
        case planning
        /// Nodes are moved.
        case moving
        /// A checkpoint without what was moved away from.
        case freeing
        /// A checkpoint with a shorter file.
        case trimming
        /// The end is cut.
        case cutting
    }

    /// From the first step to the last.
    private struct Pass {
        var phase = Phase.releasing
        var cursor = CompactionCursor()
        /// Nodes shall end at or below this page: those that are moved, and those of all commits until the file is cut.
        var limit: Int?
        /// A change of the schema ends the pass: the cursor counts tables.
        var definitions: SchemaDefinitions?
        /// Pages of the file after the last cut.
        var capacity: Int?
        /// How often a step was put off because the newest commit was not durable yet.
        var delays = 0
    }

    /// So often a step is put off rather than to sync the commits of others with the write gate held.
    private static let mostDelays = 64
    /// Pages that are cut off the file at a time.
    private static let piece = 1024

    /// The share of free pages above which a pass begins; nil where none ever does.
    private let share: Double?
    private let minimum: Int
    private let interval: Int
    private var pass: Pass?
    /// Somebody comes for the next step. Outlives the pass when writing goes to another process.
    private var hasStep = false
    /// The commit from which on the next pass may begin.
    private var nextBegin = 0

    /// - Parameters:
    ///   - share: of free pages, above which a pass begins; nil for none.
    ///   - minimum: free pages that are not worth a pass.
    ///   - interval: commits between the begins of two passes.
    init(share: Double?, minimum: Int, interval: Int) {
        self.share = share
        self.minimum = minimum
        self.interval = interval
    }

    /// Nodes shall end at or below this page, where there is room; nil where it does not matter.
    var limit: Int? { pass?.limit }

    /// Whether a pass may begin after so many commits, should there be space to win.
    func mayBegin(afterCommits commits: Int) -> Bool { share != nil && !hasStep && commits >= nextBegin }

    /// Begins a pass where there is space to win.
    /// - Returns: whether somebody has to come for the first step.
    mutating func begins(afterCommits commits: Int, _ space: Space) -> Bool {
        guard mayBegin(afterCommits: commits), isSpare(space, heldToo: true) else { return false }
        pass = Pass()
        hasStep = true
        nextBegin = commits + interval
        return true
    }

    /// The pass is over, or nobody can come for its next step.
    mutating func end() {
        pass = nil
        hasStep = false
    }

    /// Another process has written meanwhile, and its commits were not counted.
    mutating func forget() {
        pass = nil
        nextBegin = 0
    }

    /// - Parameter heldToo: counts what would be free without readers of older versions, and after a checkpoint.
    private func isSpare(_ space: Space, heldToo: Bool) -> Bool {
        guard let share else { return false }
        let spare = space.free + (heldToo ? space.held : 0)
        return spare >= minimum && Double(spare) > share * Double(space.pages)
    }

    /// What the step that somebody has come for does.
    mutating func step(_ situation: Situation) -> Step {
        guard var pass else { return .finish }
        if pass.phase != .moving {
            if situation.isCheckpointing { return .nothing }
            if let version = situation.undurable, pass.delays < Self.mostDelays {
                self.pass?.delays += 1
                return .waitUntilDurable(version)
            }
        }
        let step = step(situation, &pass)
        self.pass = pass
        return step
    }

    private func step(_ situation: Situation, _ pass: inout Pass) -> Step {
        let space = situation.space
        switch pass.phase {
        case .releasing:
            pass.phase = .planning
            return space.held > space.free / 2 ? .checkpoint : .nothing
        case .planning:
            if !isSpare(space, heldToo: false) { return .finish }
            // Room for what commits write meanwhile, and for the branches above what is moved.
            let slack = max(minimum / 4, space.free / 8)
            pass.limit = space.pages - space.free + slack
            pass.definitions = situation.definitions
            pass.phase = .moving
            return .nothing
        case .moving:
            guard let limit = pass.limit, situation.definitions === pass.definitions else { return .finish }
            return .move(from: pass.cursor, limit: limit)
        case .freeing:
            pass.phase = .trimming
            return .checkpoint
        case .trimming:
            pass.phase = .cutting
            return .checkpoint
        case .cutting: return .cut(atMost: Self.piece)
        }
    }

    /// Nodes in front of a cursor were moved; nil when that were all.
    mutating func hasMoved(to cursor: CompactionCursor?) {
        if let cursor { pass?.cursor = cursor } else { pass?.phase = .freeing }
    }

    /// A step has cut the file.
    /// - Returns: whether there may be more to cut.
    mutating func hasCut(to capacity: Int) -> Bool {
        defer { pass?.capacity = capacity }
        guard let before = pass?.capacity else { return true }
        return capacity <= before - Self.piece
    }
}

extension OnlineCompaction {
    /// As a store's options ask for it.
    init(_ options: StoreOptions) {
        var wanted: Double?
        if case .online(let share) = options.compaction, options.fileSystem.isPersistent, !options.readOnly {
            wanted = share
        }
        self.init(
            share: wanted, minimum: options.limits.compactionMinimum, interval: options.limits.compactionInterval)
    }
}
