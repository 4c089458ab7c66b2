import Foundation
import Testing

@testable import Strata
@testable import StrataStorage

/// The class that writes the file: every property but the key may be nil.
private final class LooseThing: Object {
    override class func className() -> String { "Thing" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted(primaryKey: true) var id: Int
    @Persisted var count: Int?
    @Persisted var isNew: Bool?
    @Persisted var weight: Double?
    @Persisted var name: String?
    @Persisted var made: Date?
    @Persisted var picture: Data?
    @Persisted var code: UUID?
    @Persisted var mood: Mood?
    @Persisted var next: LooseThing?
}

/// The class of the file's schema, and of the program that reads it: every property but `next` must have a value.
private final class Thing: Object {
    override class func className() -> String { "Thing" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted(primaryKey: true) var id: Int
    @Persisted var count = 3
    @Persisted var isNew = true
    @Persisted var weight = 2.5
    @Persisted var name = "none"
    @Persisted var made = Date(timeIntervalSince1970: 7)
    @Persisted var picture = Data([1])
    @Persisted var code = UUID(uuidString: "00000000-0000-0000-0000-00000000000A") ?? UUID()
    @Persisted var mood = Mood.cross
    @Persisted var next: Thing?
}

/// A file with nulls in properties that require a value. No writer makes such a file.
@Suite struct MissingValueTests {
    private static let names = ["count", "isNew", "weight", "name", "made", "picture", "code", "mood"]

    private final class DamagedFile {
        let file = TemporaryFile()
        var url: URL { file.url }
        deinit { try? FileManager.default.removeItem(atPath: url.path + ".damage") }
    }

    /// Makes a file with objects 1, 2 and 3; object 2 has a null in every property of ``names``.
    private func make() throws -> DamagedFile {
        let made = DamagedFile()
        let file = made.file
        do {
            let realm = try Realm(configuration: file.configuration([LooseThing.self]))
            try realm.write {
                for id in 1...3 {
                    let thing = LooseThing(value: ["id": id])
                    if id != 2 {
                        (thing.count, thing.isNew, thing.weight, thing.name) = (id, false, 0.5, "thing")
                        (thing.made, thing.picture, thing.code, thing.mood) = (Date(), Data([9]), UUID(), .calm)
                    }
                    realm.add(thing)
                }
            }
        }
        let other = TemporaryFile()
        let wanted = try #require(
            try Realm(configuration: other.configuration([Thing.self])).instance.currentView?.schema)
        let store = try Store.open(path: file.url.path)
        let transaction = try store.beginWrite()
        transaction.view.state.schema = wanted
        transaction.view.layoutsChanged()
        transaction.workspace.prepare(transaction.view.state)
        transaction.schemaChanged = true
        try transaction.commit()
        try store.close()
        return made
    }

    private func configuration(
        _ made: DamagedFile, _ report: @escaping @Sendable (Realm.Configuration.Report) -> Void = { _ in }
    ) -> Realm.Configuration {
        var configuration = made.file.configuration([Thing.self])
        configuration.report = report
        return configuration
    }

