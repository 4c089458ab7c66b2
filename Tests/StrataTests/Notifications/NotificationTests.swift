import Dispatch
import Seeds
import Strata
import Testing

@Suite struct NotificationTests {
    /// Mirrors a collection by its change sets only.
    final class Mirror {
        private(set) var values: [String] = []
        private(set) var failures: [String] = []
        private(set) var updates = 0
        private var token: NotificationToken?

        func follow<Collection: RealmCollection>(
            _ collection: Collection, _ show: @escaping (Collection.Element) -> String
        )
        where Collection.Element: ObjectBase {
            token = collection.observe { [weak self] change in
                guard let self else { return }
                switch change {
                case .initial(let now): values = now.map(show)
                case .update(let now, let deletions, let insertions, let modifications):
                    updates += 1
                    apply(now.map(show), deletions, insertions, modifications)
                case .error(let error): failures.append("\(error)")
                }
            }
        }

        private func apply(_ now: [String], _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
            if deletions != deletions.sorted() || insertions != insertions.sorted() { failures.append("not sorted") }
            var marked = values.map { (text: $0, isStale: false) }
            for place in modifications { marked[place].isStale = true }
            for place in deletions.reversed() { marked.remove(at: place) }
            for place in insertions { marked.insert((now[place], false), at: place) }
            guard marked.count == now.count else {
                failures.append("\(marked.count) elements, not \(now.count)")
                values = now
                return
            }
            for (place, entry) in marked.enumerated() where !entry.isStale && entry.text != now[place] {
                failures.append("place \(place): \(entry.text), not \(now[place])")
            }
            values = now
        }
    }

    @Test("change sets applied to a mirror give the collection", arguments: [1, 2, 3, 4] as [UInt64])
    func mirroredChangeSets(seed: UInt64) throws {
        let realm = try makeRealm([Counter.self, AllTypes.self])
        let owner = AllTypes()
        try realm.write {
            realm.add(owner)
            for id in 0..<40 { realm.add(Counter(id * 3, "n\(id)", count: id % 7)) }
        }
        let show: (Counter) -> String = { "\($0.id) \($0.name) \($0.count)" }
        let all = Mirror()
        all.follow(realm.objects(Counter.self), show)
        let filtered = Mirror()
        filtered.follow(realm.objects(Counter.self).where { $0.count >= 3 }, show)
        let sorted = Mirror()
        sorted.follow(realm.objects(Counter.self).sorted(byKeyPath: "count", ascending: false), show)
        let list = Mirror()
        list.follow(owner.objects) { "\($0.int)" }
        var generator = RandomStream(Seed(seed))
        for _ in 0..<60 {
            try realm.write {
                for _ in 0..<Int.random(in: 1...6, using: &generator) {
                    change(realm, owner, &generator)
                }
            }
            #expect(all.values == realm.objects(Counter.self).map(show))
            #expect(filtered.values == realm.objects(Counter.self).where { $0.count >= 3 }.map(show))
        }
        #expect(all.failures == [] && filtered.failures == [] && sorted.failures == [] && list.failures == [])
        #expect(all.updates > 10 && list.updates > 0)
    }

    private func change(_ realm: Realm, _ owner: AllTypes, _ generator: inout RandomStream) {
        let counters = realm.objects(Counter.self)
        let place = Int.random(in: 0..<max(1, counters.count), using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1:
            let id = Int.random(in: 0..<200, using: &generator)
            realm.create(Counter.self, value: ["id": id, "count": id % 9], update: .modified)
        case 2 where !counters.isEmpty: realm.delete(counters[place])
        case 3 where !counters.isEmpty:
            let id = counters[place].id
            realm.delete(counters[place])
            realm.add(Counter(id, "again", count: 5))
        case 4 where !counters.isEmpty, 5 where !counters.isEmpty:
            counters[place].count = Int.random(in: 0..<9, using: &generator)
        case 6:
            let number = Int.random(in: 0..<1000, using: &generator)
            owner.objects.append(AllTypes(value: ["int": number]))
        case 7 where !owner.objects.isEmpty:
            owner.objects.move(from: Int.random(in: 0..<owner.objects.count, using: &generator), to: 0)
        default: break
        }
    }

