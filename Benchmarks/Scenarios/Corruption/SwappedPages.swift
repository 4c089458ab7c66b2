import Harness
import RunRecords

/// Swaps two pages of a database's file, and judges what a reader gets.
///
/// Each page is intact, as its engine wrote it: a checksum of the page alone finds nothing wrong.
struct SwappedPages: DamageScenario {
    let slug = "swapped-pages"
    let question = "When two pages are swapped, does a reader get wrong data, or crash?"
    let parameters = DamageShape.parameters(
        trials: "pairs chosen by the seed, beside those of the first pages; 0: each page with the next one")

    /// The positions in an address are those of the first bytes of both pages, counted over all files.
    func run(_ context: CaseContext) throws {
        let sweep = try DamageSweep(context)
        try sweep.run(sweep.damagesWithHeads(.swap, count: try context.integer("trials"), random: "swapped pages"))
    }
}
