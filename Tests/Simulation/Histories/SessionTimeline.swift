/// What the next process may find on a disk.
struct PossibleStates {
    /// What it reads, oldest first: caches live on when a process dies.
    var found: [HistoryModel]
    /// What is left if power goes before that process has the store open: what the dead one did not sync may be lost.
    var left: [HistoryModel]

    /// For a disk on which everything is synced.
    init(_ states: [HistoryModel]) {
        found = states
        left = states
    }

    init(found: [HistoryModel], left: [HistoryModel]) {
        self.found = found
        self.left = left
    }
}

/// Which states a disk may hold, by how much of a session had been asked for when power went or the process died:
/// acknowledged <= v <= attempted under `full`, and no less than the store itself calls synced under all classes.
struct SessionTimeline {
    private struct Mark {
        /// From this operation on, until the next mark.
        var operation: Int
        /// The newest state that may be there.
        var newest: Int
        /// The oldest one that may be left by a loss of power, and by the death of the process.
        var synced: Int
        var written: Int
    }

    private let before: PossibleStates
    /// So many operations had been asked for when the store was open: what was read then stays.
    let opened: Int
    private var states: [(version: UInt64, model: HistoryModel)]
    private var marks: [Mark]

    init(after before: PossibleStates, opened: Int, version: UInt64, _ model: HistoryModel) {
        self.before = before
        self.opened = opened
        states = [(version, model)]
        marks = [Mark(operation: opened, newest: 0, synced: 0, written: 0)]
    }

    /// A commit begins: its state may be there from the next operation on.
    mutating func begin(_ model: HistoryModel, at operation: Int) {
        states.append((.max, model))
        let newest = states.count - 1
        mark(operation + 1) { $0.newest = newest }
    }

    /// The commit that began last made a version and was acknowledged.
    mutating func end(version: UInt64, at operation: Int) {
        states[states.count - 1].version = version
        mark(operation) { _ in }
    }

    /// Versions up to these are on the disk, or written: the second outlive the process alone.
    mutating func keep(synced: UInt64, written: UInt64, at operation: Int) {
        let kept = [synced, written].map { version in states.lastIndex { $0.version <= version } ?? 0 }
        mark(operation) {
            $0.synced = max($0.synced, kept[0])
            $0.written = max($0.written, kept[0], kept[1])
        }
    }

    /// Everything that was begun stays.
    mutating func keepAll(at operation: Int) {
        let newest = states.count - 1
        mark(operation) {
            $0.synced = newest
            $0.written = newest
        }
    }

    private mutating func mark(_ operation: Int, _ change: (inout Mark) -> Void) {
        var next = marks[marks.count - 1]
        next.operation = max(next.operation, operation)
        change(&next)
        marks.append(next)
    }

    private func bounds(_ operation: Int) -> Mark { marks.last { $0.operation <= operation } ?? marks[0] }

    /// When so many operations had been asked for, the process died.
    func afterDeath(at operation: Int) -> PossibleStates {
        if operation < opened { return before }
        let mark = bounds(operation)
        return PossibleStates(found: models(mark.written, mark.newest), left: models(mark.synced, mark.newest))
    }

    /// When so many operations had been asked for, power went.
    func afterLoss(at operation: Int) -> PossibleStates {
        if operation < opened { return PossibleStates(before.left) }
        let mark = bounds(operation)
        return PossibleStates(models(mark.synced, mark.newest))
    }

    private func models(_ oldest: Int, _ newest: Int) -> [HistoryModel] {
        states[oldest...max(oldest, newest)].map(\.model)
    }
}
