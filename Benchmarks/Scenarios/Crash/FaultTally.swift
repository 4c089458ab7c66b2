import Harness
import RunRecords

/// Counts the faults of a sweep that struck: a trial whose fault did not strike its process shows nothing.
struct FaultTally {
    private let struck: TrialTally
    private let unstruck: TrialTally
    private let told: TrialTally
    /// Trials in which a commit was acknowledged without its sync, but not when the same script was played again.
    let once: TrialTally
    /// The name of the faults, in the plural.
    private let plural: String

    init(_ context: CaseContext, _ plural: String, group: String = "") {
        struck = TrialTally(context, "struck" + group)
        unstruck = TrialTally(context, "unstruck" + group)
        told = TrialTally(context, "told" + group)
        once = TrialTally(context, "once" + group)
        self.plural = plural
    }

    func note(_ script: ScriptProcess) throws {
        try (script.struck > 0 ? struck : unstruck).add()
        if script.struck > 0, script.failures > 0 { try told.add() }
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
                    + "when the trial was repeated: a race, of the engine or of the preloaded library")
        }
        return (struck, all)
    }

    /// Reports the counts, and makes the case inconclusive if too few faults struck. `why`: how a fault can fail to
    /// strike.
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
