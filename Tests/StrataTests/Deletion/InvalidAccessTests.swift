import Strata
import Testing

/// Uses of references to deleted objects.
@Suite struct InvalidAccessTests {
    @Test("substitute reads declared defaults and reports class, key and version")
    func substituteReports() throws {
        let reports = Locked<[Realm.Configuration.InvalidAccessReport]>([])
        let realm = try makeRealm([Counter.self]) { report in reports.with { $0.append(report) } }
        let counter = Counter(7, "seven", count: 3)
        try realm.write { realm.add(counter) }
        try realm.write { realm.delete(counter) }
        #expect(counter.isInvalidated)
        #expect(counter.id == 7)
        #expect(reports.current.isEmpty)
        #expect(counter.name == "unnamed" && counter.count == 0 && counter.score == nil)
        #expect(reports.current.count == 3)
        #expect(reports.current.first?.className == "Counter" && reports.current.first?.key == 7)
        #expect(reports.current.first.map { $0.version > 0 } == true)
    }

    @Test("trap ends the program when a property of a deleted object is read")
    func trapOnAProperty() async {
        await #expect(processExitsWith: .failure) {
            let realm = try makeRealm([Counter.self], invalidAccess: .trap)
            let counter = Counter(1)
            try realm.write { realm.add(counter) }
            try realm.write { realm.delete(counter) }
            _ = counter.name
        }
    }

    @Test("trap ends the program when an index is out of range")
    func trapOnAnIndex() async {
        await #expect(processExitsWith: .failure) {
            let realm = try makeRealm([Counter.self], invalidAccess: .trap)
            try realm.write { realm.add([Counter(1), Counter(2)]) }
            let results = realm.objects(Counter.self)
            let count = results.count
            try realm.write { realm.delete(results[0]) }
            _ = results[count - 1]
        }
    }

    @Test("count and then index gives an invalidated object and a report")
    func countThenIndex() throws {
        let reports = Locked(0)
        let realm = try makeRealm([Counter.self]) { _ in reports.with { $0 += 1 } }
        try realm.write { for id in 0..<10 { realm.add(Counter(id)) } }
        let results = realm.objects(Counter.self).where { $0.id >= 0 }
        let count = results.count
        try realm.write { realm.delete(results[4]) }
        let last = results[count - 1]
        #expect(last.isInvalidated)
        #expect(last.name == "unnamed")
        #expect(reports.current >= 1)
        #expect(results.count == 9)
    }

    @Test("a checked read throws a typed error")
    func checkedReadThrows() throws {
        let realm = try makeRealm([Counter.self])
        let counter = Counter(1, "one")
        #expect(try counter.read(\.name) == "one")
        try realm.write { realm.add(counter) }
        #expect(try counter.read(\.name) == "one")
        try realm.write { realm.delete(counter) }
        do {
            _ = try counter.read(\.name)
            Issue.record("read a deleted object")
        } catch Realm.Error.objectDeleted {}
    }

    @Test("writing to a deleted object throws and rolls everything back")
    func writeToDeletedThrows() throws {
        let realm = try makeRealm([Counter.self])
        let (gone, kept) = (Counter(1), Counter(2))
        try realm.write { realm.add([gone, kept]) }
        try realm.write { realm.delete(gone) }
        do {
            try realm.write {
                kept.name = "changed"
                gone.name = "never"
            }
            Issue.record("wrote to a deleted object")
        } catch Realm.Error.objectDeleted {}
        #expect(kept.name == "unnamed")
        try realm.write { kept.name = "changed" }
        #expect(kept.name == "changed")
    }

    @Test("a new object with the same key does not revive old references")
    func sameKeyDoesNotRevive() throws {
        let realm = try makeRealm([Counter.self])
        let old = Counter(1, "old")
        try realm.write { realm.add(old) }
        try realm.write {
            realm.delete(old)
            realm.add(Counter(1, "new"))
            #expect(old.isInvalidated)
        }
        #expect(old.isInvalidated)
        let new = try #require(realm.object(ofType: Counter.self, forPrimaryKey: 1))
        #expect(new.name == "new" && new != old)
    }

    @Test("a cancelled write undoes its insertions and deletions")
    func cancelledWriteUndoes() throws {
        let realm = try makeRealm([Counter.self, Note.self])
        let kept = Counter(1, "kept")
        try realm.write { realm.add(kept) }
        let added = Note("added")
        realm.beginWrite()
        realm.delete(kept)
        realm.add(added)
        #expect(kept.isInvalidated && !added.isInvalidated)
        realm.cancelWrite()
        #expect(!kept.isInvalidated && kept.name == "kept")
        #expect(added.isInvalidated)
        // The next note gets the row key and version of the undone one.
        try realm.write { realm.add(Note("another")) }
        #expect(added.isInvalidated)
        #expect(realm.objects(Note.self).map(\.text) == ["another"])
    }

    @Test("a list, a query and backlinks of a deleted owner are empty")
    func deletedOwnerIsEmpty() throws {
        let realm = try makeRealm([AllTypes.self])
        let owner = AllTypes()
        owner.ints.append(objectsIn: [1, 2])
        owner.objects.append(AllTypes())
        try realm.write { realm.add(owner) }
        let (ints, objects, inverse) = (owner.ints, owner.objects, owner.linkedBy)
        try realm.write { realm.delete(owner) }
        #expect(ints.isInvalidated && objects.isInvalidated && inverse.isInvalidated)
        #expect(ints.isEmpty && objects.isEmpty && inverse.isEmpty)
        #expect(objects.where { $0.int == 1 }.isEmpty)
    }

    @Test("deleting in a loop reaches every match")
    func deletingLoop() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { for id in 0..<20 { realm.add(Counter(id, count: id % 2)) } }
        try realm.write {
            for counter in realm.objects(Counter.self).where({ $0.count == 1 }) { realm.delete(counter) }
        }
        #expect(realm.objects(Counter.self).count == 10)
        try realm.write { realm.delete(realm.objects(Counter.self).suffix(3)) }
        #expect(realm.objects(Counter.self).map(\.id) == [0, 2, 4, 6, 8, 10, 12])
    }

    @Test("use on another thread ends the program with a message")
    func otherThreadEndsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let realm = try makeRealm([Counter.self])
            try realm.write { realm.add(Counter(1)) }
            OtherThread.run { _ = realm.objects(Counter.self).count }
        }
    }
}