    @Test("initial comes once, before any update")
    func initialComesOnce() throws {
        let realm = try makeRealm([Note.self])
        var seen: [String] = []
        let token = realm.objects(Note.self).observe { change in
            switch change {
            case .initial(let results): seen.append("initial \(results.count)")
            case .update(_, _, let insertions, _): seen.append("update \(insertions)")
            case .error(let error): seen.append("\(error)")
            }
        }
        try realm.write { realm.add(Note("a")) }
        try realm.write {}
        #expect(seen == ["initial 0", "update [0]"])
        token.invalidate()
    }

    @Test("a silenced token's observer misses that write only")
    func silencedToken() throws {
        let realm = try makeRealm([Note.self])
        var updates = 0
        let token = realm.objects(Note.self).observe { if case .update = $0 { updates += 1 } }
        try realm.write(withoutNotifying: [token]) { realm.add(Note("a")) }
        #expect(updates == 0)
        try realm.write { realm.add(Note("b")) }
        #expect(updates == 1)
        token.invalidate()
    }

    @Test("releasing a token ends the notifications")
    func releasedToken() throws {
        let realm = try makeRealm([Note.self])
        var updates = 0
        var token: NotificationToken? = realm.objects(Note.self).observe { if case .update = $0 { updates += 1 } }
        try realm.write { realm.add(Note("a")) }
        #expect(token != nil)
        token = nil
        try realm.write { realm.add(Note("b")) }
        #expect(updates == 1)
    }

    @Test("a write inside a notification is delivered afterwards")
    func writeInsideANotification() throws {
        let realm = try makeRealm([Note.self])
        var counts: [Int] = []
        let token = realm.objects(Note.self).observe { change in
            guard case .update(let results, _, let insertions, _) = change else { return }
            counts.append(insertions.count)
            if results.count < 3 { try? realm.write { realm.add(Note("more")) } }
        }
        try realm.write { realm.add(Note("a")) }
        #expect(counts == [1, 1, 1])
        token.invalidate()
    }

    @Test("key paths choose which modifications count")
    func chosenByKeyPaths() throws {
        let realm = try makeRealm([Note.self])
        let note = Note("a")
        try realm.write { realm.add(note) }
        var updates = 0
        let token = realm.objects(Note.self).observe(keyPaths: ["rank"]) { if case .update = $0 { updates += 1 } }
        try realm.write { note.text = "b" }
        #expect(updates == 0)
        try realm.write { note.rank = 2 }
        #expect(updates == 1)
        token.invalidate()
    }

    @Test("an observer on a queue is notified there, first of the initial state, then of changes")
    func observerOnAQueue() throws {
        let realm = try makeRealm([Note.self])
        try realm.write { realm.add(Note("a")) }
        let queue = DispatchQueue(label: "observer")
        let seen = Locked<[String]>([])
        let told = DispatchSemaphore(value: 0)
        let token = realm.objects(Note.self).observe(on: queue) { change in
            dispatchPrecondition(condition: .onQueue(queue))
            switch change {
            case .initial(let notes): seen.with { $0.append("initial \(notes.map(\.text))") }
            case .update(let notes, _, let insertions, _):
                seen.with { $0.append("update \(insertions) \(notes.map(\.text))") }
            case .error(let error): seen.with { $0.append("\(error)") }
            }
            told.signal()
        }
        told.wait()
        try realm.write { realm.add(Note("b")) }
        told.wait()
        #expect(seen.current == ["initial [\"a\"]", "update [1] [\"a\", \"b\"]"])
        token.invalidate()
    }

