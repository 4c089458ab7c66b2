import FaultModel
import Seeds
import SimulatedDisk
import Testing

/// A simulation proves something only if it finds planted mistakes.
@Suite struct CrashSimulationTests {
    private func simulation<Program: SimulatedProgram>(_ type: Program.Type, _ seed: Seed) -> CrashSimulation<Program> {
        var simulation = CrashSimulation<Program>(seed, transactions: 5)
        simulation.rules.exhaustiveUnits = 6
        simulation.rules.sampleCount = 20
        simulation.rules.pairLimit = 4
        simulation.rules.cutLimit = 8
        return simulation
    }

    @Test("an engine without a mistake passes", arguments: [UInt64(1), 2])
    func correctEngine(seed: UInt64) throws {
        let report = try simulation(ShadowFileProgram.self, Seed(seed)).run()
        #expect(report.problems.isEmpty)
        #expect(report.sweeps[0].distinct > 50, "\(report)")
        #expect(report.sweeps[1].distinct > 0, "\(report)")
        #expect(report.sweeps[2].distinct > 0, "\(report)")
        #expect(report.kills > 20, "\(report)")
    }

    @Test("a missing sync is found")
    func missingSync() throws { try expectFound(ShadowFileWithoutSync.self) }

    @Test("a missing sync of a directory is found")
    func missingDirectorySync() throws { try expectFound(ShadowFileWithoutDirectorySync.self) }

    @Test("writing in place is found")
    func writingInPlace() throws { try expectFound(ShadowFileInPlace.self) }

    @Test("every failed operation leaves an allowed state")
    func failedOperations() throws {
        var simulation = FaultSimulation<ShadowFileProgram>(Seed(5), transactions: 4)
        simulation.deadline = .now + .seconds(600)
        let report = try simulation.run(step: 3)
        #expect(report.problems.isEmpty)
        #expect(report.struck > 20, "\(report)")
    }

    @Test("an error that an engine swallows is found")
    func swallowedError() throws {
        let report = try FaultSimulation<ShadowFileSwallowingErrors>(Seed(5), transactions: 4).run()
        #expect(!report.problems.isEmpty, "\(report)")
    }

    private func expectFound<Program: SimulatedProgram>(_ type: Program.Type) throws {
        let simulation = simulation(type, Seed(3))
        let report = try simulation.run()
        let problem = try #require(report.problems.first, "\(report)")
        // The address alone reproduces it.
        let address = try #require(CrashAddress(problem.address.description))
        #expect(try simulation.repeatOne(address).problems == [problem])
    }
}
