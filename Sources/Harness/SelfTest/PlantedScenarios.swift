import Files
import Measuring
import Platform
import RunRecords

// Scenarios that break the harness on purpose, to test that each of them ends with the right verdict, and that the run
// continues. They are in no list, and run only if they are named.

package enum PlantedScenarios {
    package static func register(into registry: inout ScenarioRegistry) {
        registry.register(PlantedTrap())
        registry.register(PlantedHang())
        registry.register(PlantedMemory())
        registry.register(PlantedSilentExit())
        registry.register(PlantedExit())
        registry.register(PlantedTrials())
        registry.register(PlantedPass())
        registry.register(PlantedChecks())
        registry.register(PlantedFullDisk())
        registry.register(PlantedWait())
    }

    /// Allocates and touches memory until the harness stops it. It ends at 16 GiB, so that a harness that does not stop
    /// it fails a test instead of the machine.
    static func allocateWithoutBound() {
        let piece = 16 << 20
        for _ in 0..<1_024 {
            // Maps the memory: the compiler would remove an allocation that is never read.
            guard let memory = mmap(nil, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                memory != MAP_FAILED
            else { return }
            memset(memory, 0x5A, piece)
        }
    }

    /// Prints a line and calls `exit`.
    static func giveUp() -> Never {
        "fatal error: planted words\n".withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
        exit(3)
    }

    /// Waits longer than any limit of time.
    static func hang() {
        while true { sleep(1_000) }
    }

    /// Traps, in a way that the compiler cannot foresee. A failed precondition would print no text in a release build.
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

/// Ends the process by `exit`, as some libraries do on a fatal error.
struct PlantedExit: Scenario {
    let slug = "planted-exit"
    let family = Family.planted
    let question = "Does a case that calls exit end as crashed, with what it printed?"
    let requires: Set<Capability> = []

    func run(_ context: CaseContext) throws { PlantedScenarios.giveUp() }
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

/// Waits for a file `go` beside the run's directory, so that a test can examine a run in progress.
struct PlantedWait: Scenario {
    let slug = "planted-wait"
    let family = Family.planted
    let question = "What becomes of a run that is disturbed?"
    let requires: Set<Capability> = []

    func run(_ context: CaseContext) throws {
        // The run's directory is five levels above that of the case.
        let sign = context.directory + "/../../../../../../go"
        while !FileTree.exists(sign) && !context.isOverBudget { usleep(1_000) }
        context.report.check("sign", expected: true, got: FileTree.exists(sign))
    }
}

/// Checks outside a sweep, two of them wrong, with names of the kinds that scenarios use.
struct PlantedChecks: Scenario {
    let slug = "planted-checks"
    let family = Family.planted
    let question = "Can each check of a case be repeated by its name?"
    let requires: Set<Capability> = []

    func run(_ context: CaseContext) throws {
        context.report.check("content", expected: 1, got: 1)
        context.report.check("thread 0", expected: 1, got: 2)
        context.report.check("it's 'quoted'", expected: 1, got: 2)
    }
}

/// Fills the file system of its directory, and then reports a failure of the engine, as an engine that cannot write
/// would fail.
struct PlantedFullDisk: Scenario {
    let slug = "planted-full-disk"
    let family = Family.planted
    let question = "Is a full disk under the harness no verdict on the engine?"
    let requires: Set<Capability> = []
    let parameters = [
        ScenarioParameter("mebibytes", .size, default: 16, range: 1...1_024, summary: "that are written at most"),
        ScenarioParameter("sweep", default: "false", allowed: ["true", "false"], summary: "in a trial of a sweep"),
    ]

    func run(_ context: CaseContext) throws {
        let most = try context.integer("mebibytes")
        guard try context.text("sweep") == "true" else {
            Self.fill(context.directory, most)
            context.report.check("content", expected: "all rows", got: "fewer")
            return
        }
        try context.sweep([FaultAddress(.fill, 0)]) { address in
            Self.fill(context.trialDirectory, most)
            return Trial(address: address, outcome: .lostCommit, detail: "rows are missing")
        }
    }

    private static func fill(_ directory: String, _ mebibytes: Int) {
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        do {
            for _ in 0..<mebibytes { try FileTree.append(directory + "/filling", piece) }
        } catch {
            // The disk is full. An engine would see only that its write failed.
        }
    }
}

/// A sweep of `count` trials. A few of them fail, each in the way that its position decides; all others are correct.
struct PlantedTrials: Scenario {
    let slug = "planted-trials"
    let family = Family.planted
    let question = "Does each bad trial of a sweep cost that trial alone?"
    let requires: Set<Capability> = []
    let accepts = Outcome.honest
    let parameters = [
        ScenarioParameter("count", .size, default: 60, range: 1...10_000, summary: "trials"),
        ScenarioParameter(
            "silent", default: "false", allowed: ["true", "false"],
            summary: "one ends by _exit(0), and one by exit(3)"),
        ScenarioParameter("hang", default: "true", allowed: ["true", "false"], summary: "one hangs"),
    ]

    func run(_ context: CaseContext) throws {
        let count = try context.integer("count")
        let isSilent = try context.text("silent") == "true"
        let hangs = try context.text("hang") == "true"
        let addresses = (0..<count).map { FaultAddress(.plant, $0) }
        try context.sweep(addresses, secondsPerTrial: 2, megabytes: 128) { address in
            switch address.position {
            case 10: PlantedScenarios.trap(context.test)
            case 20 where hangs: PlantedScenarios.hang()
            case 30: PlantedScenarios.allocateWithoutBound()
            case 40 where isSilent: _exit(0)
            case 45 where isSilent: PlantedScenarios.giveUp()
            case 50: throw EngineError(.damaged, "planted damage")
            default: break
            }
            return Trial(address: address, outcome: .correct)
        }
    }
}
