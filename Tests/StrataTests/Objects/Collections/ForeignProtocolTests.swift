import Foundation
import Strata
import Testing

// Protocols of an application, to which collections conform by empty extensions. That this file compiles is the first
// test: a method for some elements only, or with another default argument, would satisfy none of these requirements.

/// As in a library that wraps notifications: a collection of elements of any type.
private protocol NotificationEmitter {
    associatedtype ElementType: RealmCollectionValue
    func observe(
        keyPaths: [String]?, on queue: DispatchQueue?, _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken
    func toArray() -> [ElementType]
    func toAnyCollection() -> AnyRealmCollection<ElementType>
}

/// As in an older library of this kind: `observe` has no key paths.
private protocol QueueEmitter {
    func observe(
        on queue: DispatchQueue?, _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken
    var count: Int { get }
}

private protocol SortableResults {
    func sorted(byKeyPath keyPath: String, ascending: Bool) -> Self
    func sorted(by: [Strata.SortDescriptor]) -> Self
    func distinct(by: [String]) -> Self
}

/// As in an application that mocks its collections in tests.
private protocol Repository {
    associatedtype Entity: RealmCollectionValue
    var realm: Realm? { get }
    var isInvalidated: Bool { get }
    var isFrozen: Bool { get }
    var first: Entity? { get }
    var last: Entity? { get }
    func index(of object: Entity) -> Int?
    func index(matching format: String, _ arguments: Any...) -> Int?
    func index(matching predicate: FormatPredicate) -> Int?
    func objects(at indexes: IndexSet) -> [Entity]
    func filter(_ format: String, _ arguments: Any...) -> Results<Entity>
    func filter(_ predicate: FormatPredicate) -> Results<Entity>
    func `where`(_ isIncluded: (Query<Entity>) -> Query<Bool>) -> Results<Entity>
    func sorted(byKeyPath keyPath: String, ascending: Bool) -> Results<Entity>
    func sorted<Orders: Sequence>(by orders: Orders) -> Results<Entity> where Orders.Element == Strata.SortDescriptor
    func distinct<Names: Sequence>(by names: Names) -> Results<Entity> where Names.Element == String
    func min<Value: _HasPersistedType>(ofProperty property: String) -> Value? where Value.PersistedType: MinMaxType
    func max<Value: _HasPersistedType>(ofProperty property: String) -> Value? where Value.PersistedType: MinMaxType
    func sum<Value: _HasPersistedType>(ofProperty property: String) -> Value where Value.PersistedType: AddableType
    func average<Value: _HasPersistedType>(ofProperty property: String) -> Value?
    where Value.PersistedType: AddableType
    func value(forKey key: String) -> Any?
    func value(forKeyPath keyPath: String) -> Any?
    func setValue(_ value: Any?, forKey key: String)
    func freeze() -> Self
    func thaw() -> Self?
}

private protocol WrappedCollection: NotificationEmitter, QueueEmitter, Repository where Entity == ElementType {}

extension NotificationEmitter where Self: RealmCollection, ElementType == Self.Element {
    fileprivate func toArray() -> [ElementType] { Array(self) }
    fileprivate func toAnyCollection() -> AnyRealmCollection<ElementType> { AnyRealmCollection(self) }
}

extension Results: WrappedCollection, SortableResults {
    fileprivate typealias ElementType = Element
    fileprivate typealias Entity = Element
}
extension List: WrappedCollection {
    fileprivate typealias ElementType = Element
    fileprivate typealias Entity = Element
}
extension MutableSet: WrappedCollection {
    fileprivate typealias ElementType = Element
    fileprivate typealias Entity = Element
}
extension AnyRealmCollection: WrappedCollection {
    fileprivate typealias ElementType = Element
    fileprivate typealias Entity = Element
}
extension LinkingObjects: WrappedCollection {
    fileprivate typealias ElementType = Element
    fileprivate typealias Entity = Element
}

private protocol AnyEntries: RealmKeyedCollection {
    func observe(
        keyPaths: [String]?, on queue: DispatchQueue?, _ block: @escaping (RealmMapChange<Self>) -> Void
    ) -> NotificationToken
    func observe(on queue: DispatchQueue?, _ block: @escaping (RealmMapChange<Self>) -> Void) -> NotificationToken
    func sorted(byKeyPath keyPath: String, ascending: Bool) -> Results<Value>
    func filter(_ predicate: FormatPredicate) -> Results<Value>
    func max<Number: _HasPersistedType>(ofProperty property: String) -> Number? where Number.PersistedType: MinMaxType
    func value(forKey key: String) -> Any?
    func removeObject(for key: Key)
}

extension Map: AnyEntries {}

private protocol ObjectEmitter {
    func observe<Seen: ObjectBase>(
        keyPaths: [String]?, on queue: DispatchQueue?, _ block: @escaping (ObjectChange<Seen>) -> Void
    ) -> NotificationToken
    var isInvalidated: Bool { get }
}

extension Object: ObjectEmitter {}

private protocol Storage {
    func objects<Element: Object>(_ type: Element.Type) -> Results<Element>
    func object<Element: Object, KeyType>(ofType type: Element.Type, forPrimaryKey key: KeyType) -> Element?
    func add(_ object: Object, update: Realm.UpdatePolicy)
    func add<Elements: Sequence>(_ objects: Elements, update: Realm.UpdatePolicy) where Elements.Element: Object
    func create<Element: Object>(_ type: Element.Type, value: Any, update: Realm.UpdatePolicy) -> Element
    func delete(_ object: ObjectBase)
    func delete<Elements: Sequence>(_ objects: Elements) where Elements.Element: ObjectBase
    func delete<Element: ObjectBase>(_ objects: Results<Element>)
    func deleteAll()
    func beginWrite()
    func commitWrite(withoutNotifying tokens: [NotificationToken]) throws
    func cancelWrite()
    func write<Result>(withoutNotifying tokens: [NotificationToken], _ block: () throws -> Result) throws -> Result
    func observe(_ block: @escaping NotificationBlock) -> NotificationToken
    func refresh() -> Bool
    func resolve<Confined>(_ reference: ThreadSafeReference<Confined>) -> Confined?
    var isInWriteTransaction: Bool { get }
}

extension Realm: Storage {}

@Suite struct ForeignProtocolTests {
    final class Cat: Object {
        @Persisted var name = ""
        @Persisted var age = 0
        @Persisted var friends: List<Cat>
        @Persisted var marks: List<Int>
        @Persisted var tags: MutableSet<String>
        @Persisted var sizes: Map<String, Int>
        @Persisted var kin: Map<String, Cat?>
        @Persisted(originProperty: "friends") var befriended: LinkingObjects<Cat>
    }

