import Foundation
import Strata
import Testing

@Suite struct ObjectTests {
    /// Sets a property of each type, and each optional one.
    private static func fill(_ full: AllTypes, linking empty: AllTypes) {
        full.int = -7
        full.int8 = .min
        full.int16 = .max
        full.int32 = .min
        full.int64 = .max
        full.float = -0.25
        full.double = .pi
        full.bool = false
        full.string = "a string that is longer than fifteen bytes: 日本語"
        full.date = Date(timeIntervalSinceReferenceDate: 12345.678)
        full.data = Data(repeating: 7, count: 5000)
        full.mood = .cross
        full.optionalInt = 0
        full.optionalInt8 = -1
        full.optionalFloat = 2
        full.optionalDouble = 0
        full.optionalBool = false
        full.optionalString = ""
        full.optionalDate = Date(timeIntervalSinceReferenceDate: 0)
        full.optionalData = Data()
        full.optionalUUID = full.uuid
        full.optionalObjectId = full.objectId
        full.optionalMood = .calm
        full.link = empty
        full.ints.append(objectsIn: [1, -1, .max])
        full.strings.append(objectsIn: ["a", "", "long enough to leave the small form"])
        full.doubles.append(objectsIn: [0.5, -0.5])
        full.optionalStrings.append(objectsIn: ["x", nil, ""])
        full.dates.append(Date(timeIntervalSinceReferenceDate: 9))
        full.objects.append(objectsIn: [empty, full, empty])
    }

    @Test("every type keeps its value and its absence")
    func valueAndAbsence() throws {
        let realm = try makeRealm([AllTypes.self])
        let empty = AllTypes()
        let full = AllTypes()
        Self.fill(full, linking: empty)
        let (uuid, objectId) = (full.uuid, full.objectId)
        try realm.write { realm.add(full) }

        let all = realm.objects(AllTypes.self)
        #expect(all.count == 2)
        let read = try #require(all.where { $0.int == -7 }.first)
        #expect(read.int8 == .min && read.int16 == .max && read.int32 == .min && read.int64 == .max)
        #expect(read.float == -0.25 && read.double == .pi && !read.bool)
        #expect(read.string == "a string that is longer than fifteen bytes: 日本語")
        #expect(read.date == Date(timeIntervalSinceReferenceDate: 12345.678))
        #expect(read.data == Data(repeating: 7, count: 5000))
        #expect(read.uuid == uuid && read.objectId == objectId && read.mood == .cross)
        #expect(read.optionalInt == 0 && read.optionalInt8 == -1 && read.optionalFloat == 2)
        #expect(read.optionalDouble == 0 && read.optionalBool == false && read.optionalString == "")
        #expect(read.optionalDate == Date(timeIntervalSinceReferenceDate: 0) && read.optionalData == Data())
        #expect(read.optionalUUID == uuid && read.optionalObjectId == objectId && read.optionalMood == .calm)
        #expect(Array(read.ints) == [1, -1, .max])
        #expect(Array(read.strings) == ["a", "", "long enough to leave the small form"])
        #expect(Array(read.doubles) == [0.5, -0.5])
        #expect(Array(read.optionalStrings) == ["x", nil, ""])
        #expect(Array(read.dates) == [Date(timeIntervalSinceReferenceDate: 9)])
        #expect(read.objects.map(\.int) == [1, -7, 1])
        #expect(read.link == empty && empty.linkedBy.first == read)

        #expect(empty.int == 1 && empty.string == "text" && empty.bool && empty.data == Data([1, 2, 3]))
        #expect(empty.optionalInt == nil && empty.optionalInt8 == nil && empty.optionalFloat == nil)
        #expect(empty.optionalDouble == nil && empty.optionalBool == nil && empty.optionalString == nil)
        #expect(empty.optionalDate == nil && empty.optionalData == nil && empty.optionalUUID == nil)
        #expect(empty.optionalObjectId == nil && empty.optionalMood == nil && empty.link == nil)
        #expect(empty.ints.isEmpty && empty.objects.isEmpty)
    }

    @Test("a write changes a managed object and every other instance of its row")
    func everyInstanceChanges() throws {
        let realm = try makeRealm([Counter.self])
        let counter = Counter(1, "one")
        try realm.write { realm.add(counter) }
        let other = try #require(realm.object(ofType: Counter.self, forPrimaryKey: 1))
        try realm.write {
            counter.name = "a name of more than fifteen bytes"
            counter.count += 5
            counter.score = 1.5
            #expect(other.count == 5)
        }
        #expect(other.name == "a name of more than fifteen bytes" && other.count == 5 && other.score == 1.5)
        try realm.write { other.score = nil }
        #expect(counter.score == nil)
        #expect(counter == other && counter.isSameObject(as: other) && counter !== other)
    }

    @Test("an unmanaged object is its own fields")
    func unmanagedObject() {
        let counter = Counter(value: ["id": 3, "name": "three"])
        #expect(counter.realm == nil && !counter.isInvalidated && !counter.isFrozen)
        #expect(counter["name"] as? String == "three")
        counter["count"] = 4
        #expect(counter.count == 4)
        #expect(Counter(value: [5, "five", 1]).name == "five")
        #expect(Counter(value: counter).count == 4)
    }

