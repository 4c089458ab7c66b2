import Harness
import RunRecords

/// Overwrites one page of a database's file with the content of another, and judges what a reader gets.
///
/// The overwritten page is intact, as the engine wrote it, but it belongs elsewhere.
struct MisdirectedWrite: DamageScenario {
    let slug = "misdirected-write"
    let question = "When a page was written over with another one, does a reader get wrong data, or crash?"
    let parameters = DamageShape.parameters(
        trials: "pairs chosen by the seed, beside those of the first pages; 0: each page over the next one")

    /// The positions in an address are those of the first bytes of the source page and of the overwritten one, counted
    /// over all files.
    func run(_ context: CaseContext) throws {
        let sweep = try DamageSweep(context)
        let count = try context.integer("trials")
        try sweep.run(sweep.damagesWithHeads(.misdirect, count: count, random: "misdirected writes"))
    }
}
