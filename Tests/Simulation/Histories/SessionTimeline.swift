/// The states that the next process may find on a disk.
struct PossibleStates {
    /// The states that it may read, oldest first; caches survive a process's death.
    var found: [HistoryModel]
    /// The states after a loss of power before that process has opened the store: un-synced work may be lost.
    var left: [HistoryModel]

    /// For a fully synced disk.
    init(_ states: [HistoryModel]) {
        found = states
        left = states
    }

    init(found: [HistoryModel], left: [HistoryModel]) {
        self.found = found
        self.left = left
    }
}

/// The allowed states of a disk, by the number of requested operations at the crash: acknowledged <= v <= attempted
/// under `full`, and under all classes no less than the store reports as synced.
struct SessionTimeline {
    private struct Mark {
        /// Valid from this operation on, until the next mark.
        var operation: Int
        /// The newest allowed state.
        var newest: Int
        /// The oldest allowed state after a loss of power, and after the death of the process.
        var synced: Int
        var written: Int
    }

    private let before: PossibleStates
    /// The number of requested operations when the open completed; the state read then must stay.
    let opened: Int
    private var states: [(version: UInt64, model: HistoryModel)]
    private var marks: [Mark]

    init(after before: PossibleStates, opened: Int, version: UInt64, _ model: HistoryModel) {
        self.before = before
        self.opened = opened
        states = [(version, model)]
        marks = [Mark(operation: opened, newest: 0, synced: 0, written: 0)]
    }

    /// A commit begins: its state is allowed from the next operation on.
    mutating func begin(_ model: HistoryModel, at operation: Int) {
        states.append((.max, model))
        let newest = states.count - 1
        mark(operation + 1) { $0.newest = newest }
    }

    /// The last commit made a version and was acknowledged.
    mutating func end(version: UInt64, at operation: Int) {
        states[states.count - 1].version = version
        mark(operation) { _ in }
    }

    /// Versions up to `synced` survive a loss of power, versions up to `written` only the death of the process.
    mutating func keep(synced: UInt64, written: UInt64, at operation: Int) {
        let kept = [synced, written].map { version in states.lastIndex { $0.version <= version } ?? 0 }
        mark(operation) {
            $0.synced = max($0.synced, kept[0])
            $0.written = max($0.written, kept[0], kept[1])
        }
    }

    /// Every begun transaction must stay.
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

    /// The states after the process died at this number of requested operations.
    func afterDeath(at operation: Int) -> PossibleStates {
        if operation < opened { return before }
        let mark = bounds(operation)
        return PossibleStates(found: models(mark.written, mark.newest), left: models(mark.synced, mark.newest))
    }

    /// The states after power was lost at this number of requested operations.
    func afterLoss(at operation: Int) -> PossibleStates {
        if operation < opened { return PossibleStates(before.left) }
        let mark = bounds(operation)
        return PossibleStates(models(mark.synced, mark.newest))
    }

    private func models(_ oldest: Int, _ newest: Int) -> [HistoryModel] {
        states[oldest...max(oldest, newest)].map(\.model)
    }
}
