import Dispatch
import Foundation
import Seeds
import Strata
import Testing

@Suite struct MapTests {
    final class Registry: Object {
        @Persisted var name = ""
        @Persisted var counts: Map<String, Int>
        @Persisted var words: Map<String, String?>
        @Persisted var dates: Map<String, Date>
        @Persisted var flags: Map<String, Bool>
        @Persisted var datas: Map<String, Data>
        @Persisted var moods: Map<String, Mood>
        @Persisted var notes: Map<String, Note?>
        @Persisted(deleteRule: .cascade) var own: Map<String, Note?>
        @Persisted var registries: Map<String, Registry?>
        @Persisted(originProperty: "registries") var namedIn: LinkingObjects<Registry>
    }

    @Test("a managed map behaves like a dictionary, for any sequence of changes")
    func managedLikeADictionary() throws {
        let realm = try makeRealm([Registry.self])
        let registry = Registry()
        try realm.write { realm.add(registry) }
        var model: [String: Int] = [:]
        var generator = RandomStream(Seed(11))
        for round in 0..<300 {
            let key = "key \(Int.random(in: 0..<30, using: &generator))"
            try realm.write {
                switch Int.random(in: 0..<5, using: &generator) {
                case 0, 1:
                    registry.counts[key] = round << 8
                    model[key] = round << 8
                case 2:
                    #expect(registry.counts.updateValue(-round, forKey: key) == model.updateValue(-round, forKey: key))
                case 3:
                    registry.counts.removeObject(for: key)
                    model[key] = nil
                default:
                    registry.counts.merge([(key: key, value: 1), (key: "é", value: 2)]) { $0 + $1 }
                    model.merge([(key, 1), ("é", 2)]) { $0 + $1 }
                }
            }
            #expect(registry.counts.count == model.count && registry.counts[key] == model[key])
            #expect(registry.counts.keys == model.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
            #expect(Dictionary(uniqueKeysWithValues: registry.counts.map { ($0.key, $0.value) }) == model)
        }
    }

    @Test("a map contains an entry by its key and value", arguments: [false, true])
    func containsAnEntry(managed: Bool) throws {
        let realm = try makeRealm([Registry.self])
        let registry = Registry()
        registry.counts.merge([(key: "a", value: 1), (key: "b", value: 2)]) { $1 }
        registry.words["none"] = .some(nil)
        if managed { try realm.write { realm.add(registry) } }
        #expect(registry.counts.contains((key: "b", value: 2)) && !registry.counts.contains((key: "b", value: 1)))
        #expect(!registry.counts.contains((key: "c", value: 2)) && registry.counts.allSatisfy(registry.counts.contains))
        #expect(registry.words.contains((key: "none", value: nil)) && !registry.words.contains((key: "x", value: nil)))
        #expect(registry.counts.asKeyValueSequence().map { "\($0.key)\($0.value)" } == ["a1", "b2"])
    }

    @Test("keys are distinguished and ordered by their bytes")
    func keysByBytes() throws {
        let realm = try makeRealm([Registry.self])
        let registry = Registry()
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        registry.words[decomposed] = "accent"
        registry.words["z"] = "last"
        #expect(registry.words.map(\.value) == ["accent", "last"])
        try realm.write {
            realm.add(registry)
            registry.counts[composed] = 1
        }
        #expect(registry.counts[decomposed] == nil && !registry.counts.contains(key: decomposed))
        try realm.write { registry.counts[decomposed] = 2 }
        #expect(registry.counts.map(\.value) == [2, 1] && registry.counts[composed] == 1)
        try realm.write { registry.counts[composed] = nil }
        #expect(registry.counts.map(\.value) == [2])
    }

    @Test("a map holds every kind of value")
    func everyKindOfValue() throws {
        let realm = try makeRealm([Registry.self])
        let registry = Registry()
        registry.words["none"] = .some(nil)
        registry.words["some"] = "text"
        registry.dates["epoch"] = Date(timeIntervalSince1970: 0)
        registry.flags["yes"] = true
        registry.datas["empty"] = Data()
        registry.moods["now"] = .cross
        try realm.write { realm.add(registry) }
        #expect(registry.words.count == 2 && registry.words["none"] == .some(nil) && registry.words["some"] == "text")
        #expect(registry.words["absent"] == nil && !registry.words.contains(key: "absent"))
        #expect(registry.dates["epoch"] == Date(timeIntervalSince1970: 0) && registry.flags["yes"] == true)
        #expect(registry.datas["empty"] == Data() && registry.moods["now"] == .cross)
        try realm.write { registry.words = ["only": "this"] }
        #expect(registry.words.keys == ["only"] && registry.words.values == ["this"])
    }

