import Foundation
import Strata
import Testing

@Suite struct UniqueKeyTests {
    final class Account: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var email: String?
        @Persisted var last = ""
        @Persisted var first = ""
        @Persisted var team: Team?

        override class func uniqueKeys() -> [[String]] { [["email"], ["last", "first"], ["team", "id2"]] }
        @Persisted var id2 = 0

        convenience init(_ id: Int, _ last: String, _ first: String, email: String? = nil, id2: Int? = nil) {
            self.init()
            self.id = id
            self.last = last
            self.first = first
            self.email = email
            self.id2 = id2 ?? id
        }
    }

    final class Team: Object { @Persisted var name = "" }

    private func error(_ body: () throws -> Void) -> Realm.Error? {
        do { try body() } catch { return error as? Realm.Error }
        return nil
    }

    @Test("two objects with one unique key fail the write, with class, properties and values")
    func failsTheWrite() throws {
        let realm = try makeRealm([Account.self])
        try realm.write { realm.add([Account(1, "Lee", "Ann"), Account(2, "Lee", "Bob", email: "b@x")]) }
        let first = error { try realm.write { realm.add(Account(3, "Lee", "Ann")) } }
        #expect(first?.code == .duplicateKey)
        #expect(first?.message.contains("'Account' have the unique key (last, first) = (Lee, Ann)") == true)
        let second = error { try realm.write { realm.objects(Account.self)[0].email = "b@x" } }
        #expect(second?.code == .duplicateKey && second?.message.contains("(email) = (b@x)") == true)
        let both = error { try realm.write { realm.add([Account(5, "New", "X"), Account(6, "New", "X")]) } }
        #expect(both?.code == .duplicateKey)
        #expect(realm.objects(Account.self).count == 2)
    }

    @Test("uniqueness is checked at the end of a write: values can be swapped, and nulls are exempt")
    func swappedValuesAndNulls() throws {
        let realm = try makeRealm([Account.self])
        try realm.write { realm.add([Account(1, "Lee", "Ann"), Account(2, "Lee", "Bob"), Account(3, "Poe", "Ann")]) }
        let accounts = realm.objects(Account.self)
        try realm.write {
            accounts[0].first = "Bob"
            accounts[1].first = "Ann"
            realm.delete(accounts[2])
            realm.add(Account(4, "Poe", "Ann"))
        }
        #expect(accounts.map(\.first) == ["Bob", "Ann", "Ann"] && accounts.where { $0.email == nil }.count == 3)
        // Links can be part of keys, and texts are compared by their bytes.
        try realm.write {
            let team = realm.create(Team.self, value: ["name": "red"])
            for account in accounts {
                account.team = team
                account.id2 = account.id
            }
            accounts[0].last = "e\u{301}"
            accounts[1].last = "\u{E9}"
            accounts[1].first = "Bob"
        }
        let same = error { try realm.write { accounts[2].id2 = 1 } }
        #expect(same?.code == .duplicateKey && same?.message.contains("(team, id2)") == true)
    }

    @Test("many objects are checked in one pass, in an asynchronous write, too")
    func checkedInOnePass() async throws {
        let realm = try makeRealm([Account.self])
        try realm.write { for id in 0..<3000 { realm.add(Account(id, "same", "\(id)")) } }
        let failed = error {
            try realm.write { for id in 3000..<6000 { realm.add(Account(id, "same", id == 5999 ? "7" : "\(id)")) } }
        }
        #expect(failed?.code == .duplicateKey && failed?.message.contains("(same, 7)") == true)
        #expect(realm.objects(Account.self).count == 3000)
        let outcome = try await Task { @MainActor in
            let realm = try makeRealm([Account.self])
            try await realm.asyncWrite { realm.add(Account(1, "Lee", "Ann")) }
            do {
                try await realm.asyncWrite { realm.add(Account(2, "Lee", "Ann")) }
                return Realm.Error.Code?.none
            } catch let error as Realm.Error { return error.code }
        }.value
        #expect(outcome == .duplicateKey)
    }

    final class Wrong: Object {
        @Persisted var name = ""
        override class func uniqueKeys() -> [[String]] { [["name", "age"]] }
    }

    @Test("a unique key of an unknown property is an error at open")
    func unknownProperty() throws {
        let found = error { _ = try makeRealm([Wrong.self]) }
        #expect(found?.code == .schemaMismatch && found?.message.contains("no property 'age'") == true)
    }

    @Test("declaring a key for existing objects checks all of them")
    func existingObjects() throws {
        enum Old {
            final class Member: Object {
                @Persisted var name = ""
                override class func className() -> String { "Member" }
            }
        }
        enum New {
            final class Member: Object {
                @Persisted var name = ""
                override class func className() -> String { "Member" }
                override class func uniqueKeys() -> [[String]] { [["name"]] }
            }
        }
        let file = TemporaryFile()
        try Realm(configuration: file.configuration([Old.Member.self])).write {
            let realm = try Realm(configuration: file.configuration([Old.Member.self]))
            for name in ["a", "b", "a"] { realm.create(Old.Member.self, value: ["name": name]) }
        }
        let atOpen = error { _ = try Realm(configuration: file.configuration([New.Member.self])) }
        #expect(atOpen?.code == .duplicateKey && atOpen?.message.contains("(name) = (a)") == true)
        let inMigration = error {
            _ = try Realm(configuration: file.configuration([New.Member.self], version: 1) { _, _ in })
        }
        #expect(inMigration?.code == .duplicateKey)
        let repaired = try Realm(
            configuration: file.configuration([New.Member.self], version: 1) { migration, _ in
                var number = 0
                migration.enumerateObjects(ofType: "Member") { _, new in
                    number += 1
                    new?["name"] = "\(number)"
                }
            })
        #expect(repaired.objects(New.Member.self).map(\.name) == ["1", "2", "3"])
        let again = error { try repaired.write { _ = repaired.create(New.Member.self, value: ["name": "1"]) } }
        #expect(again?.code == .duplicateKey)
    }

    @Test("the unique keys of a random history equal a model's", arguments: UInt64(1)...6)
    func history(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let realm = try makeRealm([Account.self])
        var model: [Int: (String, String, String?)] = [:]
        func isUnique(_ rows: [Int: (String, String, String?)]) -> Bool {
            Set(rows.values.map { [$0.0, $0.1] }).count == rows.count
                && Set(rows.values.compactMap(\.2)).count == rows.values.compactMap(\.2).count
        }
        for step in 0..<120 {
            var next = model
            let failure = error {
                try realm.write {
                    for _ in 0..<(1 + dice.roll(4)) {
                        let id = dice.roll(30)
                        let (last, first) = ("l\(dice.roll(5))", "f\(dice.roll(8))")
                        let email = dice.roll(2) == 0 ? nil : "e\(dice.roll(25))"
                        if dice.roll(4) == 0, let gone = realm.object(ofType: Account.self, forPrimaryKey: id) {
                            realm.delete(gone)
                            next[id] = nil
                        } else if let known = realm.object(ofType: Account.self, forPrimaryKey: id), dice.roll(2) == 0 {
                            known.first = first
                            next[id]?.1 = first
                        } else {
                            realm.add(Account(id, last, first, email: email), update: .modified)
                            next[id] = (last, first, email)
                        }
                    }
                }
            }
            #expect((failure == nil) == isUnique(next), "seed \(seed), step \(step)")
            if failure == nil { model = next }
            #expect(realm.objects(Account.self).count == model.count, "seed \(seed), step \(step)")
        }
    }
}

