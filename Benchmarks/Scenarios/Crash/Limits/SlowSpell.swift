import Harness
import Measuring
import RunRecords

/// One writer commits, each commit adding 1 to a row, while the disk is slow for a period: measures commit latencies
/// before, during and after it, and the time until they have recovered.
///
/// The preloaded library delays syncs and writes; a run without a delay is the control. A commit that never returns is
/// `hung`. So is a writer that does not recover within the bound: from some time until the end, the median of the
/// commits of each tenth of a second is at most twice the median before the period. The case is `inconclusive` if the
/// delay does not show in the commits, or if the control does not recover either.
struct SlowSpell: Scenario {
    let slug = "slow-spell"
    let family = Family.crash
    let question = "How slow are commits while the disk is slow, and how soon do they recover?"
    let requires: Set<Capability> = [.tables, .persistent, .updates]
    let schedule = Schedule.free
    let durability: DurabilityClass? = .full
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .durability
    let parameters = [
        ScenarioParameter(
            "part_ms", .condition, default: 1_000, range: 50...60_000,
            summary: "milliseconds of each part: before, in and after the spell"),
        ScenarioParameter(
            "spell_sync_us", .condition, default: 40_000, range: 0...10_000_000,
            summary: "microseconds that a sync takes longer in the spell"),
        ScenarioParameter(
            "spell_write_us", .condition, default: 1_000, range: 0...10_000_000,
            summary: "microseconds that a write takes longer in the spell"),
        ScenarioParameter(
            "bound_ms", .allowance, default: 5_000, range: 1...600_000,
            summary: "milliseconds after the spell until commits have to be as fast as before"),
    ]
    /// It slows the disk by itself.
    let conditions: Set<Condition> = [.memoryLimit]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome.brokenPromise(or: expects) }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        guard let witness = context.witness() else { return }
        let writer = try SpellWriter(context, witness)
        let start = witness.counts()
        let played = try writer.play()
        let met = witness.counts() - start
        guard let (control, spell) = played.courses else {
            let (outcome, detail) = played.end
            return context.report.add(
                Trial(address: FaultAddress(text: "recovery"), outcome: outcome, detail: detail))
        }
        report(control, label: "control", context)
        report(spell, label: "spell", context)
        context.report.add(
            Metric("delayed_syncs", unit: "count", .neutral, .measured), Double(met.delayedSyncs), label: "spell")
        try judge(control, spell, isDelayed: met.delayedSyncs + met.delayedWrites > 0, context)
        let finding = try writer.judgeContent(acknowledged: played.acknowledged)
        context.report.add(
            Trial(address: FaultAddress(text: "content"), outcome: finding.outcome, detail: finding.detail))
    }

    private func judge(
        _ control: SpellCourse, _ spell: SpellCourse, isDelayed: Bool, _ context: CaseContext
    ) throws {
        let report = context.report
        let bound = UInt64(try context.integer("bound_ms")) * 1_000_000
        guard isDelayed, spell.shows else {
            return report.inconclusive(
                "THE SPELL DID NOT SHOW: \(isDelayed ? "commits in it were as fast as before" : "nothing was delayed")")
        }
        let (before, last) = (SpellCourse.median(spell.before), spell.after.suffix(SpellCourse.window))
        guard let recovery = spell.recovery, recovery <= bound else {
            guard control.recovery.map({ $0 <= bound }) ?? false else {
                return report.inconclusive(
                    "THE MACHINE IS UNSTEADY: commits were not as fast as before within the bound, nor were they in "
                        + "the control, without a slow disk")
            }
            let words =
                "not back within \(bound / 1_000_000) ms: the last commits take "
                + "\(SpellCourse.median(last) / 1_000) us, those before the spell \(before / 1_000) us"
            return report.add(Trial(address: FaultAddress(text: "recovery"), outcome: .hung, detail: words))
        }
        report.add(.spellRecovery, Double(recovery) / 1e6, label: "spell")
        report.add(Trial(address: FaultAddress(text: "recovery"), outcome: .correct))
    }

    private func report(_ course: SpellCourse, label: String, _ context: CaseContext) {
        for (name, values) in [("before", course.before), ("in", course.during), ("after", course.after)] {
            var histogram = Histogram()
            for value in values { histogram.record(value) }
            context.report.add(histogram, name: "\(label): \(name)")
            context.report.add(
                .latencyNanoseconds, Double(SpellCourse.median(values)), statistic: "median", count: values.count,
                label: "\(label): \(name)")
        }
        if label == "control", let recovery = course.recovery {
            context.report.add(.spellRecovery, Double(recovery) / 1e6, label: label)
        }
    }
}

extension Metric {
    /// From the end of the delay until commits are permanently as fast as before.
    static let spellRecovery = Metric("spell_recovery_ms", unit: "ms", .lowerIsBetter, .measured)
}
