import Measuring
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// Scenarios that break the harness on purpose: does each end as its class, and does the run go on? They are listed
// nowhere, and run only when they are named.

package enum PlantedScenarios {
    package static func register(into registry: inout ScenarioRegistry) {
        registry.register(PlantedTrap())
        registry.register(PlantedHang())
        registry.register(PlantedMemory())
        registry.register(PlantedSilentExit())
        registry.register(PlantedTrials())
        registry.register(PlantedPass())
    }

    /// Allocates and touches memory until it is stopped. Bounded, so that a harness that does not stop it fails a
    /// test and not the machine.
    static func allocateWithoutBound() {
        let piece = 16 << 20
        for _ in 0..<1_024 {
            // From the kernel: an allocation that nobody reads would be optimised away.
            guard let memory = mmap(nil, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                memory != MAP_FAILED
            else { return }
            memset(memory, 0x5A, piece)
        }
    }

    /// Waits for longer than anybody does.
    static func hang() {
        while true { sleep(1_000) }
    }

    /// A trap that the compiler cannot see coming. A failed precondition has no text in a release build.
    static func trap(_ test: Case) {
        if test.family == .planted { fatalError("planted trap") }
    }
}

struct PlantedTrap: Scenario {
    let slug = "planted-trap"
    let family = Family.planted
    let question = "Does a case that traps end as crashed?"
    let requires: Set<Capability> = []

    func run(_ context: CaseContext) throws {
        PlantedScenarios.trap(context.test)
    }
}

struct PlantedHang: Scenario {
    let slug = "planted-hang"
    let family = Family.planted
    let question = "Does a case that hangs end as hung?"
    let requires: Set<Capability> = []

    func run(_ context: CaseContext) throws {
        PlantedScenarios.hang()
    }
}

struct PlantedMemory: Scenario {
    let slug = "planted-memory"
    let family = Family.planted
    let question = "Does a case that allocates without bound end as memory-limit?"
    let requires: Set<Capability> = []

    func run(_ context: CaseContext) throws {
        PlantedScenarios.allocateWithoutBound()
        context.report.check("bound", expected: "stopped", got: "not stopped")
    }
}

struct PlantedSilentExit: Scenario {
    let slug = "planted-silent-exit"
    let family = Family.planted
    let question = "Does a case that exits 0 without a report end as harness-error?"
    let requires: Set<Capability> = []

    func run(_ context: CaseContext) throws {
        _exit(0)
    }
}

struct PlantedPass: Scenario {
    let slug = "planted-pass"
    let family = Family.planted
    let question = "Does a case with nothing wrong pass, after the others?"
    let requires: Set<Capability> = []

    func run(_ context: CaseContext) throws {
        context.report.check("sum", expected: 4, got: context.test.scenario.utf8.count / 3)
    }
}

/// A sweep of `count` trials in which every tenth is bad, in the way that its place says.
struct PlantedTrials: Scenario {
    let slug = "planted-trials"
    let family = Family.planted
    let question = "Does each bad trial of a sweep cost that trial alone?"
    let requires: Set<Capability> = []
    let accepts = Outcome.honest
    let parameters = [
        ScenarioParameter("count", default: "60", summary: "trials"),
        ScenarioParameter("silent", default: "false", allowed: ["true", "false"], summary: "one exits 0 silently"),
        ScenarioParameter("hang", default: "true", allowed: ["true", "false"], summary: "one hangs"),
    ]

    func run(_ context: CaseContext) throws {
        let count = try context.integer("count")
        let isSilent = try context.text("silent") == "true"
        let hangs = try context.text("hang") == "true"
        let addresses = (0..<count).map { FaultAddress("plant", $0) }
        try context.sweep(addresses, secondsPerTrial: 2, megabytes: 128) { address in
            switch address.position {
            case 10: PlantedScenarios.trap(context.test)
            case 20 where hangs: PlantedScenarios.hang()
            case 30: PlantedScenarios.allocateWithoutBound()
            case 40 where isSilent: _exit(0)
            case 50: throw EngineError(.damaged, "planted damage")
            default: break
            }
            return Trial(address: address, outcome: .correct)
        }
    }
}
