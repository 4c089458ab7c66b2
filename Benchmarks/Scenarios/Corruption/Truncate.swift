import FaultModel
import Harness
import RunRecords

/// Truncates a file of the database per trial: at every page boundary and at lengths chosen by the seed, or at every
/// length.
struct Truncate: DamageScenario {
    let slug = "truncate"
    let question = "When the file was cut short, does a reader get wrong data, or crash?"
    let parameters = DamageShape.parameters(trials: "random lengths beside every page boundary; 0 cuts at every length")

    /// The position in an address is that of the first missing byte, counted over all files in the engine's order.
    func run(_ context: CaseContext) throws {
        let sweep = try DamageSweep(context)
        var random = context.random("cuts")
        let count = try context.integer("trials")
        var cuts = Set(sweep.damaged.positions(count: count, scale: 1, random: &random))
        for file in sweep.files {
            cuts.formUnion(stride(from: file.start, to: file.start + file.bytes.count, by: DamageSweep.pageBytes))
        }
        try sweep.run(cuts.sorted().map { FileDamage(.cut, $0) })
    }
}
