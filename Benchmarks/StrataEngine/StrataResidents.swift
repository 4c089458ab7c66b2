import Harness
import RunRecords
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The class of residents in the old version of a program.
enum OldResidents {
    final class Resident: Object {
        @Persisted(primaryKey: true) var number: Int
        @Persisted var first = ""
        @Persisted var last = ""
        @Persisted var born = 0
        override class func className() -> String { "ChangedResident" }
    }
}

/// The class of residents in a new version of the program.
protocol NewResident: Object {
    var values: [Value] { get }
}

enum ResidentsWithVisits {
    final class Resident: Object, NewResident {
        @Persisted(primaryKey: true) var number: Int
        @Persisted var first = ""
        @Persisted var last = ""
        @Persisted var born = 0
        @Persisted var visits = 0
        override class func className() -> String { "ChangedResident" }
        var values: [Value] {
            [.integer(Int64(number)), .text(first), .text(last), .integer(Int64(born)), .integer(Int64(visits))]
        }
    }
}

enum ResidentsWithoutBirth {
    final class Resident: Object, NewResident {
        @Persisted(primaryKey: true) var number: Int
        @Persisted var first = ""
        @Persisted var last = ""
        override class func className() -> String { "ChangedResident" }
        var values: [Value] { [.integer(Int64(number)), .text(first), .text(last)] }
    }
}

enum ResidentsWithSurname {
    final class Resident: Object, NewResident {
        @Persisted(primaryKey: true) var number: Int
        @Persisted var first = ""
        @Persisted var surname = ""
        @Persisted var born = 0
        override class func className() -> String { "ChangedResident" }
        var values: [Value] { [.integer(Int64(number)), .text(first), .text(surname), .integer(Int64(born))] }
    }
}

enum ResidentsWithName {
    final class Resident: Object, NewResident {
        @Persisted(primaryKey: true) var number: Int
        @Persisted var first = ""
        @Persisted var last = ""
        @Persisted var born = 0
        @Persisted var name = ""
        override class func className() -> String { "ChangedResident" }
        var values: [Value] {
            [.integer(Int64(number)), .text(first), .text(last), .integer(Int64(born)), .text(name)]
        }
    }
}

/// Columns are changed by a migration, with a block for changes that are not automatic.
extension StrataEngine: ColumnChangingEngine {
    static func pathOfResidents(at location: DatabaseLocation) -> String { location.directory + "/residents.strata" }

    private static func configuration(
        _ type: ObjectBase.Type, version: UInt64, _ location: DatabaseLocation, _ settings: EngineSettings
    ) -> Realm.Configuration {
        var configuration = configuration(settings)
        configuration.fileURL = URL(fileURLWithPath: pathOfResidents(at: location))
        configuration.schemaVersion = version
        configuration.objectTypes = [type]
        return configuration
    }

    private static func type(after change: ColumnChange) -> any NewResident.Type {
        switch change {
        case .add: ResidentsWithVisits.Resident.self
        case .remove: ResidentsWithoutBirth.Resident.self
        case .rename: ResidentsWithSurname.Resident.self
        case .rewrite: ResidentsWithName.Resident.self
        }
    }

    private func checked(_ body: () throws -> Void) throws(EngineError) {
        do { try body() } catch { throw EngineError(error) }
    }

    package func addResidents(
        _ rows: [ResidentRow], _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) {
        try checked {
            let realm = try Realm(
                configuration: Self.configuration(OldResidents.Resident.self, version: 0, location, settings))
            try realm.write {
                for row in rows {
                    let resident = OldResidents.Resident()
                    resident.number = Int(row.number)
                    resident.first = row.first
                    resident.last = row.last
                    resident.born = Int(row.born)
                    realm.add(resident)
                }
            }
        }
    }

    package func change(
        _ change: ColumnChange, _ location: DatabaseLocation, settings: EngineSettings, changed: () -> Void
    ) throws(EngineError) {
        try checked {
            var configuration = Self.configuration(Self.type(after: change), version: 1, location, settings)
            configuration.migrationBlock = { migration, _ in
                switch change {
                case .add, .remove: break
                case .rename: migration.renameProperty(onType: "ChangedResident", from: "last", to: "surname")
                case .rewrite:
                    migration.enumerateObjects(ofType: "ChangedResident") { old, new in
                        new?["name"] = "\(old?["first"] as? String ?? "") \(old?["last"] as? String ?? "")"
                    }
                }
            }
            let realm = try Realm(configuration: configuration)
            changed()
            withExtendedLifetime(realm) {}
        }
    }

    package func readResidents(
        after change: ColumnChange, _ location: DatabaseLocation, settings: EngineSettings,
        _ body: ([Value]) -> Bool
    ) throws(EngineError) {
        try checked {
            let configuration = Self.configuration(Self.type(after: change), version: 1, location, settings)
            // An open would migrate a file that was not migrated.
            let version = try Realm.schemaVersionAtURL(URL(fileURLWithPath: Self.pathOfResidents(at: location)))
            guard version == 1 else { throw EngineError(.refused, "the schema is of version \(version)") }
            try Self.read(Self.type(after: change), try Realm(configuration: configuration), body)
        }
    }

    private static func read<Resident: NewResident>(
        _ type: Resident.Type, _ realm: Realm, _ body: ([Value]) -> Bool
    ) throws {
        for resident in realm.objects(type) where !body(resident.values) { return }
    }
}
