import Harness
import RunRecords

/// One page of a database's files zeroed per trial, as a disk does that lost a write: what does a reader get?
struct ZeroedPage: DamageScenario {
    let slug = "zero-page"
    let question = "When a page of the file is all zeros, does a reader get wrong data, or crash?"
    let parameters = [
        DamageSweep.shape,
        ScenarioParameter(
            "trials", default: "200", range: 0...1_000_000, summary: "pages chosen by the seed; 0 zeroes every page"),
    ]

    /// The position in an address is that of the page's first byte, counted over all files in the engine's order.
    /// Pages that hold zeros only are left out: zeroing them changes nothing.
    func run(_ context: CaseContext) throws {
        let sweep = try DamageSweep(context)
        var pages = sweep.damaged.filledPages(of: DamageSweep.pageBytes)
        let count = try context.integer("trials")
        if count > 0 && count < pages.count {
            var random = context.random("pages")
            pages = random.permutation(of: pages.count).prefix(count).map { pages[$0] }.sorted()
        }
        try sweep.run(pages.map { FaultAddress(.zero, $0) }, among: 0..<sweep.damaged.byteCount) { start, file in
            var bytes = file.bytes
            for index in (start - file.start)..<min(start - file.start + DamageSweep.pageBytes, bytes.count) {
                bytes[index] = 0
            }
            return bytes
        }
    }
}
