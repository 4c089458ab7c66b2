import FaultModel
import Foundation
import Seeds
import SimulatedDisk
import Testing

/// A process dies between a write and its sync. The next process finds the write in the page cache and builds on it,
/// then power is lost. The dead process's write may be lost then; later writes that depend on it must not be.
@Suite(.serialized)
struct UnsyncedDeathTests {
    /// A recovery once wrote its own slot first. After the dead process's slot was lost, two clean slots of different
    /// versions remained (`slotsDiffer`).
    @Test("a header slot that a dead process did not sync can be lost later", arguments: [1, 3] as [UInt64])
    func slots(seed: UInt64) throws {
        try die(StoreProgram.self, seed, behind: Self.isSlot)
        try die(PeriodicStoreProgram.self, seed, behind: Self.isSlot)
        try die(UnsyncedStoreProgram.self, seed, behind: Self.isSlot)
    }

    /// Acknowledged commits were once lost with the whole file.
    @Test("a directory entry that a dead process did not sync is durable before a commit") func names() throws {
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
        // Only the dead process's disk is crashed again, once.
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
