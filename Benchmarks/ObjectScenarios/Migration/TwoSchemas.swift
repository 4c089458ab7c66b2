import Harness
import Measuring
import Platform
import RunRecords
import Strata

/// Two processes migrate one file at once, to different versions, while a third process has it open in the old version.
struct TwoSchemas: MigrationScenario {
    let slug = "two-schemas"
    let question = "Do processes of different schema versions get errors, and never wrong data?"
    let schedule = Schedule.free
    let parameters = [
        ScenarioParameter("rows", .size, default: 500, range: 10...10_000_000, summary: "objects in the file"),
        ScenarioParameter("rounds", .size, default: 8, summary: "races"),
    ]

    /// Exit status of a process that was refused with the right error.
    private static let refused: Int32 = 10

    func run(_ context: CaseContext) throws {
        let count = try context.integer("rows")
        let durability = context.test.durability
        for round in 0..<(try context.integer("rounds")) {
            let directory = try context.emptyLocation("round-\(round)").directory
            try race(
                ResidentFile(path: directory + "/a.strata", count: count), round, durability: durability,
                report: context.report)
        }
        context.report.add(.rows, Double(count), statistic: "count")
    }

    private func race(
        _ file: ResidentFile, _ round: Int, durability: DurabilityClass, report: CaseReport
    ) throws {
        let filler = try ForkedChild.start { _ in Self.status { try file.fill(durability) } }
        let filled = filler.wait()
        if filled != .exited(0) { return report.check("round \(round), filled", expected: .exited(0), got: filled) }
        let old = try ForkedChild.start { output in
            Self.status {
                let realm = try Realm(
                    configuration: file.configuration(0, Version0.Resident.self, durability: durability))
                var byte: UInt8 = 1
                _ = write(output, &byte, 1)
                var waits = 0
                while waits < 20_000, try file.schemaVersion() != 3 {
                    waits += 1
                    usleep(500)
                }
                try realm.write { realm.create(Version0.Resident.self, value: ["number": file.count + 1]) }
            }
        }
        var byte: UInt8 = 0
        guard receive(old, &byte) == 1 else {
            return report.check("round \(round), opened by version 0", expected: "open", got: "\(old.wait())")
        }
        let lower = try ForkedChild.start { _ in
            Self.status {
                try Realm.performMigration(
                    for: file.configuration(1, Version1.Resident.self, durability: durability, ResidentFile.block1))
            }
        }
        let higher = try ForkedChild.start { _ in
            Self.status {
                try Realm.performMigration(
                    for: file.configuration(3, Version3.Resident.self, durability: durability, ResidentFile.block3))
            }
        }
        report.check("round \(round), to version 3", expected: .exited(0), got: higher.wait())
        let isTyped = [ChildEnd.exited(0), .exited(Self.refused)].contains(lower.wait())
        report.check("round \(round), to version 1", expected: true, got: isTyped)
        report.check("round \(round), write of version 0", expected: .exited(Self.refused), got: old.wait())
        let reader = try ForkedChild.start { _ in
            Self.status {
                let rows = try file.rows3(file.configuration(3, Version3.Resident.self, durability: durability))
                if rows != file.expected { throw HarnessError("wrong rows") }
            }
        }
        report.check("round \(round), data", expected: .exited(0), got: reader.wait())
    }

    private func receive(_ child: ForkedChild, _ byte: inout UInt8) -> Int {
        Platform.read(child.output, &byte, 1)
    }

    /// Runs a process's work: 0 on success, `refused` for the expected error.
    private static func status(_ body: () throws -> Void) -> Int32 {
        do {
            try body()
            return 0
        } catch let error as Realm.Error {
            return error.code == .schemaMismatch ? refused : 2
        } catch { return 1 }
    }
}
