import Harness
import RunRecords

/// How many troubles of a sweep struck the process that they were for: one that did not says nothing.
struct TroubleTally {
    private let struck: TrialTally
    private let unstruck: TrialTally
    private let told: TrialTally
    /// A commit without its sync, which was not seen again when the same was played once more.
    let once: TrialTally
    /// What a trouble is called, in the plural.
    private let plural: String

    init(_ context: CaseContext, _ plural: String, group: String = "") {
        struck = TrialTally(context, "struck" + group)
        unstruck = TrialTally(context, "unstruck" + group)
        told = TrialTally(context, "told" + group)
        once = TrialTally(context, "once" + group)
        self.plural = plural
    }

    func note(_ history: HistoryProcess) throws {
        try (history.struck > 0 ? struck : unstruck).add()
        if history.struck > 0, history.failures > 0 { try told.add() }
    }

    /// - Returns: how many struck.
    @discardableResult
    func tell(_ context: CaseContext, label: String = "") throws -> (struck: Int, of: Int) {
        let (struck, unstruck, told) = (try struck.count(), try unstruck.count(), try told.count())
        let all = struck + unstruck
        let name = label.isEmpty ? "" : "\(label): "
        if all == 0 { return (0, 0) }
        context.report.add(
            .faultsStruck, Double(struck), statistic: "count", label: label.isEmpty ? "of \(all) trials" : label)
        context.report.note(
            "\(name)\(struck) of \(all) \(plural) struck; in \(told) of these trials the engine gave an error")
        let once = try once.count()
        if once > 0 {
            context.report.note(
                "\(name)UNSYNCED ONCE: in \(once) of \(all) trials a commit was acknowledged without its sync, and not "
                    + "when the trial was repeated: a race, of the engine or of who watches it")
        }
        return (struck, all)
    }

    /// Tells it, and says where nothing can be concluded. `why`: how one comes not to strike.
    func report(_ context: CaseContext, why: String) throws {
        let (struck, all) = try tell(context)
        if struck < all { context.report.note("NOT STRUCK: \(all - struck) of \(all): \(why)") }
        context.require(struck, "no fault struck: nothing is known")
        if all - struck > struck { context.require(0, "most \(plural) never struck") }
    }
}

extension Metric {
    static let faultsStruck = Metric("faults_struck", unit: "count", .neutral, .measured)
}
