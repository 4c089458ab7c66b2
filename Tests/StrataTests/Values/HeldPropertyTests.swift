import Foundation
import Testing

@testable import Strata

private final class Entry: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var code = ""
    @Persisted var text = ""
    @Persisted var number = 0
    @Persisted var score = 0.0
    @Persisted var flag = false

    struct Plain: Equatable {
        var code: String
        var text: String
        var number: Int
        var score: Double
        var flag: Bool

        init(_ id: Int, _ salt: Int) {
            code = String(format: "%06d", id * 7 + salt)
            let texts = ["", "a", "seven b", "eight by", "fifteen letters", "sixteen letters!", "日本語", "é"]
            text = texts[(id + salt) % 8] + String(repeating: "x", count: id % 11 == 0 ? 40 : 0)
            number = salt == 0 ? id % 200 : id &* 1_000_003 &* salt
            score = Double(id) / 3 + Double(salt)
            flag = (id + salt) % 3 == 0
        }
    }

    var plain: Plain {
        get {
            var plain = Plain(0, 0)
            (plain.code, plain.text, plain.number, plain.score, plain.flag) = (code, text, number, score, flag)
            return plain
        }
        set {
            (code, text, number, score, flag) = (
                newValue.code, newValue.text, newValue.number, newValue.score, newValue.flag
            )
        }
    }
}

/// A property that is read repeatedly is read from a window over its column; the values must equal those of the row.
@Suite struct HeldPropertyTests {
    private func expectAll(_ held: [Entry], _ expected: [Entry.Plain?], _ when: String) {
        // The window is made at the second read, and used from the third on.
        for round in 0..<4 {
            for (object, expected) in zip(held, expected) {
                if let expected {
                    #expect(object.plain == expected, "\(when), round \(round), \(object._key)")
                } else {
                    #expect(object.isInvalidated)
                }
            }
        }
    }

    @Test("every value is equal in its window and in its row, across writes")
    func windowAndRow() throws {
        let realm = try makeRealm([Entry.self])
        var expected: [Entry.Plain?] = (0..<900).map { Entry.Plain($0, 0) }
        try realm.write {
            for (id, plain) in expected.enumerated() {
                let entry = Entry()
                entry.id = id
                if let plain { entry.plain = plain }
                realm.add(entry)
            }
        }
        let held = Array(realm.objects(Entry.self).sorted(by: \.id))
        expectAll(held, expected, "after the first write")
        for salt in 1..<4 {
            try realm.write {
                for id in stride(from: salt, to: 900, by: 13 * salt) {
                    expected[id] = expected[id].map { _ in Entry.Plain(id, salt) }
                    if let plain = expected[id] { held[id].plain = plain }
                    if id % 5 == 0 {
                        expectAll(Array(held[(id / 5 * 5)...id]), Array(expected[(id / 5 * 5)...id]), "inside \(salt)")
                    }
                }
                realm.delete(held[salt * 100])
                expected[salt * 100] = nil
            }
            expectAll(held, expected, "after write \(salt)")
        }
    }

    @Test("the third read of a row uses a window, a frozen object's reads never do")
    func thirdRead() throws {
        let realm = try makeRealm([Entry.self])
        try realm.write { for id in 0..<50 { realm.add(Entry(value: ["id": id, "code": "code", "text": "text"])) } }
        let entry = try #require(realm.object(ofType: Entry.self, forPrimaryKey: 20))
        let frozen = entry.freeze()
        for _ in 0..<3 {
            #expect(entry.code == "code" && entry.number == 0 && frozen.code == "code")
        }
        let shown = try #require(_offset(of: "code", entry))
        #expect(entry._heldBytes(shown).map { Array($0) } == Array("code".utf8))
        #expect(frozen._heldBytes(shown) == nil)
        try realm.write { entry.code = "other" }
        #expect(entry._heldBytes(shown) == nil && entry.code == "other")
    }

    private func _offset(of name: String, _ object: Entry) -> Int? { object._access.property(name)?.offset }
}
