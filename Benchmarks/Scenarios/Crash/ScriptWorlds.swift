import CaseFiles
import RunRecords

/// The possible contents after a script in which steps failed, derived from the report of its process.
///
/// A step that failed, or during which the process ended, has taken effect or not. The process's own read after the
/// failure decides which, once a later step is acknowledged in the same session; a read before a reopen decides
/// nothing, since recovery may complete the step. Nothing else is uncertain: acknowledged steps have taken effect.
struct ScriptWorlds: ScriptTruth {
    /// The possible contents.
    private(set) var possible: Set<ScriptContent> = [ScriptContent()]
    /// Possible contents before a later acknowledgement excluded them.
    private(set) var older: Set<ScriptContent> = []
    /// Whether the creation of the table was never acknowledged.
    private(set) var mayLackTable = true
    /// The first wrong result that the process itself received; nil without one.
    private(set) var wrong: (outcome: Outcome, detail: String)?
    /// A step that was acknowledged without its sync, in a sentence; nil without one.
    private(set) var unsynced: String?

    private let operations: [ScriptOperation]
    private let keepsAcknowledged: Bool
    /// Steps whose commit was durable in the run without a fault.
    private let synced: Set<Int>
    /// The rows that the process believes to be in the database, by which it chooses what a step does.
    private var believed = ScriptContent()
    /// The rows that it read after the last failed step.
    private var seen: ScriptContent?
    private var begun: Int?

    init(
        _ events: [ScriptEvent], of operations: [ScriptOperation], keepsAcknowledged: Bool, synced: Set<Int> = []
    ) {
        self.operations = operations
        self.keepsAcknowledged = keepsAcknowledged
        self.synced = synced
        for event in events { note(event) }
        // The process ended during this step.
        if let begun { fail(begun) }
    }

    /// Steps whose commit was durable at its acknowledgement.
    static func synced(_ events: [ScriptEvent]) -> Set<Int> {
        Set(events.compactMap { if case .acknowledged(let step, true?) = $0 { step } else { nil } })
    }

    private mutating func note(_ event: ScriptEvent) {
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

    private func change(_ step: Int) -> ScriptChange? {
        guard operations.indices.contains(step - 1) else { return nil }
        return ScriptChange(operations[step - 1], before: believed)
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

    private mutating func see(_ content: ScriptContent) {
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

    /// Judges the rows that were found.
    func judge(_ content: ScriptContent) -> (outcome: Outcome, detail: String) {
        if possible.contains(content) || (!keepsAcknowledged && older.contains(content)) { return (.correct, "") }
        if older.contains(content) { return (.lostCommit, "the rows are those from before something acknowledged") }
        let difference = content.difference(from: believed) ?? ""
        return (.silentlyWrong, "the rows are those of no transaction that may be there: \(difference)")
    }
}
