import Foundation
import Testing

@testable import Strata

private enum Shade: Int, PersistableEnum { case light, dark }

private final class Entry: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var name: String
    @Persisted(indexed: true) var maybeName: String?
    @Persisted(indexed: true) var number: Int
    @Persisted(indexed: true) var small: Int8?
    @Persisted(indexed: true) var shade = Shade.light
    @Persisted(indexed: true) var code: UUID
    @Persisted(indexed: true) var isOn: Bool
    @Persisted var plain: Int
    @Persisted var next: Entry?
}

/// Conditions that compare one property for equality: an index or the primary key answers them without a query plan.
@Suite struct EqualityTests {
    private static let names = ["a", "A", "", "é", "e\u{301}", "a longer name than a small string holds", "b"]
    private static let codes = (0..<3).map { _ in UUID() }

    private static func fill(_ entry: Entry, _ dice: inout Dice) {
        entry.name = dice.pick(names)
        entry.maybeName = dice.roll(3) == 0 ? nil : dice.pick(names)
        entry.number = dice.roll(4) - 1
        entry.small = dice.roll(3) == 0 ? nil : Int8(dice.roll(3))
        entry.shade = dice.pick([.light, .dark])
        entry.code = dice.pick(codes)
        entry.isOn = dice.roll(2) == 0
        entry.plain = dice.roll(3)
    }

    private func expectAnswers(_ realm: Realm, _ place: String) {
        let all = realm.objects(Entry.self)
        func expect(_ found: Results<Entry>, _ what: String, _ matches: (Entry) -> Bool) {
            let wanted = Array(all).filter(matches).map(\.id)
            #expect(found.map(\.id) == wanted && found.first?.id == wanted.first, "\(place): \(what)")
            #expect(found.isEmpty == wanted.isEmpty && found.count == wanted.count, "\(place): \(what)")
        }
        for name in Self.names + ["none"] {
            expect(all.where { $0.name == name }, "name \(name)") { $0.name.utf8.elementsEqual(name.utf8) }
            expect(all.filter("maybeName == %@", name), "maybeName \(name)") {
                $0.maybeName.map { $0.utf8.elementsEqual(name.utf8) } ?? false
            }
            expect(all.filter("name ==[c] %@", name), "[c] \(name)") { $0.name.lowercased() == name.lowercased() }
        }
        expect(all.where { $0.maybeName == nil }, "nil") { $0.maybeName == nil }
        for number in -2..<4 {
            expect(all.where { $0.number == number }, "number") { $0.number == number }
            expect(all.filter("number == %@", Double(number)), "real number") { $0.number == number }
            expect(all.filter("number == 0.5"), "no integer") { _ in false }
            expect(all.where { $0.id == number }, "key") { $0.id == number }
            expect(all.where { $0.plain == number }, "plain") { $0.plain == number }
            expect(all.where { $0.small == Int8(number) }, "small") { $0.small == Int8(number) }
            expect(all.filter("next.number == %@", number), "next") { $0.next?.number == number }
        }
        expect(all.filter("small == 300"), "too wide") { _ in false }
        expect(all.where { $0.small == nil }, "no small") { $0.small == nil }
        expect(all.where { $0.shade == .dark }, "dark") { $0.shade == .dark }
        for code in Self.codes { expect(all.where { $0.code == code }, "code") { $0.code == code } }
        expect(all.where { $0.isOn == true }, "on") { $0.isOn }
        expect(all.where { $0.isOn == true }.where { $0.number == 1 }, "both") { $0.isOn && $0.number == 1 }
    }

    @Test("an equality finds what a walk over all rows finds, in a write and after it", arguments: [1, 2] as [UInt64])
    func random(seed: UInt64) throws {
        let realm = try makeRealm([Entry.self])
        var dice = Dice(state: seed)
        for turn in 0..<3 {
            try realm.write {
                for _ in 0..<[3, 40, 150][turn] {
                    let entry = Entry()
                    entry.id = (realm.objects(Entry.self).max(of: \.id) ?? -1) + 1 + dice.roll(2)
                    Self.fill(entry, &dice)
                    entry.next = realm.objects(Entry.self).last
                    realm.add(entry)
                }
                expectAnswers(realm, "seed \(seed), turn \(turn), in the write")
                let entries = Array(realm.objects(Entry.self))
                for _ in 0..<3 { Self.fill(dice.pick(entries), &dice) }
                realm.delete(dice.pick(entries))
                expectAnswers(realm, "seed \(seed), turn \(turn), changed in the write")
            }
            expectAnswers(realm, "seed \(seed), turn \(turn)")
            expectAnswers(realm.freeze(), "seed \(seed), turn \(turn), frozen")
        }
    }

    @Test("a value of another type, and an unknown property, are refused")
    func refused() throws {
        let entries = try makeRealm([Entry.self]).objects(Entry.self)
        for format in ["number == 'x'", "name == 1", "nothing == 1", "code == 'x'", "id == 'a'"] {
            #expect(throws: Realm.Error.self, "\(format)") { try entries.tryFilter(format) }
        }
        let results = entries.where { $0.name == "a" }
        #expect(results.explain().contains("index on 'name'"))
    }

    @Test("results of an equality follow later writes")
    func live() throws {
        let realm = try makeRealm([Entry.self])
        let found = realm.objects(Entry.self).where { $0.name == "a" }
        #expect(found.isEmpty)
        try realm.write { realm.add(Entry(value: ["id": 1, "name": "a"])) }
        #expect(found.count == 1)
        try realm.write { found.first?.name = "b" }
        #expect(found.isEmpty && realm.objects(Entry.self).where { $0.name == "b" }.first?.id == 1)
    }
}
