import Harness
import Measuring
import Platform
import RunRecords
import Strata
import Synchronization

/// Gives every object of a large file new values, and measures the cost; the same with a quarter of the objects.
///
/// A violation: an object that the migration left wrong, or memory that grows with the data.
struct LargeMigration: MigrationScenario {
    let slug = "large-migration"
    let question = "Is the memory of a migration bounded, by what it writes and by a limit?"
    let parameters = [
        ScenarioParameter("rows", .size, default: 100_000, range: 40...100_000_000, summary: "objects in the file"),
        ScenarioParameter(
            "way", default: "block", allowed: ["block", "plan"], summary: "how the migration is written"),
        ScenarioParameter(
            "bound", .allowance, default: 100, range: 0...100_000,
            summary: "growth of memory from a quarter of the rows to all, in percent of the file's growth, and 1 MiB"),
        ScenarioParameter("limit", .allowance, default: 96, summary: "MiB of memory in all, whatever the rows"),
    ]

    /// The cost of one migration, in a process of its own.
    struct Cost: Equatable {
        var rows = 0
        var nanoseconds = 0
        var peakResidentBytes = 0
        /// Peak of anonymous memory, above that of the process before the migration.
        var anonymousBytes = 0
        var bytesBefore = 0
        var mostBytes = 0
        var bytesAfter = 0
        var objects = 0
        /// The first object that the migration left wrong; -1 for none.
        var firstWrong = -1

        fileprivate var words: [Int64] {
            [
                rows, nanoseconds, peakResidentBytes, anonymousBytes, bytesBefore, mostBytes, bytesAfter, objects,
                firstWrong,
            ].map { Int64($0) }
        }

        init() {}

        fileprivate init(words: [Int64]) {
            let numbers = words.map { Int($0) }
            (rows, nanoseconds, peakResidentBytes) = (numbers[0], numbers[1], numbers[2])
            (anonymousBytes, bytesBefore, mostBytes) = (numbers[3], numbers[4], numbers[5])
            (bytesAfter, objects, firstWrong) = (numbers[6], numbers[7], numbers[8])
        }
    }

    func run(_ context: CaseContext) throws {
        let count = try context.integer("rows")
        let isPlan = try context.text("way") == "plan"
        let small = try measure(context, "quarter", rows: count / 4, isPlan: isPlan)
        let large = try measure(context, "all", rows: count, isPlan: isPlan)
        let report = context.report
        report.add(.objectsPerSecond, Double(count) / Double(large.nanoseconds) * 1e9)
        report.add(.durationMilliseconds, Double(large.nanoseconds) / 1e6, label: "unavailable")
        report.add(.peakResidentBytes, Double(large.peakResidentBytes), label: "migration")
        report.add(.peakResidentBytes, Double(large.anonymousBytes), label: "anonymous")
        report.add(.peakResidentBytes, Double(small.anonymousBytes), label: "anonymous, a quarter of the rows")
        report.add(.fileBytes, Double(large.bytesBefore), label: "before")
        report.add(.fileBytes, Double(large.mostBytes), label: "peak")
        report.add(.fileBytes, Double(large.bytesAfter), label: "after")
        report.add(.rows, Double(count), statistic: "count")
        for cost in [small, large] {
            report.check("objects of \(cost.rows)", expected: cost.rows, got: cost.objects)
            report.check("first wrong object of \(cost.rows)", expected: -1, got: cost.firstWrong)
        }
        Self.judge(
            small, large, percent: try context.integer("bound"), limit: try context.integer("limit") << 20, report)
    }

    /// Memory that a migration of any size may use.
    private static let fixedBytes = 1 << 20

    /// Compares the growth of memory with the growth of the file's largest size, and the total memory with a limit.
    ///
    /// A transaction keeps its changes in memory up to its budget, so memory grows with the rows at first: by half of
    /// the growth of the file with a block, by a third with a plan, both from 25 000 to 100 000 rows and from 100 000
    /// to 400 000. The bound must detect a list of changes in memory: such a list, of 16 bytes a value, made memory
    /// grow by 2.6 times the growth of the file.
    static func judge(_ small: Cost, _ large: Cost, percent: Int, limit: Int, _ report: CaseReport) {
        let memory = large.anonymousBytes - small.anonymousBytes
        let written = large.mostBytes - small.mostBytes
        let allowed = written / 100 * percent + fixedBytes
        report.add(.memoryGrowth, Double(memory) / Double(max(written, 1)))
        report.add(
            Trial(
                address: FaultAddress(text: "growth of memory"), outcome: memory <= allowed ? .correct : .memoryLimit,
                detail: memory <= allowed
                    ? "" : "\(memory) bytes more for \(written) more of the file, allowed \(allowed)"))
        let most = large.anonymousBytes
        report.add(
            Trial(
                address: FaultAddress(text: "memory"), outcome: most <= limit ? .correct : .memoryLimit,
                detail: most <= limit ? "" : "\(most) bytes, allowed \(limit)"))
        if written < fixedBytes / 4 {
            report.inconclusive("the file grew by \(written) bytes: too little to tell whether memory grows with it")
        }
    }

