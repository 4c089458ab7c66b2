import Foundation
import Testing

@testable import Strata

private final class Loner: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text = "declared"
    @Persisted var maybe: Double?
    @Persisted var next: Loner?
    @Persisted var others: List<Loner>
}

private final class Named: Object {
    @Persisted(primaryKey: true) var name = ""
    @Persisted var number = 0
}

private final class Numbered: Object {
    @Persisted(primaryKey: true) var number: UUID
}

private final class Small: Object {
    @Persisted(primaryKey: true) var id: Int16 = 0
}

/// ``LoneAdder`` adds objects that lead to no other object, ``ObjectAdder`` adds all others. A model without that
/// distinction has to agree with the Realm.
@Suite struct LoneObjectTests {
    private struct Row: Equatable {
        var text = "declared"
        var maybe: Double?
        var next: Int?
        var others: [Int] = []
    }

    private final class Seen {
        var inserted = 0
        var deleted = 0
    }

    private func row(_ object: Loner) -> Row {
        Row(text: object.text, maybe: object.maybe, next: object.next?.id, others: object.others.map(\.id))
    }

    private func made(_ id: Int, _ row: Row, _ realm: Realm) -> Loner {
        let object = Loner()
        object.id = id
        if row.text != "declared" { object.text = row.text }
        object.maybe = row.maybe
        if let next = row.next { object.next = realm.object(ofType: Loner.self, forPrimaryKey: next) }
        for other in row.others {
            if let found = realm.object(ofType: Loner.self, forPrimaryKey: other) { object.others.append(found) }
        }
        return object
    }

    private func randomRow(_ dice: inout Dice, _ model: [Int: Row]) -> Row {
        var row = Row()
        if dice.roll(3) > 0 { row.text = String(repeating: "t", count: dice.roll(40)) }
        if dice.roll(2) == 0 { row.maybe = dice.pick([0.0, 1.5, .infinity, -7]) }
        let known = model.keys.sorted()
        if !known.isEmpty, dice.roll(4) == 0 { row.next = dice.pick(known) }
        if !known.isEmpty, dice.roll(4) == 0 { row.others = (0...dice.roll(3)).map { _ in dice.pick(known) } }
        return row
    }

    private func delete(_ id: Int, _ realm: Realm, _ model: inout [Int: Row]) {
        guard let object = realm.object(ofType: Loner.self, forPrimaryKey: id) else { return }
        realm.delete(object)
        #expect(object.isInvalidated)
        model[id] = nil
        for key in model.keys {
            if model[key]?.next == id { model[key]?.next = nil }
            model[key]?.others.removeAll { $0 == id }
        }
    }