    private func world() throws -> (Realm, Cat) {
        let realm = try makeRealm([Cat.self])
        let tom = Cat(value: ["name": "Tom", "age": 3])
        tom.friends.append(objectsIn: [("Mia", 5), ("Kim", 2), ("Ann", 5)].map { Cat(value: [$0, $1]) })
        tom.marks.append(objectsIn: [3, 1, 2, 1])
        tom.tags.insert(objectsIn: ["grey", "quick"])
        tom.sizes["a"] = 2
        tom.sizes["b"] = 1
        tom.kin["m"] = tom.friends[0]
        try realm.write { realm.add(tom) }
        return (realm, tom)
    }

    /// Counts the notifications of a collection that is known only by the application's protocol.
    private func changes<Emitter: NotificationEmitter & QueueEmitter>(
        of emitter: Emitter, _ change: () throws -> Void
    ) throws -> [String] {
        var told: [String] = []
        func note(_ change: RealmCollectionChange<Emitter>) {
            switch change {
            case .initial(let emitter): told.append("initial \(emitter.count)")
            case .update(let emitter, let deletions, let insertions, let modifications):
                told.append("\(emitter.count): \(deletions) \(insertions) \(modifications)")
            case .error(let error): told.append("\(error)")
            }
        }
        let tokens = [emitter.observe(keyPaths: nil, on: nil, note), emitter.observe(on: nil, note)]
        try change()
        tokens.forEach { $0.invalidate() }
        return told
    }

