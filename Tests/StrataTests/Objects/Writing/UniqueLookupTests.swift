import StrataStorage
import Testing

@testable import Strata

/// A unique key of a kind and an address was once looked up by the kind, which thousands of rows shared: each write of
/// one row scanned all of them.
@Suite struct UniqueLookupTests {
    final class Contact: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var kind = "mail"
        @Persisted var address = ""
        override class func uniqueKeys() -> [[String]] { [["kind", "address"]] }
    }

    private func fill(_ realm: Realm, _ count: Int) throws {
        try realm.write {
            for id in 0..<count { realm.create(Contact.self, value: ["id": id, "address": "a\(id)"]) }
        }
    }

    @Test("the lookup uses the most selective property, in any order")
    func mostSelectiveProperty() throws {
        let realm = try makeRealm([Contact.self])
        try fill(realm, 3000)
        let access = try #require(realm.instance.access(named: "Contact", typed: true))
        let view = try #require(realm.instance.currentView)
        let key = try #require(access.uniqueKeys.first)
        #expect(key.indexed.count == 2)
        let ways = try UniqueCheck(view).lookups(key, [5, 7])
        let addresses = ways.map { $0.values.allSatisfy { key.names[$0] == "address" } }
        #expect(ways?.count == 2 && addresses == true)
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { realm.create(Contact.self, value: ["id": 9000, "address": "a17"]) }
        }
        #expect(error?.code == .duplicateKey && realm.objects(Contact.self).count == 3000)
        try realm.write { realm.create(Contact.self, value: ["id": 9000, "kind": "post", "address": "a17"]) }
    }

    /// Thirty rows share each kind, and thirty each address; no two rows share both.
    @Test("rows that share either property with many others")
    func rowsThatShareWithMany() throws {
        let realm = try makeRealm([Contact.self])
        try realm.write {
            for id in 0..<900 {
                realm.create(Contact.self, value: ["id": id, "kind": "k\(id / 30)", "address": "a\(id % 30)"])
            }
        }
        for id in 0..<20 {
            let contact = try #require(realm.object(ofType: Contact.self, forPrimaryKey: id))
            try realm.write { contact.address = "b\(id)" }
            let error = #expect(throws: Realm.Error.self) { try realm.write { contact.address = "a29" } }
            #expect(error?.code == .duplicateKey)
        }
    }
}