    /// Compares each row by its key and in a walk.
    private func expectEqual(_ realm: Realm, _ model: [Int: Row], _ place: String) {
        let objects = realm.objects(Loner.self)
        #expect(objects.map(\.id) == model.keys.sorted(), "\(place)")
        for object in objects { #expect(row(object) == model[object.id], "\(place): \(object.id)") }
        for id in -2..<60 {
            let found = realm.object(ofType: Loner.self, forPrimaryKey: id)
            #expect(found.map(row) == model[id], "\(place): \(id)")
        }
    }

    /// Makes random changes in one write, and stops after an object with a key that exists.
    /// - Returns: whether it stopped for such an object.
    private func write(_ dice: inout Dice, _ realm: Realm, _ next: inout [Int: Row], _ place: String) throws -> Bool {
        var isDuplicate = false
        for _ in 0...dice.roll(12) where !isDuplicate {
            let id = dice.roll(58) - 2
            if dice.roll(5) == 0 {
                delete(id, realm, &next)
                continue
            }
            if next[id] != nil, dice.roll(4) > 0 { continue }
            let row = randomRow(&dice, next)
            let object = made(id, row, realm)
            realm.add(object)
            isDuplicate = next[id] != nil
            if isDuplicate { continue }
            next[id] = row
            #expect(self.row(object) == row && !object.isInvalidated && object.realm == realm, "\(place): \(id)")
        }
        if !isDuplicate { expectEqual(realm, next, "\(place), in the write") }
        return isDuplicate
    }

    @Test(
        "a Realm agrees with a model: in a write, and after it was committed, cancelled or refused; frozen; observed",
        arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) throws {
        let realm = try makeRealm([Loner.self])
        var dice = Dice(state: seed)
        var model: [Int: Row] = [:]
        let seen = Seen()
        let token = realm.objects(Loner.self).observe { change in
            guard case .update(_, let deletions, let insertions, _) = change else { return }
            seen.deleted += deletions.count
            seen.inserted += insertions.count
        }
        defer { token.invalidate() }
        var (cancelled, refused) = (0, 0)
        for turn in 0..<40 {
            let place = "seed \(seed), turn \(turn)"
            let (frozen, before) = (realm.freeze(), model)
            var next = model
            realm.beginWrite()
            let isDuplicate = try write(&dice, realm, &next, place)
            if isDuplicate {
                refused += 1
                let error = #expect(throws: Realm.Error.self, "\(place)") { try realm.commitWrite() }
                #expect(error?.code == .duplicateKey, "\(place)")
            } else if dice.roll(5) == 0 {
                cancelled += 1
                let last = Loner()
                last.id = 100
                realm.add(last)
                realm.cancelWrite()
                #expect(last.isInvalidated, "\(place): the write was rolled back")
            } else {
                try realm.commitWrite()
                model = next
            }
            expectEqual(realm, model, place)
            expectEqual(frozen, before, "\(place), frozen")
        }
        realm.refresh()
        #expect(cancelled > 2 && refused > 2 && seen.inserted > 20)
        #expect(seen.inserted - seen.deleted == model.count)
        try realm.store.checkInvariants()
    }

    @Test("a row of another version under the same key is not the object of the earlier one")
    func creations() throws {
        let realm = try makeRealm([Loner.self])
        func add() throws -> Loner {
            let object = Loner()
            object.id = 7
            try realm.write { realm.add(object) }
            return object
        }
        let first = try add()
        #expect(realm.object(ofType: Loner.self, forPrimaryKey: 7) == first)
        try realm.write { realm.delete(first) }
        let second = try add()
        #expect(first.isInvalidated && !second.isInvalidated && first != second)
        #expect(realm.object(ofType: Loner.self, forPrimaryKey: 7) == second)
    }

    @Test("an object of a cancelled write is not the one that the next write adds with its key and version")
    func takenBack() throws {
        let realm = try makeRealm([Loner.self])
        func add() -> Loner {
            let object = Loner()
            object.id = 7
            realm.add(object)
            return object
        }
        realm.beginWrite()
        let cancelled = add()
        realm.cancelWrite()
        realm.beginWrite()
        let kept = add()
        try realm.commitWrite()
        #expect(cancelled._creation == kept._creation)
        #expect(cancelled.isInvalidated && !kept.isInvalidated && cancelled != kept)
    }

    @Test("add also adds the objects that a new object leads to, and binds its list to the row")
    func leading() throws {
        let realm = try makeRealm([Loner.self])
        func made(_ id: Int) -> Loner {
            let object = Loner()
            object.id = id
            return object
        }
        let owner = made(1)
        owner.next = made(2)
        owner.others.append(made(3))
        try realm.write {
            realm.add(owner)
            owner.others.append(made(4))
            #expect(owner.next?.realm == realm)
            let empty = made(5)
            realm.add(empty)
            empty.others.append(owner)
        }
        #expect(realm.objects(Loner.self).map(\.id) == [1, 2, 3, 4, 5])
        let found = realm.objects(Loner.self).map(row)
        #expect(found.map(\.others) == [[3, 4], [], [], [], [1]] && found.map(\.next) == [2, nil, nil, nil, nil])
    }

    @Test("a look-up finds a row by a key of its type, and none by another value")
    func keys() throws {
        let realm = try makeRealm([Loner.self, Named.self, Numbered.self, Small.self])
        let loner = Loner(value: ["id": 3])
        let named = Named(value: ["name": "3", "number": 3])
        let numbered = Numbered()
        let small = Small(value: ["id": 3])
        try realm.write {
            realm.add(loner)
            realm.add(named)
            realm.add(numbered)
            realm.add(small)
        }
        #expect(realm.object(ofType: Loner.self, forPrimaryKey: 3) == loner)
        #expect(realm.object(ofType: Loner.self, forPrimaryKey: Int8(3)) == loner)
        #expect(realm.object(ofType: Loner.self, forPrimaryKey: 3 as Any) == loner)
        #expect(realm.object(ofType: Loner.self, forPrimaryKey: Int?.some(3)) == loner)
        #expect(realm.object(ofType: Loner.self, forPrimaryKey: Int?.none) == nil)
        #expect(realm.object(ofType: Loner.self, forPrimaryKey: "3") == nil)
        #expect(realm.object(ofType: Named.self, forPrimaryKey: "3") == named)
        #expect(realm.object(ofType: Named.self, forPrimaryKey: 3) == nil)
        #expect(realm.object(ofType: Named.self, forPrimaryKey: Int(named._key)) == nil, "the row's key is no name")
        #expect(realm.object(ofType: Numbered.self, forPrimaryKey: numbered.number) == numbered)
        #expect(realm.object(ofType: Numbered.self, forPrimaryKey: 3) == nil)
        #expect(realm.object(ofType: Small.self, forPrimaryKey: 3) == small)
        #expect(realm.object(ofType: Small.self, forPrimaryKey: Int16(3)) == small)
        #expect(realm.object(ofType: Small.self, forPrimaryKey: 3 + 1 << 16) == nil)
    }

    @Test("the lowest integer is refused as a key")
    func lowest() throws {
        let realm = try makeRealm([Loner.self])
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { realm.add(Loner(value: ["id": Int.min])) }
        }
        #expect(error?.code == .invalidInput)
        #expect(realm.objects(Loner.self).isEmpty)
    }
}
