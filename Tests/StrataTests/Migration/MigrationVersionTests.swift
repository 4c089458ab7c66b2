import Strata
import Testing

/// The documented rules for when a new version is needed, and the members of a migration.
@Suite struct MigrationVersionTests {
    enum Base {
        final class Item: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var name = ""
            @Persisted var link: Part?
            override class func className() -> String { "Item" }
        }
        final class Part: Object {
            @Persisted var text = ""
            override class func className() -> String { "Part" }
        }
        final class Other: Object {
            @Persisted var text = ""
            override class func className() -> String { "Other" }
        }
    }

    enum Added {
        final class Item: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var name = ""
            @Persisted var link: Base.Part?
            @Persisted var more = 0
            override class func className() -> String { "Item" }
        }
    }

    enum Removed {
        final class Item: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var name = ""
            override class func className() -> String { "Item" }
        }
    }

    enum Retyped {
        final class Item: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var name = 0
            @Persisted var link: Base.Part?
            override class func className() -> String { "Item" }
        }
    }

    enum Nullable {
        final class Item: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var name: String?
            @Persisted var link: Base.Part?
            override class func className() -> String { "Item" }
        }
    }

    enum Keyless {
        final class Item: Object {
            @Persisted var id = 0
            @Persisted var name = ""
            @Persisted var link: Base.Part?
            override class func className() -> String { "Item" }
        }
    }

    enum Relinked {
        final class Item: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var name = ""
            @Persisted var link: Base.Other?
            override class func className() -> String { "Item" }
        }
    }

    enum Embedded {
        final class Item: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var name = ""
            @Persisted var link: Part?
            override class func className() -> String { "Item" }
        }
        final class Part: EmbeddedObject {
            @Persisted var text = ""
            override class func className() -> String { "Part" }
        }
    }

    enum Reordered {
        final class Item: Object {
            @Persisted var link: Base.Part?
            @Persisted(indexed: true) var name = ""
            @Persisted(primaryKey: true) var id = 0
            override class func className() -> String { "Item" }
        }
    }

    private func filled() throws -> TemporaryFile {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([Base.Item.self, Base.Other.self]))
        try realm.write { realm.create(Base.Item.self, value: ["id": 3, "name": "n", "link": ["text": "t"]]) }
        return file
    }

    @Test("a version bump is needed to add, remove or retype a property, and for nullability, key, target, embedding")
    func versionBumpNeeded() throws {
        let cases: [(String, ObjectBase.Type)] = [
            ("'Item.more' was added", Added.Item.self), ("'Item.link' was removed", Removed.Item.self),
            ("'Item.name' changed its type", Retyped.Item.self), ("'Item.name' became optional", Nullable.Item.self),
            ("the primary key of 'Item'", Keyless.Item.self), ("'Item.link'", Relinked.Item.self),
            ("'Part' is now embedded", Embedded.Item.self),
        ]
        for (reason, type) in cases {
            let file = try filled()
            let error = try #require(throws: Realm.Error.self, "opened: \(reason)") {
                try Realm(configuration: file.configuration([type]))
            }
            #expect(error.code == .schemaMismatch)
            #expect(error.message.contains(reason), "\(error.message)")
            // Values of another kind need a rule: see below, and MigrationRuleTests.
            if type == Retyped.Item.self || type == Relinked.Item.self { continue }
            let realm = try Realm(configuration: file.configuration([type], version: 1))
            #expect(realm.dynamicObjects("Item").map { $0["id"] as? Int } == [3], "\(reason)")
        }
    }

    @Test("no version bump is needed to add or remove a class, for an index, and for another order")
    func noVersionBumpNeeded() throws {
        let file = try filled()
        let realm = try Realm(configuration: file.configuration([Reordered.Item.self, Note.self]))
        #expect(realm.objects(Reordered.Item.self).where { $0.name == "n" }.first?.link?.text == "t")
        #expect(realm.schema["Other"] != nil)
    }

    @Test("a link to another class is a type change: its objects are not dropped without a rule")
    func linkToOtherClass() throws {
        let file = try filled()
        let error = try #require(throws: Realm.Error.self, "dropped a link") {
            try Realm(configuration: file.configuration([Relinked.Item.self], version: 1))
        }
        #expect(error.message.contains("'Item.link' changed its type and 1 object has"), "\(error.message)")
        let configuration = file.configuration([Relinked.Item.self], version: 1) { migration, _ in
            migration.convertProperty(onType: "Item", "link") { part in
                guard let part = part as? MigrationObject else { return nil }
                return migration.create("Other", value: ["text": part["text"] as? String ?? ""])
            }
        }
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Relinked.Item.self).first?.link?.text == "t")
    }

    @Test("deleteData: deletes the objects of a class, and the class if the program lacks it")
    func deleteDataOfAClass() throws {
        let file = try filled()
        let answers = Locked<[Bool]>([])
        let configuration = file.configuration([Removed.Item.self], version: 1) { migration, _ in
            answers.with {
                $0 += [
                    migration.deleteData(forType: "Part"), migration.deleteData(forType: "Nothing"),
                    migration.deleteData(forType: "Item"),
                ]
            }
        }
        let realm = try Realm(configuration: configuration)
        #expect(answers.current == [true, false, true])
        #expect(realm.schema["Part"] == nil && realm.schema["Other"] != nil)
        #expect(realm.objects(Removed.Item.self).isEmpty)
    }
}
