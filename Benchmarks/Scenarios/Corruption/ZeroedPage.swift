import Harness
import RunRecords

/// Zeroes one page of a database's files per trial, as after a lost write, and judges what a reader gets.
struct ZeroedPage: DamageScenario {
    let slug = "zero-page"
    let question = "When a page of the file is all zeros, does a reader get wrong data, or crash?"
    let parameters = DamageShape.parameters(trials: "pages chosen by the seed; 0 zeroes every page")

    /// The position in an address is that of the page's first byte, counted over all files in the engine's order.
    /// Pages that contain only zeros are left out.
    func run(_ context: CaseContext) throws {
        let sweep = try DamageSweep(context)
        try sweep.run(sweep.damages(.zero, count: try context.integer("trials"), random: "pages"))
    }
}
