import Harness
import RunRecords
import Strata

/// A migration reads the inverses of old and new objects, declared or not, while links change.
struct BacklinksInMigration: MigrationScenario {
    let slug = "backlinks-in-migration"
    let question = "Can a migration read the backlinks of an object, both old and new?"

    enum Before {
        final class Owner: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var pets: List<Pet>
            override class func className() -> String { "Owner" }
        }
        final class Pet: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted(originProperty: "pets") var owners: LinkingObjects<Owner>
            override class func className() -> String { "Pet" }
        }
    }

    enum After {
        final class Owner: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var pets: List<Pet>
            override class func className() -> String { "Owner" }
        }
        final class Pet: Object {
            @Persisted(primaryKey: true) var id = 0
            /// Ids of the owners, ascending.
            @Persisted var before: List<Int>
            @Persisted var after: List<Int>
            @Persisted(originProperty: "pets") var owners: LinkingObjects<Owner>
            override class func className() -> String { "Pet" }
        }
    }

    private static func ids(_ owners: Results<MigrationObject>) throws -> [Int] {
        try owners.map { try $0.value("id", as: Int.self) }.sorted()
    }

    func run(_ context: CaseContext) throws {
        try MigrationChecks.run(context) { checks in
            let url = try checks.file("database")
            let count = 50
            do {
                let realm = try Realm(configuration: checks.configuration(url, 0, types: [Before.Owner.self]))
                try realm.write {
                    let pets = (0..<count).map { realm.create(Before.Pet.self, value: ["id": $0]) }
                    for id in 0..<count {
                        let owner = realm.create(Before.Owner.self, value: ["id": id])
                        owner.pets.append(objectsIn: pets[0...id])
                    }
                }
            }
            let migrating = checks.configuration(url, 1, types: [After.Owner.self]) { migration, _ in
                for owner in migration.objects(ofType: "Owner").filter("id >= 25") {
                    owner["pets"] = [MigrationObject]()
                }
                try migration.enumerateObjects(ofType: "Pet") { old, new in
                    guard let old, let new else { return }
                    let declared: Results<MigrationObject> = try old.value("owners")
                    let found = try old.linkingObjects(ofType: "Owner", property: "pets")
                    let ids = try Self.ids(found)
                    guard try Self.ids(declared) == ids else { return new["before"] = [-1] }
                    new["before"] = ids
                    new["after"] = try Self.ids(try new.value("owners", as: Results<MigrationObject>.self))
                }
            }
            let realm = try Realm(configuration: migrating)
            let pets = Array(realm.objects(After.Pet.self))
            let old = (0..<count).map { Array($0..<count) }
            let new = (0..<count).map { Array($0..<max($0, 25)) }
            checks.report.check("pets", expected: Array(0..<count), got: pets.map(\.id))
            checks.report.check("old", expected: old, got: pets.map { Array($0.before) })
            checks.report.check("new", expected: new, got: pets.map { Array($0.after) })
            checks.report.check("afterwards", expected: new, got: pets.map { $0.owners.map(\.id).sorted() })
            for (name, type, property) in [
                ("unknown class", "Ower", "pets"), ("unknown property", "Owner", "pet"), ("no link", "Owner", "id"),
            ] {
                checks.refused(name, .invalidInput) {
                    try Realm.performMigration(
                        for: checks.configuration(url, 2, types: [After.Owner.self]) { migration, _ in
                            _ = try migration.oldObjects(ofType: "Pet")[0].linkingObjects(
                                ofType: type, property: property)
                        })
                }
            }
        }
    }
}
