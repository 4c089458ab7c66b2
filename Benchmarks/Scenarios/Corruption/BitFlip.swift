import Harness
import RunRecords

/// One bit of a database's files flipped per trial, at any place: what does a reader get?
struct BitFlip: DamageScenario {
    let slug = "bit-flip"
    let question = "When one bit of the file is wrong, does a reader get wrong data?"
    let parameters = [
        DamageSweep.shape,
        ScenarioParameter(
            "trials", default: "2000", range: 0...10_000_000, summary: "bits chosen by the seed; 0 flips every bit"),
    ]

    /// Bit n of the address is bit n % 8 of byte n / 8, counted over all files in the engine's order.
    func run(_ context: CaseContext) throws {
        let sweep = try DamageSweep(context)
        var random = context.random("bits")
        let bits = sweep.damaged.positions(count: try context.integer("trials"), scale: 8, random: &random)
        try sweep.run(bits.map { FaultAddress(.flip, $0) }, among: 0..<(sweep.damaged.byteCount * 8)) { bit, file in
            var bytes = file.bytes
            bytes[bit / 8 - file.start] ^= 1 << UInt8(bit % 8)
            return bytes
        }
    }
}
