import Foundation
import Strata
import Testing

@Suite struct MigrationTests {
    enum Before {
        final class Item: Object {
            @Persisted var code: String?
            @Persisted var number = 0
            @Persisted var amount: Int?
            @Persisted var friend: Item?
            @Persisted var names: List<String>
            override class func className() -> String { "Item" }
        }
        final class Gone: Object {
            @Persisted var text = ""
            override class func className() -> String { "Gone" }
        }
    }

    enum Keyed {
        final class Item: Object {
            @Persisted var code: String?
            @Persisted(primaryKey: true) var number = 0
            @Persisted var amount: Int?
            @Persisted var friend: Item?
            @Persisted var names: List<String>
            override class func className() -> String { "Item" }
        }
    }

    enum Renamed {
        final class Item: Object {
            @Persisted var label: String?
            @Persisted var number = 0
            @Persisted var amount: Int?
            @Persisted var companion: Item?
            @Persisted var titles: List<String>
            override class func className() -> String { "Item" }
        }
        final class Extra: Object {
            @Persisted var text = ""
            @Persisted var item: Item?
            override class func className() -> String { "Extra" }
        }
    }

    private func filled(numbers: [Int] = [1, 2, 3]) throws -> TemporaryFile {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([Before.Item.self, Before.Gone.self]))
        try realm.write {
            var last: Before.Item?
            for number in numbers {
                let item = Before.Item(value: ["number": number])
                item.code = number == 2 ? nil : "code \(number)"
                item.amount = number == 3 ? nil : number * 10
                item.friend = last
                item.names.append(objectsIn: ["n\(number)", "m"])
                realm.add(item)
                last = item
            }
            realm.add(Before.Gone(value: ["text": "old"]))
        }
        return file
    }

    @Test("a new primary key finds objects, and links stay")
    func newPrimaryKey() throws {
        let file = try filled()
        let realm = try Realm(configuration: file.configuration([Keyed.Item.self], version: 1))
        #expect(realm.object(ofType: Keyed.Item.self, forPrimaryKey: 2)?.friend?.code == "code 1")
        try realm.write { realm.create(Keyed.Item.self, value: ["number": 9]) }
        #expect(realm.object(ofType: Keyed.Item.self, forPrimaryKey: 9)?.number == 9)
        #expect(throws: Realm.Error.self) {
            try realm.write { realm.create(Keyed.Item.self, value: ["number": 9]) }
        }
    }

    @Test("a primary key that collides is an error that names class and value")
    func collidingKey() throws {
        let file = try filled(numbers: [1, 2, 2])
        let error = try #require(throws: Realm.Error.self, "migrated to a key that is not unique") {
            try Realm(configuration: file.configuration([Keyed.Item.self], version: 1))
        }
        #expect(error.code == .duplicateKey)
        #expect(error.message.contains("'Item.number' has the value 2 more than once: 2 objects"))
        let realm = try Realm(configuration: file.configuration([Before.Item.self, Before.Gone.self]))
        #expect(realm.objects(Before.Item.self).map(\.number) == [1, 2, 2])
    }

    @Test("renaming keeps values, links and lists, and new and removed classes are walked")
    func renamingKeepsAll() throws {
        let file = try filled()
        let walked = Locked<[String]>([])
        let configuration = file.configuration([Renamed.Item.self, Renamed.Extra.self], version: 1) { migration, _ in
            migration.renameProperty(onType: "Item", from: "code", to: "middle")
            migration.renameProperty(onType: "Item", from: "middle", to: "label")
            migration.renameProperty(onType: "Item", from: "friend", to: "companion")
            migration.renameProperty(onType: "Item", from: "names", to: "titles")
            migration.enumerateObjects(ofType: "Gone") { old, new in
                walked.with { $0.append("\(old?["text"] as? String ?? "nil") \(new == nil)") }
                migration.create("Extra", value: ["text": old?["text"] as? String ?? ""])
            }
            migration.enumerateObjects(ofType: "Extra") { old, new in
                walked.with { $0.append("\(old == nil) \(new?["text"] as? String ?? "nil")") }
            }
            migration.enumerateObjects(ofType: "Item") { _, new in
                guard let new, new["number"] as? Int == 3 else { return }
                migration.delete(new)
            }
            migration.deleteData(forType: "Gone")
        }
        do {
            let realm = try Realm(configuration: configuration)
            let items = realm.objects(Renamed.Item.self)
            #expect(items.map(\.label) == ["code 1", nil])
            #expect(items.map { $0.companion?.number } == [nil, 1])
            #expect(items.map { Array($0.titles) } == [["n1", "m"], ["n2", "m"]])
            #expect(realm.objects(Renamed.Extra.self).map(\.text) == ["old"])
            #expect(realm.schema["Gone"] == nil)
        }
        #expect(walked.current == ["old true", "true old"])
    }

    @Test("renaming a missing property fails the migration")
    func renamedMissingProperty() throws {
        let file = try filled()
        let configuration = file.configuration([Renamed.Item.self], version: 1) { migration, _ in
            migration.renameProperty(onType: "Item", from: "cod", to: "label")
        }
        #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        #expect(try Realm.schemaVersionAtURL(file.url) == 0)
    }

    @Test("a new class, an index and another order need no new version")
    func noNewVersionNeeded() throws {
        enum Indexed {
            final class Item: Object {
                @Persisted(indexed: true) var number = 0
                @Persisted var code: String?
                @Persisted var amount: Int?
                @Persisted var friend: Item?
                @Persisted var names: List<String>
                override class func className() -> String { "Item" }
            }
        }
        let file = try filled()
        let realm = try Realm(configuration: file.configuration([Indexed.Item.self, Note.self]))
        #expect(realm.objects(Indexed.Item.self).where { $0.number == 2 }.map(\.amount) == [20])
        #expect(realm.objects(Note.self).isEmpty)
    }
}