    @Test("a deleted object leaves nil under its key")
    func deletedObjectLeavesNil() throws {
        let realm = try makeRealm([Registry.self])
        let registry = Registry()
        let note = Note("n")
        registry.notes["a"] = note
        registry.notes["b"] = note
        registry.notes["c"] = Note("other")
        registry.notes["d"] = .some(nil)
        try realm.write { realm.add(registry) }
        #expect(registry.notes["a"]??.text == "n" && registry.notes["d"] == .some(nil))
        try realm.write { realm.delete(note) }
        #expect(registry.notes.keys == ["a", "b", "c", "d"])
        #expect(registry.notes["a"] == .some(nil) && registry.notes["c"]??.text == "other")
        try realm.write { realm.delete(registry.notes) }
        #expect(registry.notes.count == 4 && registry.notes.values.allSatisfy { $0 == nil })
        #expect(realm.objects(Note.self).isEmpty)
        try realm.store.checkInvariants()
    }

    @Test("linking objects and cascade follow links in a map")
    func linksAreFollowed() throws {
        let realm = try makeRealm([Registry.self])
        let (outer, inner) = (Registry(value: ["name": "outer"]), Registry(value: ["name": "inner"]))
        outer.registries["one"] = inner
        outer.registries["two"] = inner
        outer.registries["self"] = outer
        outer.own["x"] = Note("mine")
        try realm.write { realm.add(outer) }
        #expect(inner.namedIn.map(\.name) == ["outer", "outer"])
        #expect(outer.registries["self"] == outer)
        try realm.write { outer.registries["one"] = .some(nil) }
        #expect(inner.namedIn.count == 1)
        try realm.write { realm.delete(outer) }
        #expect(realm.objects(Note.self).isEmpty && inner.namedIn.isEmpty)
        try realm.store.checkInvariants()
    }

    @Test("an observer gets inserted and deleted keys, and keys with a replaced or changed object")
    func observedKeys() throws {
        let realm = try makeRealm([Registry.self])
        let (registry, note) = (Registry(), Note("n"))
        for (key, count) in [("x", 1), ("y", 2)] { registry.counts[key] = count }
        for key in ["a", "b"] { registry.notes[key] = note }
        try realm.write { realm.add(registry) }
        var told: [[String]] = []
        let tokens = [
            registry.counts.observe { change in
                if case .update(_, let deletions, let insertions, let modifications) = change {
                    told += [deletions, insertions, modifications]
                }
            },
            registry.notes.observe { change in
                if case .update(_, let deletions, let insertions, let modifications) = change {
                    told += [deletions, insertions, modifications]
                }
            },
        ]
        try realm.write {
            registry.counts["x"] = nil
            registry.counts["y"] = 5
            registry.counts["z"] = 1
        }
        #expect(told == [["x"], ["z"], ["y"]])
        told = []
        try realm.write {
            note.text = "changed"
            registry.notes["new"] = note
            registry.notes.removeObject(for: "b")
        }
        #expect(told == [["b"], ["new"], ["a"]])
        tokens.forEach { $0.invalidate() }
    }

    @Test("an observer on a queue where the owner is deleted gets an empty map")
    func observedDeletedOwner() throws {
        let realm = try makeRealm([Registry.self])
        let registry = Registry()
        registry.counts["x"] = 1
        try realm.write { realm.add(registry) }
        let queue = DispatchQueue(label: "late")
        queue.suspend()
        let told = DispatchSemaphore(value: 0)
        let counts = Locked<[Int]>([])
        let token = registry.counts.observe(on: queue) { change in
            if case .initial(let map) = change { counts.with { $0.append(map.count) } }
            told.signal()
        }
        try realm.write { realm.delete(registry) }
        queue.resume()
        #expect(told.wait(timeout: .now() + 300) == .success)
        #expect(counts.current == [0])
        token.invalidate()
    }

    @Test("an unmanaged map becomes managed with its owner and keeps its identity")
    func becomesManaged() throws {
        let realm = try makeRealm([Registry.self])
        let registry = Registry()
        let counts = registry.counts
        counts["a"] = 1
        try realm.write { realm.add(registry) }
        try realm.write { counts["b"] = 2 }
        #expect(registry.counts["b"] == 2 && counts.realm == realm)
        try realm.write { registry.counts.removeAll { $0.value == 1 } }
        #expect(counts.keys == ["b"])
    }

    @Test("a map of objects has optional values, or the file is refused with a reason")
    func optionalObjects() throws {
        enum Wrong {
            final class Holder: Object { @Persisted var notes: Map<String, Note> }
        }
        let error = try #require(throws: Realm.Error.self, "opened with a map of objects that cannot be absent") {
            try makeRealm([Wrong.Holder.self])
        }
        #expect(error.code == .schemaMismatch && error.message.contains("Map<String, Note?>"))
    }
}
