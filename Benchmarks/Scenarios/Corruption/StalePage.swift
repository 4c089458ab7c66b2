import Harness
import RunRecords

/// Replaces a page by its content in an earlier copy, as after a write that a disk acknowledged and lost, and judges
/// what a reader gets.
///
/// The page is intact and in its place, but outdated. Header pages count too: an engine that falls back to a complete
/// older state has lost what was acknowledged since.
struct StalePage: DamageScenario {
    let slug = "stale-page"
    let question = "When a page is as it was before the last changes, does a reader get wrong or old data, or crash?"
    let requires: Set<Capability> = [.tables, .persistent, .updates]
    let keepsOlder = true
    let parameters = DamageShape.parameters(
        trials: "pages that changed, chosen by the seed, beside the first ones; 0: every one of them")

    /// The position in an address is that of the page's first byte, counted over all files in the engine's order.
    func run(_ context: CaseContext) throws {
        let sweep = try DamageSweep(context, keepsOlder: keepsOlder)
        try sweep.run(sweep.damagesWithHeads(.age, count: try context.integer("trials"), random: "stale pages"))
    }
}
