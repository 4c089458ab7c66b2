import Harness
import RunRecords

/// One page of a database's files zeroed per trial, as a disk does that lost a write: what does a reader get?
struct ZeroedPage: DamageScenario {
    let slug = "zero-page"
    let question = "When a page of the file is all zeros, does a reader get wrong data, or crash?"
    let parameters = [
        DamageShape.parameter,
        ScenarioParameter(
            "trials", .effort, default: 200, range: 0...1_000_000,
            summary: "pages chosen by the seed; 0 zeroes every page"),
    ]

    /// The position in an address is that of the page's first byte, counted over all files in the engine's order.
    /// Pages that hold zeros only are left out: zeroing them changes nothing.
    func run(_ context: CaseContext) throws {
        let sweep = try DamageSweep(context)
        try sweep.run(sweep.damages(.zero, count: try context.integer("trials"), random: "pages"))
    }
}
