import Strata
import Testing

private class LostColumns: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    var name = ""
    var age = 0
}

private final class LostKey: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    var id = 0
    @Persisted var name: String
    override class func primaryKey() -> String? { "id" }
}

private final class LostIndex: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted(primaryKey: true) var id: Int
    var city = ""
    override class func indexedProperties() -> [String] { ["city"] }
}

private final class LostIgnored: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var name: String
    override class func ignoredProperties() -> [String] { ["nmae"] }
}

private final class LostPart: EmbeddedObject {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    var street = ""
}

private final class LostOwner: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var part: LostPart?
}

private class KeptBase: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    var cache: [Int] = []
    lazy var slow = cache.count
}

private final class KeptModel: KeptBase {
    @Persisted var name: String
    var draft = ""
    override class func ignoredProperties() -> [String] { ["draft", "cache", "slow"] }
}

private final class KeptEmpty: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Removing `@objc dynamic`, as the compiler suggests without Objective-C, once left a class whose objects were added
/// and counted, while all their values were lost.
@Suite struct LostDeclarationTests {
    @Test(
        "a declaration that would lose a property is an error with its remedy",
        arguments: [
            ([LostColumns.self], "'LostColumns' has stored properties", "@Persisted var name, @Persisted var age"),
            ([LostKey.self], "primaryKey() names 'id'", "@Persisted var id"),
            ([LostIndex.self], "indexedProperties() names 'city'", "@Persisted var city"),
            ([LostIgnored.self], "ignoredProperties() names 'nmae'", "no stored property"),
            ([LostOwner.self], "'LostPart' has stored properties", "@Persisted var street"),
        ] as [([ObjectBase.Type], String, String)])
    func refused(types: [ObjectBase.Type], finding: String, remedy: String) throws {
        let file = TemporaryFile()
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: file.configuration(types)) }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains(finding) == true && error?.message.contains(remedy) == true, "\(error as Any)")
    }

    @Test("a base class may have stored properties, and a class without properties is accepted")
    func kept() throws {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([KeptBase.self, KeptModel.self, KeptEmpty.self]))
        try realm.write {
            realm.add(KeptModel(value: ["name": "kept"]))
            realm.add(KeptEmpty())
        }
        #expect(realm.objects(KeptModel.self).first?.name == "kept" && realm.objects(KeptEmpty.self).count == 1)
    }
}
