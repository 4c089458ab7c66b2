import Harness
import Measuring
import RunRecords
import Strata
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Every object of a large file gets new values; what it costs is measured.
struct LargeMigration: Scenario {
    let slug = "large-migration"
    let family = Family.migration
    let question = "Is the memory of a migration independent of the number of objects?"
    let requires: Set<Capability> = [.migrations]
    let parameters = [
        ScenarioParameter("rows", default: "100000", range: 10...100_000_000, summary: "objects in the file"),
        ScenarioParameter(
            "way", default: "block", allowed: ["block", "plan"], summary: "how the migration is written"),
    ]

    func run(_ context: CaseContext) throws {
        try context.withEngineErrors { try runCase(context) }
    }

    private func runCase(_ context: CaseContext) throws {
        let count = try context.integer("rows")
        let durability = context.test.durability
        let directory = try context.emptyLocation("database").directory
        let file = ResidentFile(path: directory + "/a.strata", count: count)
        // In a child: what filling takes is not the migration's.
        let filler = try ForkedChild.start { _ in
            do {
                try Self.fill(file, durability)
                return 0
            } catch { return 1 }
        }
        guard filler.wait() == .exited(0) else { throw HarnessError("the file to migrate could not be written") }
        let before = Self.bytes(directory)
        let meter = Meter(directory)
        let configuration = configuration(file, durability, isPlan: try context.text("way") == "plan", meter)
        _ = ResourceUsage.resetPeak()
        let start = MonotonicClock.now()
        try Realm.performMigration(for: configuration)
        let nanoseconds = Double(MonotonicClock.now() - start)
        let peak = ResourceUsage.now().peakResidentBytes
        meter.sample()

        let report = context.report
        report.add(.objectsPerSecond, Double(count) / nanoseconds * 1e9)
        report.add(.durationMilliseconds, nanoseconds / 1e6, label: "unavailable")
        report.add(.peakResidentBytes, Double(peak), label: "migration")
        report.add(.peakResidentBytes, Double(meter.anonymousBytes), label: "anonymous")
        report.add(.fileBytes, Double(before), label: "before")
        report.add(.fileBytes, Double(meter.fileBytes), label: "peak")
        report.add(.fileBytes, Double(Self.bytes(directory)), label: "after")
        report.add(.rows, Double(count), statistic: "count")
        try check(file, configuration, report)
    }

    /// What is used at its highest, looked at while objects are walked.
    private final class Meter: Sendable {
        private let directory: String
        private let values = Mutex((anonymous: 0, file: 0))

        init(_ directory: String) { self.directory = directory }

        var anonymousBytes: Int { values.withLock { $0.anonymous } }
        var fileBytes: Int { values.withLock { $0.file } }

        func sample() {
            let anonymous = Int(ProcessFile.anonymousBytes(processID: getpid()) ?? 0)
            let file = LargeMigration.bytes(directory)
            values.withLock { $0 = (max($0.anonymous, anonymous), max($0.file, file)) }
        }
    }

    /// Bytes that the database and its copies take on the disk.
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

    private func check(_ file: ResidentFile, _ configuration: Realm.Configuration, _ report: CaseReport) throws {
        let realm = try Realm(configuration: configuration)
        var wrong = 0
        for resident in realm.objects(Version3.Resident.self) {
            let number = resident.number
            let age = ResidentFile.year - ResidentFile.birthYear(number)
            let isRight =
                resident.age == age && resident.isAdult == (age >= 18)
                && resident.name == "First \(number) Last \(number % 17)"
            if !isRight { wrong += 1 }
        }
        report.check("objects", expected: file.count, got: realm.objects(Version3.Resident.self).count)
        report.check("wrong objects", expected: 0, got: wrong)
    }
}
