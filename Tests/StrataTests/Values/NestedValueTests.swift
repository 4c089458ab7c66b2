import Foundation
import Testing

@testable import Strata

/// Lists and dictionaries in values of any type.
@Suite struct NestedValueTests {
    final class Plant: Object { @Persisted var name = "" }
    final class Shed: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var content: AnyRealmValue
        @Persisted var shelves: List<AnyRealmValue>
        @Persisted var drawers: Map<String, AnyRealmValue>
        @Persisted var labels: MutableSet<AnyRealmValue>
    }
    final class OldShed: Object { let content = RealmProperty<AnyRealmValue>() }

    private func shed(_ content: AnyRealmValue = .none) throws -> (Realm, Shed) {
        let realm = try makeRealm([Plant.self, Shed.self, OldShed.self])
        let shed = Shed()
        shed.content = content
        try realm.write { realm.add(shed) }
        return (realm, shed)
    }

    private func oneOfEach(_ plant: Plant) -> [AnyRealmValue] {
        [
            .none, .int(4), .bool(true), .float(1.5), .double(2.25), .string("rake"), .data(Data([1, 2])),
            .date(Date(timeIntervalSinceReferenceDate: 9)), .objectId(ObjectId("0123456789abcdef01234567")),
            .decimal128(Decimal128(7)), .uuid(UUID(uuidString: "00000000-0000-0000-0000-00000000000B") ?? UUID()),
            .object(plant),
        ]
    }

    private func elsewhere<Value>(_ work: @escaping () throws -> Value) throws -> Value {
        var result: Result<Value, any Error>?
        OtherThread.run { result = Result { try work() } }
        return try #require(result).get()
    }

    /// The values as plain Swift, since two trees of values are not Equatable.
    private func plain(_ value: AnyRealmValue) -> String {
        switch value {
        case .list(let list): "[\(list.map { plain($0) }.joined(separator: ","))]"
        case .dictionary(let map): "{\(map.map { "\($0.key):\(plain($0.value))" }.joined(separator: ","))}"
        case .object(let object): (object as? Plant)?.name ?? "?"
        default: "\(value)"
        }
    }

    @Test("lists and dictionaries hold values of each type, unmanaged, added, assigned and created")
    func valuesOfEachType() throws {
        let fern = Plant(value: ["name": "fern"])
        let values = oneOfEach(fern)
        let entries = Dictionary(
            uniqueKeysWithValues: values.enumerated().map { ("key \($0.offset + 10)", $0.element) })
        let tree: AnyRealmValue = .fromArray(values + [.fromDictionary(entries), .fromArray([]), .fromDictionary([:])])
        let expected = plain(tree)
        let shed = Shed()
        shed.content = tree
        #expect(shed.content.listValue?[5].stringValue == "rake" && shed.content.dictionaryValue == nil)
        let realm = try makeRealm([Plant.self, Shed.self, OldShed.self])
        try realm.write { realm.add(shed) }
        #expect(plain(shed.content) == expected && realm.objects(Plant.self).count == 1)
        #expect(shed.content.listValue?[11].object(Plant.self)?.isSameObject(as: fern) == true)
        #expect(shed.content.listValue?[12].dictionaryValue?["key 14"] == .double(2.25))
        try realm.write {
            shed.content = .int(3)
            shed.content = tree
            shed.shelves.append(tree)
            shed.drawers["top"] = tree
            let created = realm.create(
                Shed.self, value: ["id": 1, "content": ["a": [1, "x", ["b": AnyRealmValue.object(fern)]] as [Any]]])
            #expect(plain(created.content) == "{a:[1,x,{b:fern}]}")
        }
        #expect(plain(shed.content) == expected)
        #expect(plain(shed.shelves[0]) == expected && shed.drawers["top"].map(plain) == expected)
        let old = OldShed()
        old.content.value = tree
        try realm.write { realm.add(old) }
        #expect(plain(old.content.value) == expected)
    }

    @Test("changes apply at their own place, at every depth")
    func changesAtEveryDepth() throws {
        let (realm, shed) = try shed(
            .fromDictionary(["tools": .fromArray([.fromDictionary(["name": .string("saw")]), .int(2)]), "n": .int(1)]))
        try realm.write {
            shed.shelves.append(objectsIn: [.int(0), .fromArray([.fromDictionary([:]), .int(5)])])
            shed.drawers["left"] = .fromDictionary(["in": .fromArray([])])
        }
        try realm.write {
            let tools = try #require(shed.content.dictionaryValue?["tools"]?.listValue)
            tools.append(.fromArray([.int(7)]))
            tools[0].dictionaryValue?["name"] = .string("axe")
            tools[2].listValue?.insert(.int(6), at: 0)
            tools.remove(at: 1)
            shed.content.dictionaryValue?["n"] = nil
            shed.shelves[1].listValue?[0].dictionaryValue?["deep"] = .fromArray([.bool(true)])
            shed.shelves[1].listValue?[0].dictionaryValue?["deep"]?.listValue?.append(objectsIn: [.int(1), .int(2)])
            shed.drawers["left"]?.dictionaryValue?["in"]?.listValue?.append(.string("nail"))
        }
        #expect(plain(shed.content) == "{tools:[{name:axe},[6,7]]}")
        #expect(plain(.list(shed.shelves)) == "[0,[{deep:[true,1,2]},5]]")
        #expect(plain(.dictionary(shed.drawers)) == "{left:{in:[nail]}}")
        try realm.write {
            let tools = try #require(shed.content.dictionaryValue?["tools"]?.listValue)
            tools.swapAt(0, 1)
            tools.append(tools[0])
            tools[1] = tools[1]
            tools[0] = tools[1]
            shed.shelves.move(from: 1, to: 0)
            shed.drawers.removeAll()
        }
        #expect(plain(shed.content) == "{tools:[{name:axe},{name:axe},[6,7]]}")
        #expect(plain(.list(shed.shelves)) == "[[{deep:[true,1,2]},5],0]" && shed.drawers.isEmpty)
    }

    @Test("a held collection stays valid while others are inserted and deleted around it")
    func heldCollection() throws {
        let (realm, shed) = try shed(
            .fromArray([.fromArray([.int(1)]), .fromDictionary(["k": .fromArray([.int(2)])])]))
        try realm.write { shed.shelves.append(objectsIn: [.int(0), .fromArray([.int(3)]), .fromArray([.int(4)])]) }
        let first = try #require(shed.content.listValue?[0].listValue)
        let inner = try #require(shed.content.listValue?[1].dictionaryValue?["k"]?.listValue)
        let third = try #require(shed.shelves[2].listValue)
        try realm.write {
            shed.content.listValue?.insert(.string("new"), at: 0)
            shed.content.listValue?.move(from: 1, to: 2)
            first.append(.int(11))
            inner.append(.int(12))
            shed.shelves.removeSubrange(0..<2)
            third.append(.int(13))
        }
        #expect(plain(shed.content) == "[new,{k:[2,12]},[1,11]]")
        #expect(plain(.list(shed.shelves)) == "[[4,13]]" && !first.isInvalidated && !third.isInvalidated)
        #expect(first == shed.content.listValue?[2].listValue && first != inner)
    }

    @Test("a replaced collection is invalidated, and empty")
    func replacedCollection() throws {
        let (realm, shed) = try shed(.fromDictionary(["a": .fromArray([.fromArray([.int(1)])]), "b": .fromArray([])]))
        let whole = try #require(shed.content.dictionaryValue)
        let list = try #require(whole["a"]?.listValue)
        let inner = try #require(list[0].listValue)
        let other = try #require(whole["b"]?.listValue)
        try realm.write { whole["a"] = .fromArray([.int(9)]) }
        #expect(list.isInvalidated && inner.isInvalidated && inner.isEmpty && !whole.isInvalidated)
        #expect(!other.isInvalidated && plain(shed.content) == "{a:[9],b:[]}")
        let error = #expect(throws: Realm.Error.self) { try realm.write { inner.append(.int(1)) } }
        #expect(error?.code == .objectDeleted && plain(shed.content) == "{a:[9],b:[]}")
        try realm.write { shed.content = .fromDictionary(["a": .int(1)]) }
        #expect(whole.isInvalidated && other.isInvalidated)
        let last = try #require(shed.content.dictionaryValue)
        try realm.write { realm.delete(shed) }
        #expect(last.isInvalidated && last.count == 0 && last["a"] == nil)
    }

    @Test("a rollback leaves collections and references to them as they were")
    func rollback() throws {
        let (realm, shed) = try shed(.fromArray([.fromArray([.int(1)]), .fromArray([.int(2)])]))
        let second = try #require(shed.content.listValue?[1].listValue)
        let first = try #require(shed.content.listValue?[0].listValue)
        realm.beginWrite()
        shed.content.listValue?.insert(.int(0), at: 0)
        shed.content.listValue?[1] = .int(5)
        second.append(.int(3))
        #expect(plain(shed.content) == "[0,5,[2,3]]" && first.isInvalidated)
        realm.cancelWrite()
        #expect(plain(shed.content) == "[[1],[2]]")
        #expect(plain(.list(first)) == "[1]" && plain(.list(second)) == "[2]")
    }

    @Test("a commit of another thread updates collections held here")
    func commitOfOtherThread() throws {
        let (realm, shed) = try shed(.fromArray([.int(0), .fromArray([.int(1)]), .fromDictionary(["x": .int(2)])]))
        try realm.write { shed.shelves.append(objectsIn: [.fromArray([.int(3)]), .fromArray([.int(4)])]) }
        let list = try #require(shed.content.listValue?[1].listValue)
        let map = try #require(shed.content.listValue?[2].dictionaryValue)
        let shelf = try #require(shed.shelves[1].listValue)
        let configuration = realm.configuration
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            let shed = try #require(realm.objects(Shed.self).first)
            try realm.write {
                shed.content.listValue?.insert(contentsOf: [.string("a"), .string("b")], at: 0)
                shed.content.listValue?[3].listValue?.append(.int(11))
                shed.content.listValue?.remove(at: 4)
                shed.shelves.insert(.fromArray([.int(5)]), at: 0)
            }
        }
        realm.refresh()
        #expect(plain(shed.content) == "[a,b,0,[1,11]]")
        #expect(plain(.list(list)) == "[1,11]" && plain(.list(shelf)) == "[4]" && map.isInvalidated)
    }

    @Test("lists of any length nest in lists and dictionaries, and change in place")
    func nestedLists() throws {
        let (realm, shed) = try shed()
        try realm.write {
            shed.shelves.append(.fromArray([.fromArray([])]))
            shed.content = .fromArray([.fromArray([])])
            for list in [shed.shelves[0].listValue, shed.content.listValue] {
                let inner = try #require(list?[0].listValue)
                inner.append(objectsIn: (0..<3000).map { .string("number \($0)") })
                inner.insert(.fromArray([.int(1)]), at: 1500)
            }
        }
        for list in [shed.shelves[0].listValue, shed.content.listValue] {
            let inner = try #require(list?[0].listValue)
            #expect(
                inner.count == 3001 && inner[2000].stringValue == "number 1999" && inner[1500].listValue?[0] == .int(1))
            #expect(inner.filter { $0.stringValue != nil }.count == 3000)
            let copy = shed.detached()
            #expect(copy.content.listValue?[0].listValue?.count == 3001)
            try realm.write { inner.removeAll() }
            #expect(inner.isEmpty && !inner.isInvalidated)
        }
    }

    @Test("collections nest a hundred deep, and no deeper")
    func hundredDeep() throws {
        func tower(_ levels: Int) -> AnyRealmValue {
            (1..<levels).reduce(.fromArray([.int(1)])) { inner, level in
                level % 2 == 0 ? .fromArray([inner]) : .fromDictionary(["in": inner])
            }
        }
        let (realm, shed) = try shed(tower(100))
        var value = shed.content
        var levels = 0
        while let inner = value.listValue?.first ?? value.dictionaryValue?["in"] {
            value = inner
            levels += 1
        }
        #expect(levels == 100 && value == .int(1))
        for change in [
            { shed.content = tower(101) }, { shed.content = .fromArray([tower(100)]) },
            {
                shed.content = .fromArray([.int(0)])
                shed.content.listValue?[0] = tower(100)
            }, { shed.shelves.append(tower(101)) },
            {
                let list = List<AnyRealmValue>()
                list.append(.list(list))
                shed.content = .list(list)
            },
        ] {
            let error = #expect(throws: Realm.Error.self) { try realm.write { change() } }
            #expect(error?.code == .invalidInput)
        }
        try realm.write { shed.shelves.append(tower(100)) }
        #expect(shed.shelves.count == 1 && shed.content.dictionaryValue?.count == 1)
    }

    /// A crafted file can nest values to any depth.
    @Test("a value deeper than any stack is refused")
    func deeperThanAnyStack() {
        func tower(_ levels: Int) -> _StoredValue {
            (0..<levels).reduce(into: .null) { inner, level in
                let contents = level == 0 ? StoredCollection() : StoredCollection(values: [inner])
                inner = .bytes(NestedEncoding.encode(contents, isKeyed: false))
            }
        }
        #expect(!NestedEncoding.isTooDeep(tower(100), in: 0) && NestedEncoding.isTooDeep(tower(101), in: 0))
        #expect(!NestedEncoding.isTooDeep(tower(60), in: 40) && NestedEncoding.isTooDeep(tower(60), in: 41))
        #expect(NestedEncoding.isTooDeep(tower(20_000), in: 0))
    }

    @Test("a set cannot hold a collection")
    func setHoldsNoCollection() throws {
        let (realm, shed) = try shed()
        let error = #expect(throws: Realm.Error.self) { try realm.write { shed.labels.insert(.fromArray([.int(1)])) } }
        #expect(error?.code == .invalidInput && shed.labels.isEmpty)
        try realm.write { shed.labels.insert(.int(1)) }
        #expect(shed.labels.count == 1)
    }

    @Test("a deleted object reads as null in every collection")
    func deletedObjectIsNull() throws {
        let (realm, shed) = try shed()
        let fern = Plant(value: ["name": "fern"])
        try realm.write {
            shed.content = .fromArray([.fromDictionary(["p": .object(fern)])])
            shed.shelves.append(.fromArray([.object(fern)]))
        }
        #expect(plain(shed.content) == "[{p:fern}]")
        try realm.write { realm.delete(fern) }
        #expect(plain(shed.content) == "[{p:none}]" && plain(shed.shelves[0]) == "[none]")
    }

    @Test("freezing, thawing and references from other threads")
    func frozenAndReferenced() throws {
        let (realm, shed) = try shed(.fromArray([.int(0), .fromArray([.int(1)])]))
        let list = try #require(shed.content.listValue?[1].listValue)
        let frozen = list.freeze()
        let reference = ThreadSafeReference(to: list)
        try realm.write {
            shed.content.listValue?.insert(.int(-1), at: 0)
            list.append(.int(2))
        }
        #expect(plain(.list(frozen)) == "[1]" && frozen.isFrozen)
        #expect(plain(.list(try #require(frozen.thaw()))) == "[1,2]")
        #expect(plain(try #require(shed.freeze().content.listValue?[2])) == "[1,2]")
        let configuration = realm.configuration
        let found = try elsewhere {
            let realm = try Realm(configuration: configuration)
            let list = realm.resolve(reference)
            let seen = list?.map { $0.intValue ?? 0 }
            realm.refresh()
            return [seen, list?.map { $0.intValue ?? 0 }]
        }
        #expect(found == [[1], [1, 2]])
        try realm.write { shed.content = .int(1) }
        #expect(frozen.thaw() == nil && list.isInvalidated && plain(.list(frozen)) == "[1]")
    }
}