    @Test("collections of objects and of values notify through an application's protocol")
    func foreignNotifications() throws {
        let (realm, tom) = try world()
        let results = realm.objects(Cat.self).filter("age > 2").sorted(byKeyPath: "name")
        #expect(
            try changes(of: results) { try realm.write { tom.friends[1].age = 9 } }
                == ["initial 3", "initial 3", "4: [] [1] [2]", "4: [] [1] [2]"])
        #expect(
            try changes(of: tom.friends[0].befriended) { try realm.write { tom.age = 4 } }
                == ["initial 1", "initial 1", "1: [] [] [0]", "1: [] [] [0]"])
        #expect(
            try changes(of: tom.marks) { try realm.write { tom.marks.append(7) } }
                == ["initial 4", "initial 4", "5: [] [4] []", "5: [] [4] []"])
        #expect(
            try changes(of: tom.tags) { try realm.write { tom.tags.remove("grey") } }
                == ["initial 2", "initial 2", "1: [0] [] []", "1: [0] [] []"])
        #expect(
            try changes(of: AnyRealmCollection(tom.marks)) { try realm.write { tom.marks.remove(at: 0) } }
                == ["initial 5", "initial 5", "4: [0] [] []", "4: [0] [] []"])
    }

    @Test("results of plain values notify of changes")
    func plainValuesNotify() throws {
        let (realm, tom) = try world()
        let least = tom.marks.filter("SELF < 3").sorted(byKeyPath: "self", ascending: true)
        #expect(Array(least) == [1, 1, 2])
        #expect(
            try changes(of: least) {
                try realm.write { tom.marks.append(objectsIn: [0, 9]) }
                try realm.write { tom.marks.append(8) }
                try realm.write { tom.marks.remove(at: 2) }
            } == [
                "initial 3", "initial 3", "4: [] [0] []", "4: [] [0] []", "3: [3] [] []", "3: [3] [] []",
            ])
        #expect(
            try changes(of: tom.sizes.sorted(ascending: true)) { try realm.write { tom.sizes["c"] = 0 } }
                == ["initial 2", "initial 2", "3: [] [0] []", "3: [] [0] []"])
    }

    @Test("results of plain values notify on a queue, and end with their owner")
    func plainValuesOnAQueue() throws {
        let (realm, tom) = try world()
        let queue = DispatchQueue(label: "foreign")
        let told = Locked<[String]>([])
        let first = DispatchSemaphore(value: 0)
        let next = DispatchSemaphore(value: 0)
        let token = tom.marks.filter("SELF > 1").observe(on: queue) { change in
            switch change {
            case .initial(let marks):
                told.with { $0.append("initial \(marks.map { $0 })") }
                first.signal()
            case .update(let marks, let deletions, let insertions, _):
                told.with { $0.append("\(marks.map { $0 }) \(deletions) \(insertions)") }
                next.signal()
            case .error(let error): told.with { $0.append("\(error)") }
            }
        }
        #expect(first.wait(timeout: .now() + 30) == .success)
        try realm.write { tom.marks.append(4) }
        #expect(next.wait(timeout: .now() + 30) == .success)
        try realm.write { realm.delete(tom) }
        #expect(next.wait(timeout: .now() + 30) == .success)
        token.invalidate()
        #expect(told.with { $0 } == ["initial [3, 2]", "[3, 2, 4] [] [2]", "[] [0, 1, 2] []"])
    }

    @Test("sections of plain values notify of changes")
    func plainSectionsNotify() throws {
        let (realm, tom) = try world()
        let sections = tom.marks.sectioned(sortDescriptors: ["self"]) { $0 > 1 }
        #expect(sections.map { Array($0) } == [[1, 1], [2, 3]])
        var told: [String] = []
        let token = sections.observe { change in
            if case .update(_, let deletions, let insertions, let modifications, let came, let went) = change {
                told.append("\(deletions) \(insertions) \(modifications) \(came) \(went)")
            }
        }
        try realm.write { tom.marks.remove(at: 1) }
        try realm.write { tom.marks.remove(at: 2) }
        token.invalidate()
        #expect(sections.map { Array($0) } == [[2, 3]])
        #expect(told == ["[[0, 1]] [] [] [] []", "[] [] [] [] [0]"])
    }

    private func found<Entities: Repository>(_ entities: Entities) -> [Entities.Entity] {
        entities.filter("age >= %@ AND name != %@", 5, "Ann").map { $0 }
    }

    @Test("an application's protocol queries, sorts and sums a collection of any kind")
    func foreignQueries() throws {
        let (realm, tom) = try world()
        let mia = tom.friends[0]
        #expect(found(tom.friends) == [mia] && found(realm.objects(Cat.self)) == [mia])
        #expect(found(AnyRealmCollection(tom.friends)) == [mia] && found(mia.befriended) == [])
        func sorted<Found: SortableResults>(_ results: Found) -> Found {
            results.sorted(byKeyPath: "age", ascending: false).sorted(by: ["name"]).distinct(by: ["age"])
        }
        #expect(sorted(tom.friends.filter("age > 0")).map(\.name) == ["Ann", "Kim"])
        func numbers<Entities: Repository>(_ entities: Entities) -> [Int?] {
            [entities.min(ofProperty: "self"), entities.max(ofProperty: "self"), entities.sum(ofProperty: "self")]
        }
        #expect(numbers(tom.marks) == [1, 3, 7] && numbers(tom.marks.filter("SELF > 1")) == [2, 3, 5])
        #expect(numbers(List([4, 6])) == [4, 6, 10])
        #expect(tom.marks.average(ofProperty: "self") == 1.75 && tom.sizes.max(ofProperty: "self") == 2)
        #expect(tom.marks.index(matching: "SELF == %@", 2) == 2 && tom.friends.index(matching: "age == 2") == 1)
        #expect(tom.marks.distinct(by: ["self"]).map { $0 } == [3, 1, 2])
        #expect(tom.kin.sorted(byKeyPath: "name").first??.name == "Mia")
    }

    @Test("code for any class asks a Realm for objects and for projections")
    func genericRealm() throws {
        let (realm, _) = try world()
        func all<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> { realm.objects(type) }
        #expect(all(Cat.self).count == 4 && all(CatName.self).sorted(byKeyPath: "name").first?.name == "Ann")
        #expect(CatName.className() == "Cat" && RealmSwiftObject.self == Object.self)
        func keys<Entries: RealmKeyedCollection>(_ entries: Entries) -> [Entries.Key] {
            entries.observe { (_: RealmMapChange<Entries>) in }.invalidate()
            return entries.keys
        }
        let tom = try #require(realm.objects(Cat.self).filter("name == 'Tom'").first)
        #expect(keys(tom.sizes) == ["a", "b"] && keys(tom.kin) == ["m"])
        func name(_ entry: SingleMapEntry<String, Int>) -> String { "\(entry.key)\(entry.value)" }
        #expect(tom.sizes.map(name) == ["a2", "b1"])
        func count<Sections: RealmSectionedResult>(_ sections: Sections) -> Int {
            sections.observe { (_: RealmSectionedResultsChange<Sections>) in }.invalidate()
            return sections.count
        }
        let sections = realm.objects(Cat.self).sectioned(by: \.age)
        #expect(count(sections) == 3 && count(sections[2]) == 2)
    }

    final class CatName: Projection<Cat> {
        @Projected(\Cat.name) var name
    }
}