    @Test("primary keys of every kind find their object and cannot change")
    func everyKindOfKey() throws {
        final class Keyed: Object { @Persisted(primaryKey: true) var id = UUID() }
        final class Identified: Object { @Persisted(primaryKey: true) var id = ObjectId.generate() }
        final class Small: Object { @Persisted(primaryKey: true) var id: Int32 = 0 }
        final class Maybe: Object { @Persisted(primaryKey: true) var id: String? }
        let realm = try makeRealm([Keyed.self, Identified.self, Small.self, Maybe.self])
        let (keyed, identified) = (Keyed(), Identified())
        try realm.write {
            realm.add([keyed, Keyed()])
            realm.add([identified, Identified()])
            for id in [-5, 0, 7] { realm.create(Small.self, value: ["id": id]) }
            realm.add([Maybe(), Maybe(value: ["id": "x"])])
        }
        #expect(realm.object(ofType: Keyed.self, forPrimaryKey: keyed.id) == keyed)
        #expect(realm.object(ofType: Identified.self, forPrimaryKey: identified.id) == identified)
        #expect(realm.object(ofType: Small.self, forPrimaryKey: -5)?.id == -5)
        #expect(realm.object(ofType: Small.self, forPrimaryKey: 1) == nil)
        #expect(realm.object(ofType: Maybe.self, forPrimaryKey: "x")?.id == "x")
        #expect(realm.object(ofType: Maybe.self, forPrimaryKey: String?.none)?.id == nil)
        #expect(throws: Realm.Error.self) { try realm.write { keyed.id = UUID() } }
        #expect(throws: Realm.Error.self) { try realm.write { realm.add(Maybe()) } }
    }

    @Test("a duplicate key fails the write, unless an update policy allows it")
    func duplicateKey() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { realm.add(Counter(1, "one", count: 1)) }
        do {
            try realm.write {
                realm.add(Counter(2))
                realm.add(Counter(1, "again"))
            }
            Issue.record("added a duplicate")
        } catch Realm.Error.duplicateKey {}
        #expect(realm.objects(Counter.self).map(\.name) == ["one"])
        try realm.write { realm.add(Counter(1, "again"), update: .modified) }
        #expect(realm.objects(Counter.self).map(\.name) == ["again"])
        #expect(realm.objects(Counter.self)[0].count == 0)
        try realm.write { realm.create(Counter.self, value: ["id": 1, "count": 9], update: .all) }
        #expect(realm.objects(Counter.self)[0].name == "again")
        #expect(realm.objects(Counter.self)[0].count == 9)
    }

    @Test("objects in a cycle are added once")
    func cycleIsAddedOnce() throws {
        final class Node: Object {
            @Persisted var name = ""
            @Persisted var next: Node?
            @Persisted var all: List<Node>
        }
        let realm = try makeRealm([Node.self])
        let (a, b) = (Node(value: ["name": "a"]), Node(value: ["name": "b"]))
        a.next = b
        b.next = a
        a.all.append(objectsIn: [a, b])
        try realm.write { realm.add(a) }
        #expect(realm.objects(Node.self).count == 2)
        #expect(a.next?.next == a)
        #expect(a.all.map(\.name) == ["a", "b"])
        let alone = Node(value: ["name": "self"])
        alone.next = alone
        try realm.write { realm.add(alone) }
        #expect(alone.next == alone)
    }

    @Test("an object of another Realm is refused")
    func foreignObjectIsRefused() throws {
        let (one, two) = (try makeRealm([Note.self]), try makeRealm([Note.self]))
        let note = Note("x")
        try one.write { one.add(note) }
        #expect(throws: Realm.Error.self) { try two.write { two.add(note) } }
        try two.write { two.create(Note.self, value: note) }
        #expect(two.objects(Note.self).map(\.text) == ["x"])
    }

    @Test("classes are discovered without being listed")
    func discoveredClasses() {
        let names = ClassNames.discovered()
        #expect(names.contains("AllTypes") && names.contains("Counter") && names.contains("KeyedDog"))
        #expect(!names.contains("Object"))
    }

    @Test("two classes with one name are an error that names both")
    func twoClassesWithOneName() throws {
        enum Other {
            final class Note: Object { @Persisted var other = 0 }
        }
        do {
            _ = try makeRealm([Note.self, Other.Note.self])
            Issue.record("opened with two classes called Note")
        } catch Realm.Error.schemaMismatch {}
    }

    @Test("an enumeration and an ObjectId round-trip through text")
    func enumerationAndObjectId() throws {
        let id = ObjectId.generate()
        #expect(try ObjectId(string: id.stringValue) == id)
        #expect(throws: Realm.Error.self) { try ObjectId(string: "xyz") }
        #expect(ObjectId.generate() != ObjectId.generate())
    }
}