    @Test("a null in a required property reads as its declared default, and is reported", arguments: names)
    func read(name: String) throws {
        let file = try make()
        let heard = Locked<[Realm.Damage]>([])
        let realm = try Realm(
            configuration: configuration(file) { report in
                if case .damage(let damage) = report { heard.with { $0.append(damage) } }
            })
        let thing = try #require(realm.object(ofType: Thing.self, forPrimaryKey: 2))
        let declared = Thing()
        #expect(realm.damage.isEmpty)
        let shown = String(describing: try #require(thing[name]))
        #expect(shown == String(describing: try #require(declared[name])))
        #expect(heard.current.count == 1)
        #expect(heard.current.map(\.loss) == [.value(key: 2, property: name)])
        #expect(realm.damage.map(\.loss) == [.value(key: 2, property: name)])
        #expect(throws: Realm.Error.self) { try realm.write {} }
        // A second read, and a read of the frozen object, return the same value and do not report the place again.
        #expect(String(describing: thing[name] ?? "") == shown)
        #expect(String(describing: thing.freeze()[name] ?? "") == shown)
        #expect(heard.current.count == 1)
        realm.acknowledgeDamage()
    }

    @Test("a throwing read of the null is an error") func throwing() throws {
        let file = try make()
        let realm = try Realm(configuration: configuration(file))
        let thing = try #require(realm.object(ofType: Thing.self, forPrimaryKey: 2))
        let error = #expect(throws: Realm.Error.self) { try thing.read(\.name) }
        #expect(error?.code == .invalidDatabase)
        let other = try #require(realm.object(ofType: Thing.self, forPrimaryKey: 3))
        #expect(try other.read(\.name) == "thing")
        #expect(throws: Realm.Error.self) { try realm.write {} }
        realm.acknowledgeDamage()
    }

    @Test("other objects, links and null links are read without a report") func others() throws {
        let file = try make()
        let realm = try Realm(configuration: configuration(file) { Issue.record("\($0)") })
        for id in [1, 3] {
            let thing = try #require(realm.object(ofType: Thing.self, forPrimaryKey: id))
            #expect(thing.count == id && !thing.isNew && thing.weight == 0.5 && thing.name == "thing")
            #expect(thing.mood == .calm && thing.picture == Data([9]) && thing.next == nil)
        }
        #expect(realm.object(ofType: Thing.self, forPrimaryKey: 2)?.next == nil)
        let dynamic = try #require(realm.dynamicObject(ofType: "Thing", forPrimaryKey: 2))
        #expect(dynamic["next"] == nil)
        // Conditions, sorts and totals treat the null as a null.
        let all = realm.objects(Thing.self)
        #expect(all.filter("count == 3").count == 1 && all.filter("count < 100").count == 2)
        #expect(all.sorted(byKeyPath: "count").map(\.id) == [2, 1, 3])
        #expect(all.sum(of: \.count) == 4)
    }

    @Test("a dynamic object reads the null as nil, and reports it") func dynamic() throws {
        let file = try make()
        let heard = Locked(0)
        let realm = try Realm(
            configuration: configuration(file) { if case .damage = $0 { heard.with { $0 += 1 } } })
        let thing = try #require(realm.dynamicObject(ofType: "Thing", forPrimaryKey: 2))
        #expect(thing["name"] == nil)
        #expect(heard.current == 1)
        realm.acknowledgeDamage()
    }

    @Test("a verification throws an error that names the broken rule") func verified() throws {
        let file = try make()
        let realm = try Realm(configuration: configuration(file))
        let error = #expect(throws: Realm.Error.self) { try realm.verify() }
        #expect(error?.code == .invalidDatabase)
        #expect(error?.message.contains("of row 2 is null") == true, "\(error?.message ?? "none")")
    }

    @Test("a copy has all readable values, and reports the lost ones") func copied() throws {
        let file = try make()
        let url = file.url.appendingPathExtension("copy")
        do {
            let realm = try Realm(configuration: configuration(file))
            let missing = try realm.writeCopy(toFile: url)
            #expect(missing.map(\.objectsRecovered) == [3])
            let emptied = try #require(missing.first?.emptiedProperties)
            #expect(Set(emptied.keys) == Set(Self.names) && emptied.values.allSatisfy { $0 == [2...2] }, "\(emptied)")
            realm.acknowledgeDamage()
        }
        var copied = configuration(file) { Issue.record("\($0)") }
        copied.fileURL = url
        let copy = try Realm(configuration: copied)
        #expect(try copy.verify().isEmpty)
        let thing = try #require(copy.object(ofType: Thing.self, forPrimaryKey: 2))
        #expect(thing.count == 0 && !thing.isNew && thing.weight == 0 && thing.name.isEmpty && thing.picture.isEmpty)
        #expect(copy.object(ofType: Thing.self, forPrimaryKey: 3)?.name == "thing")
    }
}
