import Harness
import RunRecords
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Optional properties of every kind become required, with and without nulls, with and without a rule.
struct OptionalToRequired: MigrationScenario {
    let slug = "optional-to-required"
    let question = "Are values kept, and nulls refused without a rule, when a property becomes required?"
    let parameters = [
        ScenarioParameter("rows", .size, default: 2_000, range: 10...10_000_000, summary: "objects in the file")
    ]

    enum Loose {
        final class Reading: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var whole: Int?
            @Persisted var real: Double?
            @Persisted var text: String?
            @Persisted var day: Date?
            @Persisted var flag: Bool?
            override class func className() -> String { "Reading" }
        }
    }

    enum Strict {
        final class Reading: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var whole = 0
            @Persisted var real = 0.0
            @Persisted var text = ""
            @Persisted var day = Date(timeIntervalSince1970: 0)
            @Persisted var flag = false
            override class func className() -> String { "Reading" }
        }
    }

    private static let names = ["whole", "real", "text", "day", "flag"]

    func run(_ context: CaseContext) throws {
        let count = try context.integer("rows")
        try MigrationChecks.run(context) { checks in
            let full = try checks.file("full")
            try fill(checks.configuration(full, 0, types: [Loose.Reading.self]), count, everyNull: 0)
            try compare(
                checks, "without nulls", configuration: checks.configuration(full, 1, types: [Strict.Reading.self]),
                count: count, every: 0)

            let gaps = try checks.file("gaps")
            try fill(checks.configuration(gaps, 0, types: [Loose.Reading.self]), count, everyNull: 7)
            let nulls = (0..<count).count { $0 % 7 == 0 }
            checks.refused(
                "no rule", .missingValues,
                naming: Self.names.map { "'Reading.\($0)'" } + ["\(nulls) objects"]
            ) {
                _ = try Realm(configuration: checks.configuration(gaps, 1, types: [Strict.Reading.self]))
            }
            try checks.version(gaps, is: 0, "no rule")
            let ruled = checks.configuration(gaps, 1, types: [Strict.Reading.self]) { migration, _ in
                migration.fillNulls(onType: "Reading", of: "whole", with: -1)
                migration.fillNulls(onType: "Reading", of: "real", with: -1.0)
                migration.fillNulls(onType: "Reading", of: "text", with: "none")
                migration.fillNulls(onType: "Reading", of: "day", with: Date(timeIntervalSince1970: -1))
                migration.enumerateObjects(ofType: "Reading") { old, new in
                    if old?["flag"] == nil { new?["flag"] = true }
                }
            }
            try compare(checks, "with rules", configuration: ruled, count: count, every: 7)
            checks.report.add(.rows, Double(count), statistic: "count")
        }
    }

    private func fill(_ configuration: Realm.Configuration, _ count: Int, everyNull: Int) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write {
            for id in 0..<count {
                let reading = Loose.Reading()
                reading.id = id
                if everyNull == 0 || id % everyNull != 0 {
                    reading.whole = id
                    reading.real = Double(id) / 4
                    reading.text = "text \(id)"
                    reading.day = Date(timeIntervalSince1970: Double(id))
                    reading.flag = id % 2 == 0
                }
                realm.add(reading)
            }
        }
    }

    private func compare(
        _ checks: MigrationChecks, _ address: String, configuration: Realm.Configuration, count: Int, every: Int
    ) throws {
        let realm = try Realm(configuration: configuration)
        var wrong = 0
        for reading in realm.objects(Strict.Reading.self) {
            let id = reading.id
            let isNull = every > 0 && id % every == 0
            let isRight =
                reading.whole == (isNull ? -1 : id) && reading.real == (isNull ? -1 : Double(id) / 4)
                && reading.text == (isNull ? "none" : "text \(id)")
                && reading.day.timeIntervalSince1970 == (isNull ? -1 : Double(id))
                && reading.flag == (isNull || id % 2 == 0)
            if !isRight { wrong += 1 }
        }
        checks.report.check("\(address), objects", expected: count, got: realm.objects(Strict.Reading.self).count)
        checks.report.check("\(address), wrong values", expected: 0, got: wrong)
    }
}