    /// Fills and migrates in separate processes, so that memory for filling does not count.
    private func measure(_ context: CaseContext, _ name: String, rows: Int, isPlan: Bool) throws -> Cost {
        let durability = context.test.durability
        let directory = try context.emptyLocation(name).directory
        let file = ResidentFile(path: directory + "/a.strata", count: rows)
        let filler = try ForkedChild.start { _ in
            do {
                try Self.fill(file, durability)
                return 0
            } catch { return 1 }
        }
        guard filler.wait() == .exited(0) else { throw EngineError(.refused, "the file could not be written") }
        let child = try ForkedChild.start { output in
            do {
                let cost = try migrate(file, directory, durability, isPlan: isPlan)
                return send(cost.words, to: output) ? 0 : 3
            } catch {
                _ = "\(error)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
                return 1
            }
        }
        let words = receive(child.output, count: Cost().words.count)
        let end = child.wait()
        guard let words, end == .exited(0) else {
            throw EngineError(.refused, "the migration of \(rows) objects ended so: \(end)")
        }
        return Cost(words: words)
    }

    private func migrate(
        _ file: ResidentFile, _ directory: String, _ durability: DurabilityClass, isPlan: Bool
    ) throws -> Cost {
        var cost = Cost()
        cost.rows = file.count
        cost.bytesBefore = Self.bytes(directory)
        let meter = Meter(directory)
        let configuration = configuration(file, durability, isPlan: isPlan, meter)
        _ = ResourceUsage.resetPeak()
        let start = MonotonicClock.now()
        try Realm.performMigration(for: configuration)
        cost.nanoseconds = Int(MonotonicClock.now() - start)
        cost.peakResidentBytes = Int(ResourceUsage.now().peakResidentBytes)
        meter.sample()
        cost.anonymousBytes = meter.anonymousBytes
        cost.mostBytes = meter.fileBytes
        try check(file, configuration, &cost)
        cost.bytesAfter = Self.bytes(directory)
        return cost
    }

    private func send(_ words: [Int64], to output: Int32) -> Bool {
        words.withUnsafeBytes { write(output, $0.baseAddress, $0.count) == $0.count }
    }

    private func receive(_ descriptor: Int32, count: Int) -> [Int64]? {
        var words = [Int64](repeating: 0, count: count)
        let length = words.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        return length == count * 8 ? words : nil
    }

    /// Peak use, sampled while objects are walked.
    private final class Meter: Sendable {
        private let directory: String
        private let base: Int
        private let values = Mutex((anonymous: 0, file: 0))

        init(_ directory: String) {
            self.directory = directory
            base = Int(ProcessFile.anonymousBytes(processID: getpid()) ?? 0)
        }

        var anonymousBytes: Int { values.withLock { $0.anonymous } }
        var fileBytes: Int { values.withLock { $0.file } }

        func sample() {
            let anonymous = Int(ProcessFile.anonymousBytes(processID: getpid()) ?? 0) - base
            let file = LargeMigration.bytes(directory)
            values.withLock { $0 = (max($0.anonymous, anonymous), max($0.file, file)) }
        }
    }

    /// Bytes on disk of the database and its copies.
    private static func bytes(_ directory: String) -> Int {
        ["", ".log", ".migrating", ".migrating.copying"].reduce(0) { total, suffix in
            var status = stat()
            return stat(directory + "/a.strata" + suffix, &status) == 0 ? total + Int(status.st_blocks) * 512 : total
        }
    }

    private static func fill(_ file: ResidentFile, _ durability: DurabilityClass) throws {
        let realm = try Realm(configuration: file.configuration(0, Version0.Resident.self, durability: durability))
        for start in stride(from: 0, to: file.count, by: 20_000) {
            try realm.write {
                for number in start..<min(start + 20_000, file.count) {
                    let resident = Version0.Resident()
                    resident.number = number
                    resident.firstName = "First \(number)"
                    resident.lastName = "Last \(number % 17)"
                    resident.birthYear = ResidentFile.birthYear(number)
                    realm.add(resident)
                }
            }
        }
    }

    private func configuration(
        _ file: ResidentFile, _ durability: DurabilityClass, isPlan: Bool, _ meter: Meter
    ) -> Realm.Configuration {
        var configuration = file.configuration(3, Version3.Resident.self, durability: durability)
        configuration.migrationProgress = { _ in meter.sample() }
        if !isPlan {
            configuration.migrationBlock = { migration, _ in
                migration.enumerateObjects(ofType: "Resident") { old, new in
                    let age = ResidentFile.year - (old?["birthYear"] as? Int ?? 0)
                    new?["name"] = "\(old?["firstName"] as? String ?? "") \(old?["lastName"] as? String ?? "")"
                    new?["age"] = age
                    new?["isAdult"] = age >= 18
                }
            }
            return configuration
        }
        configuration.migrationPlan = MigrationPlan([
            MigrationStep(to: 1, classes: [Version1.Resident.self]) { try ResidentFile.block1($0, 0) },
            MigrationStep(to: 2, classes: [Version2.Resident.self]) { try ResidentFile.block2($0, 1) },
            MigrationStep(to: 3) { try ResidentFile.block3($0, 2) },
        ])
        return configuration
    }

    private func check(_ file: ResidentFile, _ configuration: Realm.Configuration, _ cost: inout Cost) throws {
        let realm = try Realm(configuration: configuration)
        let residents = realm.objects(Version3.Resident.self)
        cost.objects = residents.count
        var number = 0
        for resident in residents {
            let age = ResidentFile.year - ResidentFile.birthYear(number)
            let isRight =
                resident.number == number && resident.age == age && resident.isAdult == (age >= 18)
                && resident.name == "First \(number) Last \(number % 17)" && resident.friend == nil
                && resident.neighbours.isEmpty
            if !isRight, cost.firstWrong < 0 { cost.firstWrong = number }
            number += 1
        }
    }
}

extension Metric {
    /// Memory for additional rows, divided by the growth of the file.
    static let memoryGrowth = Metric("memory_growth_ratio", unit: "ratio", .lowerIsBetter, .measured)
}
