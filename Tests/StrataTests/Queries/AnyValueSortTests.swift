import Foundation
import Strata
import Testing

@Suite struct AnyValueSortTests {
    final class Note: Object {
        @Persisted var value: AnyRealmValue
        @Persisted var values: List<AnyRealmValue>
        @Persisted var different: MutableSet<AnyRealmValue>
    }

    final class Holder: Object {
        @Persisted var note: Note?
    }

    /// In the order that a sort gives them.
    private static var ordered: [AnyRealmValue] {
        [
            .none, .bool(false), .bool(true), .double(-1.5), .int(2), .decimal128("2.5"), .float(3), .int(40),
            .string("a"), .string("b"), .date(Date(timeIntervalSinceReferenceDate: 1)),
        ]
    }

    /// Sorting a list of values of any type once put its integers last, and so did sorting objects by such a value
    /// behind a link: the sort had stored the numbers as for plain properties.
    @Test("values of any type have one order everywhere", arguments: [true, false])
    func oneOrderEverywhere(ascending: Bool) throws {
        let realm = try makeRealm([Note.self, Holder.self])
        let count = Self.ordered.count
        let shuffled = (0..<count).map { Self.ordered[$0 * 7 % count] }
        try realm.write {
            let all = Note()
            all.values.append(objectsIn: shuffled)
            all.different.insert(objectsIn: shuffled)
            realm.add(all)
            for value in shuffled {
                let holder = Holder(), note = Note()
                note.value = value
                holder.note = note
                realm.add(holder)
            }
        }
        let all = try #require(realm.objects(Note.self).first { !$0.values.isEmpty })
        let expected = ascending ? Self.ordered : Self.ordered.reversed()
        #expect(Array(all.values.sorted(ascending: ascending)) == expected)
        #expect(Array(all.different.sorted(ascending: ascending)) == expected)
        let notes = realm.objects(Note.self).filter("values.@count == 0")
        #expect(notes.sorted(byKeyPath: "value", ascending: ascending).map(\.value) == expected)
        let holders = realm.objects(Holder.self).sorted(byKeyPath: "note.value", ascending: ascending)
        #expect(holders.map { $0.note?.value } == expected)
    }
}
