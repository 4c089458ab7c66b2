import Files
import Harness
import Measuring
import Platform
import RunRecords
import Strata

/// Kills a migrating process (SIGKILL) when its block has reached a certain object, or some microseconds after its last
/// object.
struct KillMidMigration: MigrationScenario {
    let slug = "kill-mid-migration"
    let question = "Is a migration that was killed at any object, or in its commit, undone or done?"
    let schedule = Schedule.free
    let expects: Promise.Kind? = .atomicMigration
    let parameters = [
        ScenarioParameter("rows", .size, default: 500, range: 10...10_000_000, summary: "objects in the file"),
        ScenarioParameter("trials", .effort, default: 60, summary: "kills"),
        ScenarioParameter(
            "way", default: "block", allowed: ["block", "plan"], summary: "how the migration is written"),
    ]

    /// The moment of the kill: the step of the plan and the object; or, without an object, a time after the last walk.
    private struct Moment {
        var step = 0
        var object: Int?
        var wait: UInt32 = 0
    }

    func run(_ context: CaseContext) throws {
        let count = try context.integer("rows")
        let isPlan = try context.text("way") == "plan"
        let source = ResidentFile(path: try context.emptyLocation("source").directory + "/a.strata", count: count)
        let durability = context.test.durability
        // In a child: a process that has started threads of the engine must not fork.
        let filler = try ForkedChild.start { _ in
            do {
                try source.fill(durability)
                return 0
            } catch { return 1 }
        }
        guard filler.wait() == .exited(0) else { throw HarnessError("the file to migrate could not be written") }
        let bytes = try FileTree.readBytes(source.path)
        let trials = try context.integer("trials")
        let addresses = (0..<trials).map { FaultAddress(.kill, $0) }
        try context.sweep(addresses, secondsPerTrial: 20) { address in
            let directory = context.trialDirectory + "/database"
            try FileTree.remove(directory)
            try FileTree.createDirectory(directory)
            let file = ResidentFile(path: directory + "/a.strata", count: count)
            try FileTree.writeBytes(file.path, bytes)
            let position = address.position ?? 0
            var random = context.random("kill \(position)")
            var moment = Moment(step: position / 2 % 3)
            if position % 2 == 0 {
                moment.object = trials < 4 ? count / 2 : (count - 1) * position / (trials - 1)
            } else {
                moment.wait = UInt32(random.below(4000))
            }
            if let (outcome, detail) = try Self.killMigration(file, moment, isPlan: isPlan, durability: durability) {
                return Trial(address: address, outcome: outcome, detail: detail)
            }
            let (outcome, detail) = try Self.judge(file, isPlan, durability)
            return Trial(address: address, outcome: outcome, detail: detail)
        }
        context.report.add(.rows, Double(count), statistic: "count")
    }

    // MARK: The process that dies

    private static func configuration(
        _ file: ResidentFile, _ isPlan: Bool, _ durability: DurabilityClass,
        walked: @escaping @Sendable (_ step: Int, _ migration: Migration) -> Void
    ) -> Realm.Configuration {
        var configuration = file.configuration(3, Version3.Resident.self, durability: durability)
        if !isPlan {
            configuration.migrationBlock = { migration, old in
                try ResidentFile.block3(migration, old)
                for step in 0..<3 { walked(step, migration) }
            }
            return configuration
        }
        configuration.migrationPlan = MigrationPlan([
            MigrationStep(to: 1, classes: [Version1.Resident.self]) { migration in
                try ResidentFile.block1(migration, 0)
                walked(0, migration)
            },
            MigrationStep(to: 2, classes: [Version2.Resident.self]) { migration in
                try ResidentFile.block2(migration, 1)
                walked(1, migration)
            },
            MigrationStep(to: 3) { migration in
                try ResidentFile.block3(migration, 2)
                walked(2, migration)
            },
        ])
        return configuration
    }

    /// - Returns: an error where the process ended before the moment of its kill.
    private static func killMigration(
        _ file: ResidentFile, _ moment: Moment, isPlan: Bool, durability: DurabilityClass
    ) throws -> (Outcome, String)? {
        let child = try ForkedChild.start { output in
            let configuration = configuration(file, isPlan, durability) { step, migration in
                guard step == moment.step else { return }
                var seen = 0
                migration.enumerateObjects(ofType: "Resident") { _, new in
                    if seen == moment.object { _ = kill(getpid(), SIGKILL) }
                    seen += 1
                    new?["friend"] = new?["friend"]
                }
                var byte: UInt8 = 1
                _ = write(output, &byte, 1)
            }
            do {
                try Realm.performMigration(for: configuration)
                return 0
            } catch is Realm.Error { return 2 } catch { return 1 }
        }
        if moment.object == nil {
            var byte: UInt8 = 0
            if receive(child.output, &byte, 1) == 1 {
                usleep(moment.wait)
                child.kill()
            }
        }
        return judge(child.wait(), object: moment.object)
    }

    /// What is wrong with the end of a process that was to be killed; nil if it was killed, or had ended before its
    /// kill.
    ///
    /// - Parameter object: the object at which it was to be killed; nil for a time, before which it may end.
    static func judge(_ end: ChildEnd, object: Int?) -> (Outcome, String)? {
        switch end {
        case .signalled(SIGKILL): return nil
        case .signalled(let signal): return (.crashed, "the migration ended by signal \(signal)")
        case .exited(0):
            return object.map { (.silentlyWrong, "the migration came to its end, and never to object \($0)") }
        case .exited: return (.refused, "the migration failed by itself: \(end)")
        }
    }

    // MARK: What is left

    /// Opens and reads in a child, so that a crash is an outcome.
    private static func judge(
        _ file: ResidentFile, _ isPlan: Bool, _ durability: DurabilityClass
    ) throws -> (Outcome, String) {
        let reader = try ForkedChild.start { output in
            let found: (outcome: Outcome, detail: String)
            do { found = try look(file, isPlan, durability) } catch { found = (.refused, "\(error)") }
            let text = Array("\(found.outcome.rawValue)\n\(found.detail)".utf8)
            return write(output, text, text.count) == text.count ? 0 : 1
        }
        var text: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let n = receive(reader.output, &bytes, bytes.count)
            if n <= 0 { break }
            text += bytes[..<n]
        }
        if case .signalled(let signal) = reader.wait() { return (.crashed, "signal \(signal) when opened again") }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", maxSplits: 1)
        guard let first = lines.first, let outcome = Outcome(rawValue: String(first)) else {
            throw HarnessError("the reader reported nothing")
        }
        return (outcome, lines.count > 1 ? String(lines[1]) : "")
    }

    private static func look(
        _ file: ResidentFile, _ isPlan: Bool, _ durability: DurabilityClass
    ) throws -> (Outcome, String) {
        let version = try file.schemaVersion()
        guard version == 0 || version == 3 else { return (.silentlyWrong, "version \(version)") }
        if version == 0 {
            if case .wrong(let detail) = PolicyTrials.Finding.same(
                "objects of version 0", try file.rows0(durability), file.expected0)
            {
                return (.silentlyWrong, detail)
            }
        }
        let again = configuration(file, isPlan, durability) { _, _ in }
        if try file.rows3(again) != file.expected { return (.silentlyWrong, "wrong rows, found at version \(version)") }
        return (.correct, "")
    }

    private static func receive(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
        Platform.read(descriptor, bytes, count)
    }
}
