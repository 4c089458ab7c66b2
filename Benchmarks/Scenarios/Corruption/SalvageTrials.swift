import FaultModel
import Harness
import RunRecords

/// A damaged copy of a database per trial: what does a read give, what does the engine's check say, and what does its
/// salvage get back?
///
/// A check lies that finds nothing where a read is wrong, or says that there is damage. A salvage lies that returns a
/// value which never was there without marking it, that lacks a row and does not say so, or that says more is lost than
/// is (`SalvageOracle`). Each step has a copy of its own, and a process of its own: what one of them does to files, or
/// how it ends, is no matter of the others. The outcome is the graver one of check and salvage; what reads alone give
/// is for other scenarios to judge.
struct SalvageTrials: DamageScenario {
    let slug = "salvage"
    let question = "What does an engine get back of damaged files, and does it say truly what it does not?"
    let requires: Set<Capability> = [.tables, .persistent, .checks]
    let parameters = [
        DamageShape.parameter,
        ScenarioParameter(
            "trials", .effort, default: 200, range: 1...1_000_000,
            summary: "damaged copies: flips, zeroed pages, cuts, swapped pages, misdirected writes in equal shares"),
    ]

    private static let kinds: [FileDamage.Kind] = [.flip, .zero, .cut, .swap, .misdirect]

    func run(_ context: CaseContext) throws {
        let sweep = try DamageSweep(context)
        guard let steps = try SalvageSteps(context, sweep) else { return sweep.removeCopies() }
        let count = try context.integer("trials")
        var damages: [FileDamage] = []
        for (index, kind) in Self.kinds.enumerated() {
            let share = count * (index + 1) / Self.kinds.count - count * index / Self.kinds.count
            // 0 would mean all.
            if share > 0 { damages += sweep.damages(kind, count: share, random: "salvage \(kind.rawValue)") }
        }
        try steps.tryUndamaged()
        try sweep.run(damages, secondsPerTrial: 90) { address, location in
            try steps.run(address, location)
        }
        let figures = try steps.figures(in: Self.kinds.map(\.word))
        for figure in figures {
            for kind in SalvageFigures.Count.allCases {
                context.report.add(
                    .salvageCount, Double(figure[kind]), statistic: "count", label: figure.label(kind))
            }
        }
        if steps.salvages {
            context.require(
                figures.reduce(0) { $0 + $1[.salvaged] }, "no salvage of a damaged copy made a database")
        }
    }
}
