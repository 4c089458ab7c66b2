import FaultModel
import Harness
import RunRecords

/// Each trial damages a copy of a database, and compares a read, the engine's check, and the engine's salvage.
///
/// A check is wrong if it finds nothing where a read is wrong or reports damage. A salvage is wrong if it returns a
/// value that never was there without marking it, if it lacks a row without reporting it, or if it reports more losses
/// than there are (`SalvageOracle`). Each step has a copy and a process of its own, so that none affects the others.
/// The outcome is the graver one of check and salvage; other scenarios judge plain reads.
struct SalvageTrials: DamageScenario {
    let slug = "salvage"
    let question = "What can an engine salvage from damaged files, and does it report its losses correctly?"
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
            // A count of 0 would mean all of them.
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
