import Strata
import Testing

/// Names and values in a migration's objects.
@Suite struct MigrationNameTests {
    enum Size: String, PersistableEnum { case small, large }
    enum Step: Int, PersistableEnum { case first = 1, second = 2 }
    struct Title: CustomPersistable {
        let text: String
        init(persistedValue: String) { text = persistedValue }
        var persistableValue: String { text }
    }
    final class Part: Object {
        @Persisted var name = ""
        @Persisted var count = 0
        override class func propertiesMapping() -> [String: String] { ["name": "part_name"] }
    }
    final class Machine: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var label = ""
        @Persisted var part: Part?
        @Persisted var parts: List<Part>
        @Persisted var thing: AnyRealmValue
        override class func propertiesMapping() -> [String: String] {
            ["id": "key", "label": "the_label", "part": "first_part", "parts": "all_parts"]
        }
    }

    private func migrated(_ block: @escaping MigrationBlock) throws -> [Machine] {
        let file = TemporaryFile()
        do {
            let realm = try Realm(configuration: file.configuration([Machine.self]))
            let part = Part(value: ["name": "p", "count": 3])
            let machine = Machine(value: ["id": 1, "label": "m", "part": part, "parts": [part], "thing": part])
            try realm.write { realm.add(machine) }
        }
        let realm = try Realm(configuration: file.configuration([Machine.self], version: 1, block))
        return realm.objects(Machine.self).map { $0.detached() }
    }

    @Test("old objects use the names of the file, new ones also those of the program")
    func namesOfTheFile() throws {
        let machines = try migrated { migration, _ in
            var walked = 0
            migration.enumerateObjects(ofType: "Machine") { old, new in
                walked += 1
                #expect(old?["the_label"] as? String == "m" && new?["the_label"] as? String == "m")
                #expect(new?["label"] as? String == "m" && new?["id"] as? Int == 1)
                #expect(old?["first_part"]["part_name"] as? String == "p" && new?["part"]["name"] as? String == "p")
                #expect((new?["parts"] as? List<MigrationObject>)?.first?["name"] as? String == "p")
                new?["label"] = "n"
            }
            #expect(walked == 1)
            migration.create("Machine", value: ["id": 2, "label": "made"])
        }
        #expect(machines.map(\.id) == [1, 2] && machines.map(\.label) == ["n", "made"])
    }

    @Test("a name that only the program has is unknown to old objects")
    func programsNameIsUnknown() throws {
        #expect(throws: Realm.Error.self) {
            try migrated { migration, _ in
                migration.enumerateObjects(ofType: "Machine") { old, _ in _ = old?["label"] }
            }
        }
    }

    @Test("creating an object of an unknown class fails the migration, and names the class")
    func unknownClassIsNamed() throws {
        let error = #expect(throws: Realm.Error.self) {
            try migrated { migration, _ in migration.create("Mashine", value: ["label": "x"])["label"] = "y" }
        }
        #expect(error?.code == .invalidInput && error?.message.contains("no class 'Mashine'") == true)
    }

    @Test("an object in a value of any type is read by name")
    func objectInAnyValue() throws {
        let machines = try migrated { migration, _ in
            migration.enumerateObjects(ofType: "Machine") { old, new in
                let (before, after) = (old?["thing"] as? MigrationObject, new?["thing"] as? MigrationObject)
                #expect(before?["part_name"] as? String == "p" && after?["count"] as? Int == 3)
                new?["thing"] = migration.create("Part", value: ["name": "q"])
                #expect((new?["thing"] as? MigrationObject)?["name"] as? String == "q")
            }
        }
        #expect(machines[0].thing.object(Part.self)?.name == "q")
    }

    @Test("values of enumerations and of custom types are accepted in their stored form")
    func storedFormIsAccepted() throws {
        let machines = try migrated { migration, _ in
            migration.create("Machine", value: ["id": Step.second, "label": Size.large])
            migration.enumerateObjects(ofType: "Machine") { old, new in
                if old != nil { new?["label"] = Title(persistedValue: "custom") }
            }
            migration.create("Part", value: ["name": Title(persistedValue: "t"), "count": Step.first])
        }
        #expect(machines.map(\.label) == ["custom", "large"])
        #expect(throws: Realm.Error.self) {
            try migrated { migration, _ in migration.create("Part", value: ["count": Size.small]) }
        }
    }
}
