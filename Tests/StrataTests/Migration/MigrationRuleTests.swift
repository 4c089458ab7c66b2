import Foundation
import Strata
import Testing

/// Values of a changed property are kept, converted by a rule, or refused by name, but never silently lost.
@Suite struct MigrationRuleTests {
    enum Before {
        final class Item: Object {
            @Persisted var number = 0
            @Persisted var code: String?
            @Persisted var amount: Int?
            @Persisted var day: Date?
            @Persisted var weight: Float = 0
            @Persisted var friend: Item?
            @Persisted var sizes: List<Int>
            override class func className() -> String { "Item" }
        }
    }

    enum Required {
        final class Item: Object {
            @Persisted var number: Int?
            @Persisted var code = ""
            @Persisted var amount = 0
            @Persisted var day = Date(timeIntervalSince1970: 0)
            @Persisted var weight = 0.0
            @Persisted var friend: Item?
            @Persisted var sizes: List<Int>
            override class func className() -> String { "Item" }
        }
    }

    enum Retyped {
        final class Item: Object {
            @Persisted var number = ""
            @Persisted var code: Int?
            @Persisted var amount: Int?
            @Persisted var day: Date?
            @Persisted var weight: Float = 0
            @Persisted var friend: Item?
            @Persisted var sizes: List<String>
            override class func className() -> String { "Item" }
        }
    }

