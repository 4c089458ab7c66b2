import Strata
import Testing

/// Walking, reading and querying inside a migration.
@Suite struct MigrationWalkTests {
    enum Old {
        final class Person: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var name = ""
            @Persisted var mood = "calm"
            @Persisted var score: Double?
            @Persisted var home: Home?
            @Persisted var pets: List<Pet>
            override class func className() -> String { "Person" }
        }
        final class Home: Object {
            @Persisted var city: City?
            override class func className() -> String { "Home" }
        }
        final class City: Object {
            @Persisted var size = 0
            override class func className() -> String { "City" }
        }
        final class Pet: Object {
            @Persisted var name = ""
            override class func className() -> String { "Pet" }
        }
    }

    enum New {
        final class Person: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var name = ""
            @Persisted var mood = Mood.calm
            @Persisted var score: Double?
            @Persisted var home: Home?
            @Persisted var pets: List<Pet>
            @Persisted var citySize = 0
            override class func className() -> String { "Person" }
        }
        final class Home: Object {
            @Persisted var city: City?
            override class func className() -> String { "Home" }
        }
        final class City: Object {
            @Persisted var size = 0
            override class func className() -> String { "City" }
        }
        final class Pet: Object {
            @Persisted var name = ""
            @Persisted(originProperty: "pets") var owners: LinkingObjects<Person>
            override class func className() -> String { "Pet" }
        }
        final class Log: Object {
            @Persisted(primaryKey: true) var id = 0
            override class func className() -> String { "Log" }
        }
    }

    private func filled(count: Int = 6) throws -> TemporaryFile {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([Old.Person.self]))
        try realm.write {
            let home = realm.create(Old.Home.self, value: ["city": ["size": 42]])
            let pet = realm.create(Old.Pet.self, value: ["name": "Taro"])
            realm.create(Old.Pet.self, value: ["name": "Stray"])
            for id in 0..<count {
                let person = realm.create(Old.Person.self, value: ["id": id, "name": "p\(id)"])
                person.home = id == 0 ? nil : home
                person.score = id == 1 ? nil : Double(id)
                if id % 2 == 0 { person.pets.append(objectsIn: [pet, pet]) }
            }
        }
        return file
    }

    private func migrate(_ file: TemporaryFile, _ block: @escaping MigrationBlock) throws -> Realm {
        try Realm(configuration: file.configuration([New.Person.self, New.Log.self], version: 1, block))
    }

    @Test("mutate-while-enumerating: exactly the objects of the start are visited")
    func objectsOfTheStart() throws {
        let file = try filled(count: 5_000)
        let visited = Locked<[Int]>([])
        let realm = try migrate(file) { migration, _ in
            var victims = migration.objects(ofType: "Person").filter("id >= 4500").map { $0 }
            migration.enumerateObjects(ofType: "Person") { old, new in
                guard let new, let id = old?["id"] as? Int else { return }
                visited.with { $0.append(id) }
                migration.create("Person", value: ["id": 10_000 + id, "name": "made"])
                if let victim = victims.popLast() { migration.delete(victim) }
                if id == 10 {
                    // Another object with the key of an unvisited one is not its new twin.
                    let twenty = migration.objects(ofType: "Person").filter("id == 20")[0]
                    migration.delete(twenty)
                    migration.create("Person", value: ["id": 20, "name": "other"])
                }
                if id % 2 == 1 { migration.delete(new) }
            }
        }
        let expected = (0..<4_500).filter { $0 != 20 }
        #expect(visited.current == expected)
        let people = realm.objects(New.Person.self)
        #expect(people.where { $0.name == "made" }.count == expected.count)
        #expect(people.where { $0.id < 10_000 }.map(\.id) == (0..<4_500).filter { $0 % 2 == 0 })
        #expect(realm.object(ofType: New.Person.self, forPrimaryKey: 20)?.name == "other")
    }

    @Test("mutate-while-enumerating: of a new class, exactly the objects of the start are visited")
    func objectsOfANewClass() throws {
        let file = try filled()
        let visited = Locked<[Int]>([])
        let realm = try migrate(file) { migration, _ in
            for id in [5, 6, 7, 20] { migration.create("Log", value: ["id": id]) }
            migration.enumerateObjects(ofType: "Log") { old, new in
                #expect(old == nil)
                guard let new, let id = new["id"] as? Int else { return }
                visited.with { $0.append(id) }
                migration.create("Log", value: ["id": id + 1000])
                if id == 6 { migration.objects(ofType: "Log").filter("id == 7").forEach { migration.delete($0) } }
            }
        }
        #expect(visited.current == [5, 6, 20])
        #expect(realm.objects(New.Log.self).map(\.id) == [5, 6, 20, 1005, 1006, 1020])
    }

    @Test("nested-access: typed values through links, and an unknown name throws")
    func nestedAccess() throws {
        let file = try filled()
        let messages = Locked<[String]>([])
        let realm = try migrate(file) { migration, _ in
            func note(_ body: () throws -> Void) {
                do { try body() } catch { messages.with { $0.append("\(error)") } }
            }
            try migration.enumerateObjects(ofType: "Person") { old, new in
                guard let old, let new else { return }
                let size: Int? = try old.value("home.city.size")
                try new.set("citySize", to: size ?? -1)
                #expect(try old.value("mood", as: Mood.self) == .calm)
                #expect(try old.value("id", as: Int16.self) == Int16(old.value("id", as: Int.self)))
                let pets: List<MigrationObject> = try new.value("pets")
                let oldPets = try old.value("pets", as: List<MigrationObject>.self)
                #expect(pets.map { $0["name"] as? String } == oldPets.map { $0["name"] as? String })
                guard try old.value("id", as: Int.self) == 1 else { return }
                #expect(try old.value("score", as: Double?.self) == nil)
                note { _ = try old.value("score", as: Double.self) }
                note { _ = try old.value("nmae", as: String.self) }
                note { _ = try old.value("home.town.size", as: Int?.self) }
                note { _ = try old.value("name.length", as: Int.self) }
                note { _ = try old.value("name", as: Int.self) }
                note { try new.set("citySize", to: "big") }
                note { try new.set("townSize", to: 1) }
                note { try old.set("name", to: "x") }
            }
        }
        let expected = [
            "'Person.score' is nil and no Double", "'Person' has no property 'nmae'", "'Home' has no property 'town'",
            "'name' is no object but p1", "'Person.name' is p1, a String, and no Int",
            "'Person.citySize' expects int", "'Person' has no property 'townSize'",
            "is read-only; change the new object",
        ]
        #expect(messages.current.count == expected.count)
        for (message, part) in zip(messages.current, expected) {
            #expect(message.contains(part), "\(message)")
        }
        #expect(realm.objects(New.Person.self).map(\.citySize) == [-1, 42, 42, 42, 42, 42])
    }

    @Test("backlinks-in-migration: both sides are readable, declared as an inverse or not")
    func backlinksOnBothSides() throws {
        let file = try filled()
        let counts = Locked<[[Int]]>([])
        let errors = Locked<[String]>([])
        _ = try migrate(file) { migration, _ in
            migration.enumerateObjects(ofType: "Pet") { old, new in
                let oldOwners = old?["owners"] as? Results<MigrationObject>
                let newOwners = new?["owners"] as? Results<MigrationObject>
                counts.with { $0.append([oldOwners?.count ?? -1, newOwners?.count ?? -1]) }
            }
            try migration.enumerateObjects(ofType: "City") { old, new in
                guard let old, let new else { return }
                let oldHomes = try old.linkingObjects(ofType: "Home", property: "city")
                let newHomes = try new.linkingObjects(ofType: "Home", property: "city")
                counts.with { $0.append([oldHomes.count, newHomes.count]) }
                for (name, property) in [("House", "city"), ("Home", "town"), ("Person", "home")] {
                    do { _ = try old.linkingObjects(ofType: name, property: property) } catch {
                        errors.with { $0.append("\(error)") }
                    }
                }
            }
        }
        #expect(counts.current == [[6, 6], [0, 0], [1, 1]])
        #expect(errors.current.count == 3)
    }

    @Test("objects of both sides are found by queries inside the migration")
    func queriesOnBothSides() throws {
        let file = try filled()
        let realm = try migrate(file) { migration, _ in
            #expect(migration.oldSchema["Person"]?["citySize"] == nil)
            #expect(migration.newSchema["Person"]?["citySize"]?.type == .int)
            for person in migration.objects(ofType: "Person").where({ $0["home.city.size"] == 42 && $0["id"] > 2 }) {
                person["citySize"] = 1
            }
            #expect(migration.objects(ofType: "Person").filter("citySize == 1").count == 3)
            #expect(migration.objects(ofType: "Person").where { $0["name"].starts(with: "p") }.count == 6)
            #expect(migration.objects(ofType: "Person").where { $0["score"].isNull }.map { $0["id"] as? Int } == [1])
            for person in migration.objects(ofType: "Person") { person["name"] = "q" }
            #expect(migration.oldObjects(ofType: "Person").filter("name BEGINSWITH 'p'").count == 6)
            #expect(
                migration.oldObjects(ofType: "Person").sorted(byKeyPath: "id", ascending: false).first?["name"]
                    as? String == "p5")
        }
        #expect(realm.objects(New.Person.self).map(\.name) == Array(repeating: "q", count: 6))
    }

    @Test("an old object cannot be changed, and an object of an unknown class cannot be created")
    func oldObjectIsConstant() throws {
        for block in [
            { migration, _ in
                migration.enumerateObjects(ofType: "Person") { old, _ in old?["name"] = "x" }
            },
            { migration, _ in
                migration.enumerateObjects(ofType: "Person") { old, _ in
                    (old?["pets"] as? List<MigrationObject>)?.removeAll()
                }
            },
            { migration, _ in migration.enumerateObjects(ofType: "Person") { old, _ in migration.delete(old!) } },
            { migration, _ in migration.create("Persn") },
            { migration, _ in _ = migration.objects(ofType: "Persn").count },
        ] as [MigrationBlock] {
            let file = try filled()
            #expect(throws: Realm.Error.self) { try migrate(file, block) }
            #expect(try Realm.schemaVersionAtURL(file.url) == 0)
        }
    }

    @Test("assigning an old object links to its new twin; a deleted one is refused")
    func oldObjectLinksToTwin() throws {
        let file = try filled()
        let realm = try migrate(file) { migration, _ in
            let stray = migration.oldObjects(ofType: "Pet").filter("name == 'Stray'")[0]
            migration.enumerateObjects(ofType: "Person") { _, new in new?["pets"] = [stray] }
        }
        #expect(realm.objects(New.Person.self).allSatisfy { $0.pets.map(\.name) == ["Stray"] })

        let other = try filled()
        #expect(throws: Realm.Error.self) {
            try migrate(other) { migration, _ in
                let stray = migration.oldObjects(ofType: "Pet").filter("name == 'Stray'")[0]
                migration.deleteData(forType: "Pet")
                migration.enumerateObjects(ofType: "Person") { _, new in new?["pets"] = [stray] }
            }
        }
    }
}
