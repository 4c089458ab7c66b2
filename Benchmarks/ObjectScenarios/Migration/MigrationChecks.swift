import Harness
import Measuring
import RunRecords
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Checks of the scenarios about migration: a file of the case, opened by several configurations in turn.
struct MigrationChecks {
    private let context: CaseContext
    let report: CaseReport
    private let start = MonotonicClock.now()

    /// Runs `body`, and reports its duration.
    static func run(_ context: CaseContext, _ body: (MigrationChecks) throws -> Void) throws {
        let checks = MigrationChecks(context: context, report: context.report)
        try context.withEngineErrors { try body(checks) }
        context.report.add(.durationMilliseconds, Double(MonotonicClock.now() - checks.start) / 1e6)
    }

    private init(context: CaseContext, report: CaseReport) {
        self.context = context
        self.report = report
    }

    /// An empty directory of that name, and a path in it.
    func file(_ name: String) throws -> URL {
        URL(fileURLWithPath: try context.emptyLocation(name).directory + "/a.strata")
    }

    func configuration(
        _ url: URL, _ version: UInt64, types: [ObjectBase.Type], block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: url, schemaVersion: version, migrationBlock: block, objectTypes: types,
            durability: context.test.durability.ofRealm)
    }

    /// Expects an error with a code, whose message names the given parts.
    func refused(_ address: String, _ code: Realm.Error.Code, naming parts: [String] = [], _ body: () throws -> Void) {
        do {
            try body()
            report.check(address, expected: code.rawValue, got: "nothing thrown")
        } catch let error as Realm.Error {
            report.check(address, expected: code.rawValue, got: error.code.rawValue)
            for part in parts {
                let isNamed = error.message.contains(part)
                report.check("\(address), names \(part)", expected: part, got: isNamed ? part : error.message)
            }
        } catch {
            report.check(address, expected: code.rawValue, got: "\(error)")
        }
    }

    func version(_ url: URL, is version: UInt64, _ address: String) throws {
        report.check("\(address), version", expected: version, got: try Realm.schemaVersionAtURL(url))
    }
}