    private func filled(nulls: Bool = true) throws -> TemporaryFile {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([Before.Item.self]))
        try realm.write {
            var last: Before.Item?
            for number in 1...3 {
                let item = Before.Item(value: ["number": number])
                item.code = nulls && number == 2 ? nil : "\(number)00"
                item.amount = nulls && number == 3 ? nil : number * 10
                item.day = nulls && number == 1 ? nil : Date(timeIntervalSince1970: Double(number))
                item.weight = Float(number) / 2
                item.friend = last
                item.sizes.append(objectsIn: [number, 7])
                realm.add(item)
                last = item
            }
        }
        return file
    }

    private func failure(_ configuration: Realm.Configuration) -> Realm.Error? {
        do {
            _ = try Realm(configuration: configuration)
            return nil
        } catch { return error as? Realm.Error }
    }

    private func expectUntouched(_ file: TemporaryFile) throws {
        #expect(try Realm.schemaVersionAtURL(file.url) == 0)
        let realm = try Realm(configuration: file.configuration([Before.Item.self]))
        let items = realm.objects(Before.Item.self)
        #expect(items.map(\.code) == ["100", nil, "300"])
        #expect(items.map(\.amount) == [10, 20, nil])
        #expect(items.map { $0.friend?.number } == [nil, 1, 2])
        #expect(items.map { Array($0.sizes) } == [[1, 7], [2, 7], [3, 7]])
    }

    // MARK: optional-to-required

    @Test("optional-to-required: nulls without a rule are an error that names class, property and count")
    func nullsWithoutARule() throws {
        let file = try filled()
        let error = try #require(failure(file.configuration([Required.Item.self], version: 1)))
        #expect(error.code == .missingValues)
        for part in ["'Item.code' is required now and 1 object has", "'Item.amount'", "'Item.day'"] {
            #expect(error.message.contains(part), "\(error.message)")
        }
        try expectUntouched(file)
    }

    @Test("optional-to-required: values stay and a declared rule fills the nulls")
    func ruleFillsNulls() throws {
        let file = try filled()
        let configuration = file.configuration([Required.Item.self], version: 1) { migration, _ in
            migration.fillNulls(onType: "Item", of: "code", with: "none")
            migration.fillNulls(onType: "Item", of: "amount", with: -1)
            migration.enumerateObjects(ofType: "Item") { old, new in
                if old?["day"] == nil { new?["day"] = Date(timeIntervalSince1970: 99) }
            }
        }
        let realm = try Realm(configuration: configuration)
        let items = realm.objects(Required.Item.self)
        #expect(items.map(\.code) == ["100", "none", "300"])
        #expect(items.map(\.amount) == [10, 20, -1])
        #expect(items.map(\.day.timeIntervalSince1970) == [99, 2, 3])
        #expect(items.map(\.number) == [1, 2, 3])
        #expect(items.map(\.weight) == [0.5, 1, 1.5])
        #expect(items.map { $0.friend?.number } == [nil, 1, 2])
        try realm.write { realm.create(Required.Item.self, value: ["code": "later"]) }
        #expect(realm.objects(Required.Item.self).where { $0.code == "later" }.count == 1)
    }

    @Test("optional-to-required: without nulls nothing has to be declared")
    func requiredWithoutNulls() throws {
        let file = try filled(nulls: false)
        let realm = try Realm(configuration: file.configuration([Required.Item.self], version: 1))
        #expect(realm.objects(Required.Item.self).map(\.code) == ["100", "200", "300"])
        #expect(realm.objects(Required.Item.self).map(\.amount) == [10, 20, 30])
    }

    @Test("optional-to-required: a rule of another type is refused")
    func ruleOfOtherType() throws {
        let file = try filled()
        let configuration = file.configuration([Required.Item.self], version: 1) { migration, _ in
            migration.fillNulls(onType: "Item", of: "amount", with: "nothing")
        }
        #expect(failure(configuration)?.message.contains("'Item.amount' cannot hold nothing") == true)
        try expectUntouched(file)
    }

    // MARK: type-change

    @Test("type-change: without a rule it is an error that names the properties")
    func typeChangeWithoutARule() throws {
        let file = try filled()
        let error = try #require(failure(file.configuration([Retyped.Item.self], version: 1)))
        #expect(error.code == .missingValues)
        #expect(error.message.contains("'Item.number' changed its type and 3 objects have"))
        #expect(error.message.contains("'Item.code' changed its type and 2 objects have"))
        #expect(error.message.contains("'Item.sizes' changed its type and 3 objects have"))
        try expectUntouched(file)
    }

    @Test("type-change: a rule converts values, and links are preserved")
    func ruleConverts() throws {
        let file = try filled()
        let configuration = file.configuration([Retyped.Item.self], version: 1) { migration, _ in
            migration.convertProperty(onType: "Item", "number") { ($0 as? Int).map { "#\($0)" } }
            try migration.convertProperty(onType: "Item", "code") { value in
                guard let text = value as? String else { return nil }
                guard let number = Int(text) else { throw Realm.Error(.invalidInput, "no number: \(text)") }
                return number
            }
            migration.enumerateObjects(ofType: "Item") { old, new in
                new?["sizes"] = (old?["sizes"] as? List<Int>)?.map { "\($0)" }
            }
        }
        let realm = try Realm(configuration: configuration)
        let items = realm.objects(Retyped.Item.self)
        #expect(items.map(\.number) == ["#1", "#2", "#3"])
        #expect(items.map(\.code) == [100, nil, 300])
        #expect(items.map { Array($0.sizes) } == [["1", "7"], ["2", "7"], ["3", "7"]])
        #expect(items.map { $0.friend?.number } == [nil, "#1", "#2"])
    }

    @Test("type-change: a rule that leaves a required property empty is an error")
    func ruleLeavesEmpty() throws {
        let file = try filled()
        let configuration = file.configuration([Retyped.Item.self], version: 1) { migration, _ in
            migration.convertProperty(onType: "Item", "number") { ($0 as? Int) == 2 ? nil : "\($0 ?? 0)" }
            migration.convertProperty(onType: "Item", "code") { _ in nil }
            migration.convertProperty(onType: "Item", "sizes") { _ in [String]() }
        }
        let error = try #require(failure(configuration))
        #expect(error.message.contains("'Item.number'"), "\(error.message)")
        try expectUntouched(file)
    }

    @Test("type-change: a primary key of another type keeps the links that lead to its objects")
    func retypedKeyKeepsLinks() throws {
        enum Old {
            final class Place: Object {
                @Persisted(primaryKey: true) var id = 0
                @Persisted var next: Place?
                override class func className() -> String { "Place" }
            }
        }
        enum New {
            final class Place: Object {
                @Persisted(primaryKey: true) var id = ""
                @Persisted var next: Place?
                override class func className() -> String { "Place" }
            }
        }
        let file = TemporaryFile()
        do {
            let realm = try Realm(configuration: file.configuration([Old.Place.self]))
            try realm.write {
                let first = realm.create(Old.Place.self, value: ["id": 5])
                realm.create(Old.Place.self, value: ["id": 9, "next": first])
            }
        }
        let error = failure(file.configuration([New.Place.self], version: 1))
        #expect(error?.message.contains("'Place.id' changed its type and 2 objects have") == true)
        let configuration = file.configuration([New.Place.self], version: 1) { migration, _ in
            migration.convertProperty(onType: "Place", "id") { ($0 as? Int).map { "place-\($0)" } }
        }
        let realm = try Realm(configuration: configuration)
        #expect(realm.object(ofType: New.Place.self, forPrimaryKey: "place-9")?.next?.id == "place-5")
        #expect(throws: Realm.Error.self) { try realm.write { realm.create(New.Place.self, value: ["id": "place-5"]) } }
    }

    // MARK: duplicate-primary-key

    @Test("duplicate-primary-key: the error names class and values, and all is rolled back")
    func duplicateKeys() throws {
        enum Keyed {
            final class Item: Object {
                @Persisted(primaryKey: true) var code: String?
                @Persisted var number = 0
                @Persisted var amount: Int?
                @Persisted var day: Date?
                @Persisted var weight: Float = 0
                @Persisted var friend: Item?
                @Persisted var sizes: List<Int>
                override class func className() -> String { "Item" }
            }
        }
        let file = try filled()
        let configuration = file.configuration([Keyed.Item.self], version: 1) { migration, _ in
            migration.enumerateObjects(ofType: "Item") { _, new in new?["code"] = "same" }
            migration.create("Item", value: ["code": "x", "number": 8])
            migration.create("Item", value: ["code": "y", "number": 9])
            migration.enumerateObjects(ofType: "Item") { _, new in new?["amount"] = 1 }
        }
        let error = try #require(failure(configuration))
        #expect(error.code == .duplicateKey)
        #expect(error.message.contains("'Item.code' has the value same more than once: 3 objects"), "\(error.message)")
        try expectUntouched(file)
        let retry = file.configuration([Keyed.Item.self], version: 1)
        let realm = try Realm(configuration: retry)
        #expect(realm.object(ofType: Keyed.Item.self, forPrimaryKey: "300")?.friend?.friend?.code == "100")
    }

    @Test("an error of a rule does not hide objects left without a value")
    func failingRuleHidesNothing() throws {
        struct Stopped: Error {}
        for isElement in [false, true] {
            let file = try filled(nulls: false)
            let configuration = file.configuration([Retyped.Item.self], version: 1) { migration, _ in
                migration.convertProperty(onType: "Item", "number") { ($0 as? Int).map { "\($0)" } }
                migration.convertProperty(onType: "Item", "code") { _ in nil }
                var asked = 0
                func rule(_ value: Any?) throws -> Any? {
                    asked += 1
                    if asked > 2 { throw Stopped() }
                    return nil
                }
                if isElement {
                    try? migration.convertElements(onType: "Item", "sizes", rule)
                } else {
                    migration.convertElements(onType: "Item", "sizes") { ($0 as? Int).map { "\($0)" } }
                    try? migration.convertProperty(onType: "Item", "number", rule)
                }
            }
            #expect(failure(configuration)?.code == .missingValues)
        }
    }
}
