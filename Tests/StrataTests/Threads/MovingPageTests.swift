import Foundation
import Strata
import Testing

/// The code of docs/moving-from-realmswift.md.
@Suite struct MovingPageTests {
    final class Account: Object {
        @Persisted(primaryKey: true, autoIncrement: true) var number: Int
        @Persisted var email: String?
        @Persisted var lastName = ""
        @Persisted var firstName = ""

        override class func uniqueKeys() -> [[String]] { [["email"], ["lastName", "firstName"]] }
    }

    @Test("accounts are numbered, and have unique names")
    func numberedAccounts() throws {
        let realm = try makeRealm([Account.self])
        let names = ["lastName": "Lee", "firstName": "Ann"]
        try realm.write { realm.create(Account.self, value: names) }
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { realm.create(Account.self, value: names) }
        }
        #expect(error?.code == .duplicateKey && realm.objects(Account.self).map(\.number) == [1])
    }

    typealias NSPredicate = FormatPredicate
    typealias NSCompoundPredicate = CompoundFormatPredicate

    @Test("a module keeps Foundation's names")
    func foundationNames() throws {
        let realm = try makeRealm([Account.self])
        try realm.write { realm.create(Account.self, value: ["email": "a@b"]) }
        let known = NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "email == nil"))
        #expect(realm.objects(Account.self).filter(known).count == 1)
    }

    @Test("the page shows the code of these tests")
    func pageShowsTheseTests() throws {
        try PageCode.expect("moving-from-realmswift.md", in: #filePath)
    }
}