    @Test("a list of values notifies with indexes")
    func valuesWithIndexes() throws {
        let realm = try makeRealm([AllTypes.self])
        let owner = AllTypes()
        owner.ints.append(objectsIn: [1, 2, 3])
        try realm.write { realm.add(owner) }
        var seen: [[Int]] = []
        let token = owner.ints.observe { change in
            if case .update(_, let deletions, let insertions, _) = change { seen = [deletions, insertions] }
        }
        try realm.write {
            owner.ints.remove(at: 0)
            owner.ints.append(4)
        }
        #expect(seen == [[0], [2]])
        token.invalidate()
    }

    @Test("a list notifies of a new object with a deleted one's key, and of changes by old indexes")
    func newObjectWithDeletedKey() throws {
        let realm = try makeRealm([CollectionQueryTests.Drawer.self, Counter.self])
        let drawer = CollectionQueryTests.Drawer()
        drawer.counters.append(objectsIn: (0..<3).map { Counter($0) })
        try realm.write { realm.add(drawer) }
        var seen: [[Int]] = []
        let token = drawer.counters.observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                seen = [deletions, insertions, modifications]
            }
        }
        try realm.write {
            drawer.counters[2].name = "changed"
            realm.delete(drawer.counters[1])
            drawer.counters.insert(Counter(1), at: 1)
        }
        #expect(seen == [[1], [1], [2]])
        try realm.write {
            drawer.counters.remove(at: 0)
            drawer.counters[1].count = 5
        }
        #expect(seen == [[0], [], [2]])
        token.invalidate()
    }

    final class Tray: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var cells: List<Int>
    }

    @Test("a deleted owner's list notifies as emptied, even if another object has the owner's key")
    func deletedOwnersList() throws {
        let realm = try makeRealm([Tray.self])
        let tray = Tray(value: ["cells": [1, 2]])
        try realm.write { realm.add(tray) }
        var seen: [[Int]] = []
        let token = tray.cells.observe { change in
            if case .update(_, let deletions, let insertions, _) = change { seen += [deletions, insertions] }
        }
        try realm.write {
            realm.delete(tray)
            realm.add(Tray(value: ["cells": [1, 2]]))
        }
        #expect(seen == [[0, 1], []])
        token.invalidate()
    }

    @Test("limited results notify of changed elements that kept their index")
    func limitedResults() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { for id in 1...3 { realm.add(Counter(id, count: id * 4)) } }
        let counters = realm.objects(Counter.self)
        var seen: [[Int]] = []
        let token = counters.sorted(byKeyPath: "count").limit(2).observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                seen += [deletions, insertions, modifications]
            }
        }
        try realm.write { counters[0].count = 5 }
        #expect(seen == [[], [], [0]])
        token.invalidate()
    }

    @Test("a key path to an inverse notifies of added and removed links, and of deleted owners")
    func keyPathToAnInverse() throws {
        let realm = try makeRealm([TypedQueryTests.Owner.self, TypedQueryTests.Pet.self])
        let pets = realm.objects(TypedQueryTests.Pet.self)
        try realm.write {
            for id in 0..<2 {
                let owner = realm.create(TypedQueryTests.Owner.self, value: ["id": id])
                owner.pets.append(TypedQueryTests.Pet())
            }
            realm.add(TypedQueryTests.Pet())
        }
        let owners = realm.objects(TypedQueryTests.Owner.self)
        var seen: [[Int]] = []
        let token = pets.observe(keyPaths: ["owners"]) { change in
            if case .update(_, _, _, let modifications) = change { seen.append(modifications) }
        }
        try realm.write { owners[0].pets.append(pets[2]) }
        try realm.write { owners[0].pets.remove(at: 0) }
        try realm.write { realm.delete(owners[1]) }
        #expect(seen == [[2], [0], [1]])
        token.invalidate()
    }

    @Test("the Realm notifies of every version that it shows")
    func everyShownVersion() throws {
        let realm = try makeRealm([Note.self])
        var changes = 0
        let token = realm.observe { notification, _ in if notification == .didChange { changes += 1 } }
        try realm.write { realm.add(Note("a")) }
        try realm.write { realm.add(Note("b")) }
        #expect(changes == 2)
        token.invalidate()
    }
}
