import FaultModel
import Foundation
import Seeds
import SimulatedDisk
import Testing

/// A process dies between something that it wrote and the sync of that. The next one finds it in the page cache, goes
/// on from it, and power goes: what the dead one wrote may be lost then, and what was written because of it may not.
@Suite(.serialized) struct UnsyncedDeathTests {
    /// A recovery once wrote its own slot first. With the dead one's lost, two clean slots of different versions were
    /// left (`slotsDiffer`).
    @Test("a header slot that a dead process did not sync may be lost later", arguments: [1, 3] as [UInt64])
    func slots(seed: UInt64) throws {
        try die(StoreProgram.self, seed, behind: Self.isSlot)
        try die(PeriodicStoreProgram.self, seed, behind: Self.isSlot)
        try die(UnsyncedStoreProgram.self, seed, behind: Self.isSlot)
    }

    /// Commits that were acknowledged once went with the whole file.
    @Test("a name that a dead process did not sync is durable before a commit is") func names() throws {
        try die(StoreProgram.self, 1, usedEvery: 1) { if case .rename = $0.action { true } else { false } }
    }

    private static func isSlot(_ record: IORecord) -> Bool {
        guard case .write(_, 0..<8192, let bytes) = record.action else { return false }
        return bytes.count == 512
    }

    private func die<Program: SimulatedProgram>(
        _ type: Program.Type, _ seed: UInt64, usedEvery: Int = 4, behind isChosen: (IORecord) -> Bool
    ) throws {
        var simulation = CrashSimulation<Program>(Seed(seed), transactions: 6, largest: 24_000)
        simulation.schedule = seed % 3 == 0 ? Seed(seed).derived(part: "schedule") : nil
        simulation.depths[0].rules.sampleCount = 0
        // Dead processes alone are crashed again, and once.
        simulation.depths[0].every = .max
        simulation.depths[0].kills = .max
        simulation.depths[1].every = .max
        simulation.depths[1].kills = .max
        simulation.usedEvery = usedEvery
        simulation.deadline = .now + .seconds(600)
        let report = try simulation.runDeaths(behind: isChosen)
        for problem in report.problems { Issue.record("\(type), seed \(seed): \(problem)") }
        #expect(report.kills > 0)
    }
}
