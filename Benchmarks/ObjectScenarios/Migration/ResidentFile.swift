import Harness
import RunRecords
import Seeds
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file of residents, written by the first version of a program and opened by later ones.
struct ResidentFile {
    /// The expected values of a row in the newest version.
    struct Row: Equatable {
        var number: Int
        var name: String
        var age: Int
        var isAdult: Bool
        var friend: Int?
        var neighbours: [Int]
    }

    static let year = 2_026
    let path: String
    let count: Int

    var url: URL { URL(fileURLWithPath: path) }

    /// Every value is derived from the number of the row.
    static func birthYear(_ number: Int) -> Int { year - Int(splitMix(UInt64(number)) % 90) }

    /// One row in a hundred has a name that does not fit into a page of rows.
    static func lastName(_ number: Int) -> String {
        number % 97 == 5 ? "Long \(number)" + String(repeating: ", and so on", count: 300) : "Last \(number % 17)"
    }

    func friend(_ number: Int) -> Int? { number % 3 == 0 ? nil : (number * 7 + 1) % count }
    func neighbours(_ number: Int) -> [Int] { (0..<(number % 4)).map { (number + $0 * 5) % count } }

    var expected: [Row] {
        (0..<count).map { number in
            let age = Self.year - Self.birthYear(number)
            return Row(
                number: number, name: "First \(number) \(Self.lastName(number))", age: age, isAdult: age >= 18,
                friend: friend(number), neighbours: neighbours(number))
        }
    }

    func configuration(
        _ version: UInt64, _ type: ObjectBase.Type, durability: DurabilityClass, _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: url, schemaVersion: version, migrationBlock: block, objectTypes: [type],
            durability: durability.ofRealm)
    }

    /// Writes the file with version 0.
    func fill(_ durability: DurabilityClass) throws {
        let realm = try Realm(configuration: configuration(0, Version0.Resident.self, durability: durability))
        try realm.write {
            var residents: [Version0.Resident] = []
            for number in 0..<count {
                let resident = Version0.Resident()
                resident.number = number
                resident.firstName = "First \(number)"
                resident.lastName = Self.lastName(number)
                resident.birthYear = Self.birthYear(number)
                realm.add(resident)
                residents.append(resident)
            }
            for number in 0..<count {
                residents[number].friend = friend(number).map { residents[$0] }
                residents[number].neighbours.append(objectsIn: neighbours(number).map { residents[$0] })
            }
        }
    }

    /// The rows that version 0 of the program must show.
    var expected0: [String] {
        (0..<count).map { number in
            "\(number) First \(number) \(Self.lastName(number)) \(Self.birthYear(number)) \(friend(number) ?? -1) "
                + "\(neighbours(number))"
        }
    }

    /// The rows in version 0 of the program.
    ///
    /// - Parameter version: of the schema; any number is possible.
    func rows0(_ durability: DurabilityClass, version: UInt64 = 0) throws -> [String] {
        let realm = try Realm(configuration: configuration(version, Version0.Resident.self, durability: durability))
        return try realm.objects(Version0.Resident.self).map { resident in
            let friend = try resident.read(\.friend).map { try $0.read(\.number) }
            let neighbours = try resident.read(\.neighbours).map { try $0.read(\.number) }
            return "\(try resident.read(\.number)) \(try resident.read(\.firstName)) \(try resident.read(\.lastName)) "
                + "\(try resident.read(\.birthYear)) \(friend ?? -1) \(neighbours)"
        }
    }

    /// The rows in version 3 of the program, after the migration of its configuration.
    func rows3(_ configuration: Realm.Configuration) throws -> [Row] {
        let realm = try Realm(configuration: configuration)
        return try realm.objects(Version3.Resident.self).map { resident in
            Row(
                number: try resident.read(\.number), name: try resident.read(\.name), age: try resident.read(\.age),
                isAdult: try resident.read(\.isAdult),
                friend: try resident.read(\.friend).map { try $0.read(\.number) },
                neighbours: try resident.read(\.neighbours).map { try $0.read(\.number) })
        }
    }

    func schemaVersion() throws -> UInt64 { try Realm.schemaVersionAtURL(url) }

    // MARK: Migrations, as each version of the program has them

    static let block1: MigrationBlock = { migration, old in
        if old < 1 { joinNames(migration, into: "fullName") }
    }

    static let block2: MigrationBlock = { migration, old in
        if old < 1 { joinNames(migration, into: "name") }
        if old == 1 { migration.renameProperty(onType: "Resident", from: "fullName", to: "name") }
        if old < 2 { setAge(migration) }
    }

    static let block3: MigrationBlock = { migration, old in
        try block2(migration, old)
        migration.enumerateObjects(ofType: "Resident") { _, new in
            new?["isAdult"] = (new?["age"] as? Int ?? 0) >= 18
        }
    }

    private static func joinNames(_ migration: Migration, into name: String) {
        migration.enumerateObjects(ofType: "Resident") { old, new in
            new?[name] = "\(old?["firstName"] as? String ?? "") \(old?["lastName"] as? String ?? "")"
        }
    }

    private static func setAge(_ migration: Migration) {
        migration.enumerateObjects(ofType: "Resident") { old, new in
            new?["age"] = year - (old?["birthYear"] as? Int ?? 0)
        }
    }
}
