import CaseFiles
import RunRecords

/// What may be there after a history of which steps failed, by what its process said.
///
/// A step that failed, or in which the process ended, was done or was not. Once a later one was acknowledged it is
/// what the process read in between; what it read before it opened anew decides nothing, since recovery may find the
/// step done after all. Nothing else is doubtful: steps that were acknowledged were done.
struct HistoryWorlds: HistoryTruth {
    /// The rows that may be there.
    private(set) var possible: Set<HistoryContent> = [HistoryContent()]
    /// Those that were there before something else was acknowledged.
    private(set) var older: Set<HistoryContent> = []
    /// The table itself was never acknowledged.
    private(set) var mayLackTable = true
    /// What the process itself was told wrong; nil where nothing was.
    private(set) var wrong: (outcome: Outcome, detail: String)?
    /// A step that was acknowledged without its sync, in a sentence; nil where none was.
    private(set) var unsynced: String?

    private let operations: [HistoryOperation]
    private let keepsAcknowledged: Bool
    /// Steps whose commit was durable when no call failed.
    private let synced: Set<Int>
    /// What the process takes to be there: by that it chooses what a step does.
    private var believed = HistoryContent()
    /// What it read after the last step that failed.
    private var seen: HistoryContent?
    private var begun: Int?

    init(
        _ events: [HistoryEvent], of operations: [HistoryOperation], keepsAcknowledged: Bool, synced: Set<Int> = []
    ) {
        self.operations = operations
        self.keepsAcknowledged = keepsAcknowledged
        self.synced = synced
        for event in events { note(event) }
        // It ended in the middle of that.
        if let begun { fail(begun) }
    }

    /// Steps whose commit was seen to be durable.
    static func synced(_ events: [HistoryEvent]) -> Set<Int> {
        Set(events.compactMap { if case .acknowledged(let step, true?) = $0 { step } else { nil } })
    }

    private mutating func note(_ event: HistoryEvent) {
        switch event {
        case .began(let step): begun = step
        case .acknowledged(let step, let isSynced):
            acknowledge(step)
            if isSynced == false, synced.contains(step), keepsAcknowledged {
                unsynced = unsynced ?? "\(name(step)) was acknowledged, and no sync of what it wrote went well"
            }
        case .failed(let step, _): fail(step)
        case .saw(let content): see(content)
        case .sawWrong(let text): blame(.silentlyWrong, "read by the process that met the error: \(text)")
        case .sawNothing, .counted, .stuck, .broke: break
        }
    }

    private func change(_ step: Int) -> HistoryChange? {
        guard operations.indices.contains(step - 1) else { return nil }
        return HistoryChange(operations[step - 1], before: believed)
    }

    private mutating func acknowledge(_ step: Int) {
        begun = nil
        if step == 0 { mayLackTable = false }
        guard let change = change(step) else {
            seen = nil
            return
        }
        older.formUnion(possible)
        if let seen, possible.contains(seen) { possible = [seen] }
        possible = Set(possible.map { change.applied(to: $0) })
        believed = change.applied(to: believed)
        seen = nil
    }

    private mutating func fail(_ step: Int) {
        begun = nil
        guard let change = change(step) else { return }
        possible.formUnion(possible.map { change.applied(to: $0) })
        seen = nil
    }

    private mutating func see(_ content: HistoryContent) {
        let (outcome, detail) = judge(content)
        if outcome != .correct { blame(outcome, "read by the process that met the error: \(detail)") }
        possible.insert(content)
        (believed, seen) = (content, content)
    }

    private mutating func blame(_ outcome: Outcome, _ detail: String) {
        if wrong.map({ $0.outcome.gravity < outcome.gravity }) ?? true { wrong = (outcome, detail) }
    }

    private func name(_ step: Int) -> String {
        operations.indices.contains(step - 1) ? operations[step - 1].label : "step \(step)"
    }

    /// What is to be said of these rows.
    func judge(_ content: HistoryContent) -> (outcome: Outcome, detail: String) {
        if possible.contains(content) || (!keepsAcknowledged && older.contains(content)) { return (.correct, "") }
        if older.contains(content) { return (.lostCommit, "the rows are those from before something acknowledged") }
        let difference = content.difference(from: believed) ?? ""
        return (.silentlyWrong, "the rows are those of no transaction that may be there: \(difference)")
    }
}
