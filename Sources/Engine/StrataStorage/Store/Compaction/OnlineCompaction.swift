// An online compaction is a sequence of ordinary transactions that change no row. Each moves some nodes from the end of
// the file to free pages nearer to its start, and commits an empty record. So readers, pins, crashes and replay need no
// special case: a replay ends with the same rows on other pages. The pages of moved nodes are freed as after any
// change, when neither a pin nor the last checkpoint needs them; then the file is truncated.
//
// A background thread takes each step. It holds the write gate while it copies ``StoreLimits/compactionStep`` pages, or
// the largest single value, or truncates the file by a piece. A step that moves nodes waits for no sync: its record
// goes to the log with that of the next commit, or before the checkpoint that frees the moved pages.

/// Decides when an online compaction begins, and what each of its steps does.
///
/// Does no I/O. Guarded by the write gate.
struct OnlineCompaction {
    /// Action of a step.
    enum Step {
        /// Wait; ask again at the next step.
        case nothing
        /// Wait until this version is durable, without a sync under the write gate.
        case waitUntilDurable(UInt64)
        /// Begin a checkpoint of the newest version.
        case checkpoint
        /// Move nodes that end after page `limit`, from a cursor on; then call ``hasMoved(to:)``.
        case move(from: CompactionCursor, limit: Int)
        /// Truncate the file by at most this many pages; then call ``hasCut(to:)``.
        case cut(atMost: Int)
        /// The pass is over.
        case finish
    }

    /// State of the store before a step.
    struct Situation {
        var isCheckpointing = false
        /// The newest version, if it is not durable yet.
        var undurable: UInt64?
        var space = Space(pages: 0, free: 0, held: 0)
        var definitions: SchemaDefinitions
    }

    /// Pages of the file's contents, free pages, and pages that only older versions use.
    struct Space {
        var pages: Int
        var free: Int
        var held: Int
    }

    private enum Phase {
        /// A checkpoint frees pages that only the previous one needs.
        case releasing
        /// The new size of the file is chosen.
        case planning
        /// Nodes are moved.
        case moving
        /// A checkpoint frees the pages of moved nodes.
        case freeing
        /// A checkpoint of the shorter contents.
        case trimming
        /// The file is truncated.
        case cutting
    }

    /// A compaction from its first step to its last.
    private struct Pass {
        var phase = Phase.releasing
        var cursor = CompactionCursor()
        /// Page at or below which moved nodes are to end, and new nodes of all commits until the file is truncated.
        var limit: Int?
        /// A change of the schema ends the pass, since the cursor counts tables.
        var definitions: SchemaDefinitions?
        /// Pages of the file after the last truncation.
        var capacity: Int?
        /// Delays because the newest commit was not durable yet.
        var delays = 0
    }

    /// After this many delays a step does not wait until the newest commit is durable, but has it synced while it holds
    /// the write gate.
    private static let mostDelays = 64
    /// Pages to truncate at a time.
    private static let piece = 1024

    /// Share of free pages above which a pass begins; nil if no pass ever begins.
    private let share: Double?
    private let minimum: Int
    private let interval: Int
    private var pass: Pass?
    /// A thread will take the next step. Stays true after ``forget()``, until that thread finds the pass over.
    private var hasStep = false
    /// Commit count from which on the next pass may begin.
    private var nextBegin = 0

    /// - Parameters:
    ///   - share: of free pages, above which a pass begins; nil for never.
    ///   - minimum: free pages below which no pass begins.
    ///   - interval: commits between the starts of two passes.
    init(share: Double?, minimum: Int, interval: Int) {
        self.share = share
        self.minimum = minimum
        self.interval = interval
    }

    /// Page at or below which new nodes of any transaction should end, if there is room; nil if no pass needs that.
    var limit: Int? { pass?.limit }

    /// Whether a pass may begin after this many commits, if there is space to gain.
    func mayBegin(afterCommits commits: Int) -> Bool { share != nil && !hasStep && commits >= nextBegin }

    /// Begins a pass if there is space to gain.
    /// - Returns: whether the caller has to start the thread of the first step.
    mutating func begins(afterCommits commits: Int, _ space: Space) -> Bool {
        guard mayBegin(afterCommits: commits), isSpare(space, heldToo: true) else { return false }
        pass = Pass()
        hasStep = true
        nextBegin = commits + interval
        return true
    }

    /// Ends the pass: it is done, or no thread could be started for its next step.
    mutating func end() {
        pass = nil
        hasStep = false
    }

    /// Ends the pass after another process owned writing, since its commits were not counted.
    mutating func forget() {
        pass = nil
        nextBegin = 0
    }

    /// Whether there is enough space to gain.
    /// - Parameter heldToo: counts held pages, too, which older versions keep from being free.
    private func isSpare(_ space: Space, heldToo: Bool) -> Bool {
        guard let share else { return false }
        let spare = space.free + (heldToo ? space.held : 0)
        return spare >= minimum && Double(spare) > share * Double(space.pages)
    }

    /// The action of the step that is due.
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
            // Room for what commits write meanwhile, and for the branches above moved nodes.
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

    /// Notes that the nodes before a cursor were moved; nil if all were.
    mutating func hasMoved(to cursor: CompactionCursor?) {
        if let cursor { pass?.cursor = cursor } else { pass?.phase = .freeing }
    }

    /// Notes that a step truncated the file.
    /// - Returns: whether more may be cut.
    mutating func hasCut(to capacity: Int) -> Bool {
        defer { pass?.capacity = capacity }
        guard let before = pass?.capacity else { return true }
        return capacity <= before - Self.piece
    }
}

extension OnlineCompaction {
    /// With the policy of a store's options.
    init(_ options: StoreOptions) {
        var wanted: Double?
        if case .online(let share) = options.compaction, options.fileSystem.isPersistent, !options.readOnly {
            wanted = share
        }
        self.init(
            share: wanted, minimum: options.limits.compactionMinimum, interval: options.limits.compactionInterval)
    }
}