@Suite struct AutoIncrementTests {
    final class Ticket: Object {
        @Persisted(primaryKey: true, autoIncrement: true) var number: Int
        @Persisted var text = ""
        @Persisted var next: Ticket?

        convenience init(_ text: String) {
            self.init()
            self.text = text
        }
    }

    final class Small: Object {
        @Persisted(primaryKey: true, autoIncrement: true) var number: Int8 = 0
    }

    @Test("objects get numbers from 1 on, and a number is never reused")
    func neverReused() throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Ticket.self])
        do {
            let realm = try Realm(configuration: configuration)
            let first = Ticket("a")
            first.next = Ticket("b")
            try realm.write { realm.add(first) }
            #expect(Set([first.number, first.next?.number ?? 0]) == [1, 2])
            let made = try realm.write { realm.create(Ticket.self, value: ["text": "c"]) }
            #expect(made.number == 3 && realm.object(ofType: Ticket.self, forPrimaryKey: 3) == made)
            try realm.write { realm.delete(made) }
            let after = Ticket("d")
            try realm.write { realm.add(after) }
            #expect(after.number == 4)
            try realm.write { realm.deleteAll() }
        }
        let realm = try Realm(configuration: configuration)
        let ticket = Ticket("e")
        try realm.write { realm.add(ticket) }
        #expect(ticket.number == 5)
    }

    @Test("numbers that the program assigns are skipped, and a cancelled write's are reused")
    func assignedNumbers() throws {
        let realm = try makeRealm([Ticket.self])
        let ticket = Ticket("given")
        ticket.number = 40
        try realm.write {
            realm.add(ticket)
            realm.add(Ticket("next"))
        }
        #expect(realm.objects(Ticket.self).map(\.number) == [40, 41])
        realm.beginWrite()
        realm.add(Ticket("cancelled"))
        realm.cancelWrite()
        try realm.write { realm.add(Ticket("kept"), update: .modified) }
        #expect(realm.objects(Ticket.self).map(\.number) == [40, 41, 42])
        try realm.write { realm.create(Ticket.self, value: ["number": 41, "text": "again"], update: .modified) }
        #expect(realm.objects(Ticket.self).map(\.text) == ["given", "again", "kept"])
    }

    @Test("a narrow number that is used up is an error")
    func usedUpNumber() throws {
        let realm = try makeRealm([Small.self])
        try realm.write { for _ in 0..<127 { realm.add(Small()) } }
        let error = #expect(throws: Realm.Error.self) { try realm.write { realm.add(Small()) } }
        #expect(error?.code == .invalidInput && error?.message.contains("no number left") == true)
        #expect(realm.objects(Small.self).max(of: \.number) == 127)
    }

    @Test("after a migration numbering continues above the existing numbers, without reuse")
    func numbersAfterAMigration() throws {
        enum Old {
            final class Item: Object {
                @Persisted var text = ""
                override class func className() -> String { "Item" }
            }
        }
        enum New {
            final class Item: Object {
                @Persisted(primaryKey: true, autoIncrement: true) var number: Int
                @Persisted var text = ""
                override class func className() -> String { "Item" }
            }
        }
        let file = TemporaryFile()
        do {
            let realm = try Realm(configuration: file.configuration([Old.Item.self]))
            try realm.write { for _ in 0..<3 { realm.create(Old.Item.self, value: ["text": "old"]) } }
        }
        let realm = try Realm(
            configuration: file.configuration([New.Item.self], version: 1) { migration, _ in
                var number = 100
                migration.enumerateObjects(ofType: "Item") { _, new in
                    number += 1
                    new?["number"] = number
                }
            })
        let items = realm.objects(New.Item.self)
        var given: [Int] = []
        for _ in 0..<3 {
            let item = New.Item()
            try realm.write { realm.add(item) }
            given.append(item.number)
            try realm.write { realm.delete(item) }
        }
        try realm.write { realm.create(New.Item.self, value: ["number": 500]) }
        try realm.write { realm.delete(items.where { $0.number == 500 }) }
        let last = New.Item()
        try realm.write { realm.add(last) }
        #expect(given == [104, 105, 106] && last.number == 501)
        #expect(items.map(\.number).sorted() == [101, 102, 103, 501])
    }
}
