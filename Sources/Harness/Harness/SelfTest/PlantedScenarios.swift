import Files
import Measuring
import Platform
import RunRecords

// Scenarios that break the harness on purpose, to test that each of them ends with the right verdict, and that the run
// continues. They are in no list, and run only if they are named.

package enum PlantedScenarios {
    package static func register(into registry: inout ScenarioRegistry) {
        for scenario in short { registry.register(scenario) }
        registry.register(PlantedTrials())
        registry.register(PlantedFullDisk())
    }

    private static let short = [
        PlantedScenario("planted-trap", "Does a case that traps end as crashed?") { trap($0.test) },
        PlantedScenario("planted-hang", "Does a case that hangs end as hung?") { _ in hang() },
        PlantedScenario("planted-memory", "Does a case that allocates without bound end as memory-limit?") {
            allocateWithoutBound()
            $0.report.check("bound", expected: "stopped", got: "not stopped")
        },
        PlantedScenario(
            "planted-silent-exit", "Does a case that exits 0 without a report end as harness-error?"
        ) { _ in _exit(0) },
        // By `exit`, as some libraries end the process on a fatal error.
        PlantedScenario("planted-exit", "Does a case that calls exit end as crashed, with what it printed?") { _ in
            giveUp()
        },
        PlantedScenario("planted-pass", "Does a case with nothing wrong pass, after the others?") {
            $0.report.check("sum", expected: 4, got: $0.test.scenario.utf8.count / 3)
        },
        // Checks outside a sweep, two of them wrong, with names of the kinds that scenarios use.
        PlantedScenario("planted-checks", "Can each check of a case be repeated by its name?") {
            $0.report.check("content", expected: 1, got: 1)
            $0.report.check("thread 0", expected: 1, got: 2)
            $0.report.check("it's 'quoted'", expected: 1, got: 2)
        },
        // Waits for a file `go` beside the run's directory, so that a test can examine a run in progress.
        PlantedScenario("planted-wait", "What becomes of a run that is disturbed?") { context in
            // The run's directory is five levels above that of the case.
            let sign = context.directory + "/../../../../../../go"
            while !FileTree.exists(sign) && !context.isOverBudget { usleep(1_000) }
            context.report.check("sign", expected: true, got: FileTree.exists(sign))
        },
    ]

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

/// A planted scenario without parameters.
private struct PlantedScenario: Scenario {
    let slug: String
    let family = Family.planted
    let question: String
    let requires: Set<Capability> = []
    private let body: @Sendable (CaseContext) throws -> Void

    init(_ slug: String, _ question: String, body: @escaping @Sendable (CaseContext) throws -> Void) {
        (self.slug, self.question, self.body) = (slug, question, body)
    }

    func run(_ context: CaseContext) throws { try body(context) }
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
