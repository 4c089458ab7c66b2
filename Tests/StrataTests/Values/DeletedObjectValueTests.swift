import Strata
import Testing

/// A value of any type whose object was deleted read as null, while conditions, sets, sorts and observers still used
/// the stale link: `any == nil` did not find it, a set contained null twice, and no observer was notified.
@Suite struct DeletedObjectValueTests {
    final class Item: Object {
        @Persisted(primaryKey: true) var id = 0
        convenience init(_ id: Int) {
            self.init()
            self.id = id
        }
    }
    final class Holder: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted(indexed: true) var any: AnyRealmValue
        @Persisted var list: List<AnyRealmValue>
        @Persisted var set: MutableSet<AnyRealmValue>
        @Persisted var map: Map<String, AnyRealmValue>
        @Persisted var next: Holder?
        @Persisted var name = ""
    }

    /// Makes `count` items, a holder for each, and one holder without an item. Every value of a holder links to its
    /// item, or is null; its collections also contain a number.
    private func fill(_ realm: Realm, _ count: Int) throws {
        try realm.write {
            for id in 0...count {
                let value: AnyRealmValue = id < count ? .object(realm.create(Item.self, value: [id])) : .none
                let holder = realm.create(Holder.self, value: ["id": id])
                holder.any = value
                holder.list.append(objectsIn: [.int(id), value])
                holder.set.insert(objectsIn: [.int(id), value])
                holder.map["it"] = value
                holder.map["number"] = .int(id)
            }
        }
    }

    private func realm(_ count: Int) throws -> Realm {
        let realm = try makeRealm([Item.self, Holder.self])
        try fill(realm, count)
        return realm
    }

    private let nilConditions = [
        "any == nil", "NOT any != nil", "any IN {nil, 'x'}", "ANY list == nil", "NOT ALL list != nil",
        "ANY set == nil", "map['it'] == nil", "ANY map == nil",
        "ANY map.@allValues == nil", "list.@max == id AND any == nil", "any <= nil", "any == nil AND set.@count == 2",
    ]

    private func expectNone(_ realm: Realm, _ ids: [Int], _ moment: String) {
        let holders = realm.objects(Holder.self)
        for condition in nilConditions {
            #expect(holders.filter(condition).map(\.id) == ids, "\(moment): \(condition)")
        }
        let others = holders.map(\.id).filter { !ids.contains($0) }
        for condition in ["any != nil", "NONE list == nil", "NONE set == nil", "map['it'] != nil", "NONE map == nil"] {
            #expect(holders.filter(condition).map(\.id) == others, "\(moment): \(condition)")
        }
        #expect(holders.where { $0.any == .none }.map(\.id) == ids, "\(moment)")
        #expect(holders.where { $0.any != .none }.map(\.id) == others, "\(moment)")
        #expect(holders.where { $0.list.contains(.none) }.map(\.id) == ids, "\(moment)")
        #expect(holders.where { $0.map["it"] == .none }.map(\.id) == ids, "\(moment)")
        #expect(holders.filter { $0.any == .none }.map(\.id) == ids, "\(moment)")
        #expect(holders.sorted(byKeyPath: "any").prefix(ids.count).map(\.id) == ids, "\(moment)")
        #expect(holders.distinct(by: ["any"]).count == others.count + 1, "\(moment)")
        for holder in holders {
            let isNone = ids.contains(holder.id)
            #expect((holder.any == .none) == isNone && (holder.list[1] == .none) == isNone, "\(moment)")
            #expect(holder.set.contains(.none) == isNone && (holder.map["it"] ?? .int(0) == .none) == isNone)
            #expect(
                holder.list.contains(.none) == isNone && holder.list.filter("SELF == nil").count == (isNone ? 1 : 0))
            #expect(holder.set.filter("SELF == nil").count == (isNone ? 1 : 0), "\(moment)")
        }
    }

    @Test("reading and querying agree inside the deleting write, after it, and in the version before")
    func everyVersionAgrees() throws {
        let realm = try realm(8)
        let before = realm.freeze()
        expectNone(realm, [8], "before")
        try realm.write {
            // Results that the write keeps.
            let kept = realm.objects(Holder.self).filter("any == nil")
            let listed = realm.objects(Holder.self).filter("ANY list == nil")
            #expect(kept.count == 1 && listed.count == 1)
            realm.delete(realm.objects(Item.self).where { $0.id.in([2, 5]) })
            #expect(kept.map(\.id) == [2, 5, 8] && listed.count == 3)
            expectNone(realm, [2, 5, 8], "inside")
        }
        expectNone(realm, [2, 5, 8], "after")
        expectNone(realm.freeze(), [2, 5, 8], "frozen")
        expectNone(before, [8], "before, later")
        try realm.write { realm.delete(realm.objects(Item.self)) }
        expectNone(realm, Array(0...8), "all")
        try realm.store.checkInvariants()
    }

    @Test("an object that is added again with the same key is another one")
    func sameKeyAddedAgain() throws {
        let realm = try realm(3)
        try realm.write {
            if let item = realm.object(ofType: Item.self, forPrimaryKey: 1) { realm.delete(item) }
            realm.add(Item(1))
        }
        expectNone(realm, [1, 3], "again")
        let item = try #require(realm.object(ofType: Item.self, forPrimaryKey: 1))
        #expect(realm.objects(Holder.self).filter("any == %@", item).isEmpty)
    }

    @Test("many of many rows, by columns and row by row")
    func manyOfManyRows() throws {
        let realm = try realm(1500)
        try realm.write { realm.delete(realm.objects(Item.self).filter("id < 1300")) }
        for condition in nilConditions {
            #expect(realm.objects(Holder.self).filter(condition).count == 1301, "\(condition)")
        }
        #expect(realm.objects(Holder.self).filter("any != nil").count == 200)
    }

    @Test("lists and maps in a value")
    func insideOfValues() throws {
        let realm = try makeRealm([Item.self, Holder.self])
        let holder = try realm.write {
            let holder = realm.create(Holder.self, value: ["id": 1])
            holder.any = .fromArray([.object(realm.create(Item.self, value: [1])), .fromDictionary(["a": .int(1)])])
            holder.list.append(.fromDictionary(["it": .object(realm.create(Item.self, value: [2]))]))
            return holder
        }
        let holders = realm.objects(Holder.self)
        let conditions = ["any[0] == nil", "ANY any[*] == nil"]
        for condition in conditions { #expect(holders.filter(condition).isEmpty, "\(condition)") }
        var told: [[String]] = []
        let token = holder.observe { change in
            if case .change(_, let changes) = change { told.append(changes.map(\.name).sorted()) }
        }
        var inner: [[Int]] = []
        let list = holder.any.listValue?.observe { change in
            if case .update(_, _, _, let modifications) = change { inner.append(modifications) }
        }
        try realm.write { realm.delete(realm.objects(Item.self)) }
        for condition in conditions { #expect(holders.filter(condition).count == 1, "\(condition)") }
        #expect(told == [["any", "list"]] && inner == [[0]])
        #expect(holder.any.listValue?[0] == AnyRealmValue.none)
        token.invalidate()
        list?.invalidate()
    }

    // MARK: Sets

    @Test("members with deleted objects become one null in every operation of a set")
    func oneNullInASet() throws {
        let realm = try makeRealm([Item.self, Holder.self])
        let (holder, other, items) = try realm.write {
            let items = (1...4).map { realm.create(Item.self, value: [$0]) }
            let (holder, other) = (realm.create(Holder.self, value: [1]), realm.create(Holder.self, value: [2]))
            holder.set.insert(objectsIn: items.map { .object($0) } + [.int(7), .string("x")])
            other.set.insert(objectsIn: [.none, .object(items[3])])
            return (holder, other, items)
        }
        let before = holder.freeze()
        try realm.write {
            realm.delete(items[0])
            #expect(holder.set.count == 6 && holder.set.contains(.none))
            realm.delete(items[2])
            #expect(holder.set.count == 5)
        }
        let expected: [AnyRealmValue] = [.none, .object(items[1]), .object(items[3]), .int(7), .string("x")]
        for set in [holder.set, holder.freeze().set] {
            #expect(set.count == 5 && set.map { $0 }.count == 5 && set[0] == .none)
            #expect(set.filter { $0 == .none }.count == 1)
            #expect((0..<set.count).map { set[$0] }.count { $0 == .none } == 1)
            #expect(set.sorted().count == 5 && set.distinct().count == 5 && set.sorted()[0] == .none)
        }
        #expect(expected.allSatisfy { holder.set.contains($0) } && before.set.count == 6 && !before.set.contains(.none))
        #expect(other.set.isSubset(of: holder.set) && holder.set.isSuperset(of: other.set))
        #expect(realm.objects(Holder.self).filter("set.@count == 5").count == 1)
        #expect(realm.objects(Holder.self).filter("set.@count == 5 AND id == 1").count == 1)
        try realm.write {
            #expect(!holder.set.insert(.none).inserted && holder.set.count == 5)
            #expect(holder.set.insert(.int(8)).inserted && holder.set.count == 6)
            realm.delete(items[1])
            holder.set.remove(.none)
            #expect(holder.set.count == 4 && !holder.set.contains(.none))
            realm.delete(items[3])
            other.set.insert(objectsIn: [.none, .int(1)])
            #expect(Array(other.set).count == 2 && other.set.contains(.none))
            holder.set.subtract([AnyRealmValue.none])
            #expect(holder.set.count == 3)
        }
        try realm.store.checkInvariants()
    }

    @Test("a large set")
    func largeSet() throws {
        let realm = try makeRealm([Item.self, Holder.self])
        let holder = try realm.write {
            let holder = realm.create(Holder.self, value: [1])
            holder.set.insert(objectsIn: (0..<3000).map { .object(realm.create(Item.self, value: [$0])) })
            holder.set.insert(objectsIn: (0..<3000).map { .int($0) })
            return holder
        }
        try realm.write { realm.delete(realm.objects(Item.self).filter("id < 1000")) }
        #expect(holder.set.count == 5001 && Set(holder.set).count == 5001 && holder.set[0] == .none)
        #expect(realm.objects(Holder.self).filter("set.@count == 5001").count == 1)
        try realm.write { holder.set.remove(.int(5)) }
        #expect(holder.set.count == 5000)
        try realm.store.checkInvariants()
    }

    // MARK: Observers

    private final class Told {
        var tokens: [NotificationToken] = []
        var lines: [String] = []

        func take() -> [String] {
            defer { lines = [] }
            return lines.sorted()
        }
    }

    private func observe(_ realm: Realm, _ holder: Holder) -> Told {
        let told = Told()
        func note<Collection>(_ name: String) -> (RealmCollectionChange<Collection>) -> Void {
            { [unowned told] change in
                guard case .update(_, let deletions, let insertions, let modifications) = change else { return }
                told.lines.append("\(name) \(deletions) \(insertions) \(modifications)")
            }
        }
        let holders = realm.objects(Holder.self)
        told.tokens = [
            holder.observe { [unowned told] change in
                guard case .change(_, let changes) = change else { return }
                for change in changes where change.name == "any" {
                    told.lines.append("any \(change.oldValue != nil) \(change.newValue == nil)")
                }
                told.lines.append("object \(changes.map(\.name).sorted().joined(separator: ","))")
            },
            holder.observe(keyPaths: ["any"]) { [unowned told] _ in told.lines.append("key path") },
            holder.observe(keyPaths: ["name"]) { [unowned told] _ in told.lines.append("name") },
            holders.observe(note("results")), holders.observe(keyPaths: ["list"], note("results by list")),
            holders.observe(keyPaths: ["next.any"], note("results by link")),
            holders.filter("any == nil").observe(note("none")),
            holders.filter("ANY list == nil").sorted(byKeyPath: "id").observe(note("listed")),
            holders.filter("map['it'] == nil").observe(note("mapped")),
            holders.sorted(byKeyPath: "any").observe(keyPaths: ["name"], note("sorted")),
            holders.distinct(by: ["any"]).observe(keyPaths: ["name"], note("distinct")),
            holder.list.observe(note("list")), holder.set.observe(note("set")),
            holder.map.observe { [unowned told] change in
                guard case .update(_, let deletions, let insertions, let modifications) = change else { return }
                told.lines.append("map \(deletions) \(insertions) \(modifications)")
            },
        ]
        return told
    }

    @Test("every kind of observer is notified once, and only of this")
    func notifiedOnce() throws {
        let realm = try realm(3)
        let holder = try #require(realm.object(ofType: Holder.self, forPrimaryKey: 1))
        try realm.write {
            realm.object(ofType: Holder.self, forPrimaryKey: 0)?.next = holder
            realm.add(Item(77))
        }
        let told = observe(realm, holder)
        func delete(_ id: Int) throws {
            try realm.write {
                if let item = realm.object(ofType: Item.self, forPrimaryKey: id) { realm.delete(item) }
            }
        }
        try delete(1)
        #expect(
            told.take() == [
                "any true true", "distinct [3] [] []", "key path", "list [] [] [1]", "listed [] [0] []",
                "map [] [] [\"it\"]", "mapped [] [0] []", "none [] [0] []", "object any,list,map,set",
                "results [] [] [0, 1]", "results by link [] [] [0]", "results by list [] [] [1]", "set [1] [0] []",
                "sorted [2] [0] []",
            ])
        try delete(77)
        #expect(told.take() == [])
        // Setting null to null is no change.
        try realm.write {
            holder.any = .none
            holder.set.insert(.none)
            holder.name = "x"
        }
        #expect(told.take().filter { $0.hasPrefix("object") || $0.hasPrefix("set") } == ["object name"])
        try realm.write { realm.add(Item(1)) }
        #expect(told.take() == [])
        told.tokens.forEach { $0.invalidate() }
    }

    @Test("observers are notified when all objects of a class are deleted at once")
    func wholeClassDeleted() throws {
        let realm = try realm(3)
        let holder = try #require(realm.object(ofType: Holder.self, forPrimaryKey: 1))
        let told = observe(realm, holder)
        try realm.write { realm.delete(realm.objects(Item.self)) }
        let lines = told.take()
        for line in ["key path", "list [] [] [1]", "none [] [0, 1, 2] []", "results [] [] [0, 1, 2]", "set [1] [0] []"]
        {
            #expect(lines.contains(line), "\(lines)")
        }
        told.tokens.forEach { $0.invalidate() }
    }

    // MARK: Migrations

    enum Apart {
        final class Holder: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var any: AnyRealmValue
            @Persisted var list: List<AnyRealmValue>
            @Persisted var set: MutableSet<AnyRealmValue>
            override class func className() -> String { "Holder" }
        }
        final class Part: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var owner: Holder?
            override class func className() -> String { "Part" }
        }
    }

    enum Within {
        final class Holder: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var any: AnyRealmValue
            @Persisted var list: List<AnyRealmValue>
            @Persisted var set: MutableSet<AnyRealmValue>
            @Persisted var part: Part?
            override class func className() -> String { "Holder" }
        }
        final class Part: EmbeddedObject {
            @Persisted var id = 0
            override class func className() -> String { "Part" }
        }
    }

    private func fillApart(_ file: TemporaryFile) throws {
        let realm = try Realm(configuration: file.configuration([Apart.Holder.self, Apart.Part.self]))
        try realm.write {
            for id in 0..<5 {
                let holder = realm.create(Apart.Holder.self, value: [id])
                let value = AnyRealmValue.object(realm.create(Apart.Part.self, value: [id]))
                holder.any = value
                holder.list.append(value)
                holder.set.insert(objectsIn: [value, .none])
            }
        }
        realm.invalidate()
    }

    @Test("a class that a migration removes")
    func removedClass() throws {
        let file = TemporaryFile()
        try fillApart(file)
        let realm = try Realm(
            configuration: file.configuration([Apart.Holder.self], version: 1) { migration, _ in
                migration.deleteData(forType: "Part")
            })
        let holders = realm.objects(Apart.Holder.self)
        for condition in ["any == nil", "ANY list == nil", "set.@count == 1"] {
            #expect(holders.filter(condition).count == 5, "\(condition)")
        }
        #expect(holders.allSatisfy { $0.any == .none && $0.set.count == 1 && Array($0.set) == [.none] })
    }

    @Test("a class that became embedded")
    func becameEmbedded() throws {
        let file = TemporaryFile()
        try fillApart(file)
        let realm = try Realm(
            configuration: file.configuration([Within.Holder.self, Within.Part.self], version: 1) { _, _ in })
        let holders = realm.objects(Within.Holder.self)
        for condition in ["any == nil", "ANY list == nil", "set.@count == 1"] {
            #expect(holders.filter(condition).count == 5, "\(condition)")
        }
        #expect(holders.allSatisfy { $0.any == .none && $0.set.count == 1 && Array($0.set) == [.none] })
    }
}
