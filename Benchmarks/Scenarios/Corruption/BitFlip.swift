import Harness
import RunRecords

/// Flips one bit anywhere in a database's files per trial, and judges what a reader gets.
struct BitFlip: DamageScenario {
    let slug = "bit-flip"
    let question = "When one bit of the file is wrong, does a reader get wrong data?"
    let parameters = [
        DamageShape.parameter,
        ScenarioParameter(
            "trials", .effort, default: 2_000, range: 0...10_000_000,
            summary: "bits chosen by the seed; 0 flips every bit"),
    ]

    /// Bit n of the address is bit n % 8 of byte n / 8, counted over all files in the engine's order.
    func run(_ context: CaseContext) throws {
        let sweep = try DamageSweep(context)
        try sweep.run(sweep.damages(.flip, count: try context.integer("trials"), random: "bits"))
    }
}
