import Foundation
import Strata
import Testing

/// A custom type whose default, the empty text, is not a valid value.
private struct Mail: FailableCustomPersistable {
    let text: String
    init(text: String) { self.text = text }
    init?(persistedValue: String) {
        if persistedValue.isEmpty { return nil }
        text = persistedValue
    }
    var persistableValue: String { text }
}

private final class MailBox: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var mail: Mail
}

private final class MailPart: EmbeddedObject {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var mails: List<Mail>
}

private final class Tenant: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var name = ""
    @Persisted var box: MailBox?
    @Persisted var boxes: List<MailBox>
    @Persisted var part: MailPart?
    @Persisted var any: AnyRealmValue
}

/// One class with a property without a valid default once kept the program from opening any file.
@Suite struct UnusableClassTests {
    private static let reason = "'MailBox.mail': declare it Mail?, or give it a default"

    @Test("a class that cannot be read safely affects only itself")
    func affectsOnlyItself() throws {
        #expect(try ClassNames.opened(found: [MailBox.self, Tenant.self]) == ["MailBox", "MailPart", "Tenant"])
        let realm = try makeRealm([Tenant.self])
        try realm.write { realm.add(Tenant(value: ["name": "Ann"])) }
        #expect(realm.objects(Tenant.self).where { $0.name == "Ann" }.count == 1)
        #expect(realm.schema.objectSchema.map(\.className).sorted() == ["MailBox", "MailPart", "Tenant"])
        #expect(realm.freeze().objects(Tenant.self).first?.boxes.isEmpty == true)
    }

    @Test("naming it, adding it and creating an object of it are typed errors with the remedy")
    func errorsWithTheRemedy() throws {
        let named = #expect(throws: Realm.Error.self) { try makeRealm([MailBox.self]) }
        #expect(named?.code == .schemaMismatch && named?.message.contains(Self.reason) == true)
        let realm = try makeRealm([Tenant.self])
        let box = MailBox()
        box.mail = Mail(text: "a@b")
        let part = MailPart()
        let uses: [() -> Void] = [
            { realm.add(box) }, { realm.create(MailBox.self, value: ["mail": "a@b"]) },
            { realm.add(Tenant(value: ["box": box])) },
            { realm.objects(Tenant.self).first?.boxes.append(box) },
        ]
        try realm.write { realm.add(Tenant()) }
        for use in uses {
            let error = #expect(throws: Realm.Error.self) { try realm.write(use) }
            #expect(error?.code == .schemaMismatch && error?.message.contains(Self.reason) == true, "\(error as Any)")
        }
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { realm.objects(Tenant.self).first?.part = part }
        }
        #expect(error?.message.contains("declare its elements as Mail?") == true, "\(error as Any)")
        #expect(realm.objects(Tenant.self).count == 1)
    }

    @Test("other programs' objects of it can be read by name, and are deleted with their owner")
    func readByName() throws {
        let realm = try makeRealm([Tenant.self])
        try realm.write {
            let tenant = realm.dynamicCreate("Tenant", value: ["name": "Ann"])
            let box = realm.dynamicCreate("MailBox", value: ["mail": "a@b"])
            tenant["box"] = box
            tenant.dynamicList("boxes").append(box)
            tenant["part"] = ["mails": ["c@d"]]
            tenant["any"] = box
        }
        let tenant = try #require(realm.objects(Tenant.self).first)
        #expect(tenant.box == nil && tenant.part == nil && tenant.boxes.count == 1)
        #expect(realm.dynamicObjects("MailBox").first?["mail"] as? String == "a@b")
        #expect(tenant.any.dynamicObject?["mail"] as? String == "a@b")
        #expect(realm.objects(Tenant.self).filter("box.mail == 'a@b' AND ANY boxes.mail == 'a@b'").count == 1)
        try realm.write { realm.delete(tenant) }
        #expect(realm.dynamicObjects("MailPart").isEmpty && realm.dynamicObjects("MailBox").count == 1)
    }

    @Test("querying all of its objects ends the program with the reason")
    func queryEndsTheProgram() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try makeRealm([Tenant.self])
            _ = realm.objects(MailBox.self)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(Self.reason))
    }
}
