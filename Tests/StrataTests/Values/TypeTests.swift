import Foundation
import Strata
import Testing

/// Promises of the object layer's types, a test each.
@Suite struct TypeTests {
    struct Celsius: CustomPersistable {
        let degrees: Double
        init(degrees: Double) { self.degrees = degrees }
        init(persistedValue: Double) { degrees = persistedValue }
        var persistableValue: Double { degrees }
    }
    struct Address: FailableCustomPersistable {
        let text: String
        init(text: String) { self.text = text }
        init?(persistedValue: String) {
            guard persistedValue.contains("@") else { return nil }
            text = persistedValue
        }
        var persistableValue: String { text }
    }
    final class Spot: EmbeddedObject {
        @Persisted var x = 0.0
        @Persisted var y = 0.0
    }
    struct Point: CustomPersistable {
        var x = 0.0
        var y = 0.0
        init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
        init(persistedValue: Spot) { (x, y) = (persistedValue.x, persistedValue.y) }
        var persistableValue: Spot { Spot(value: [x, y]) }
    }
    /// Stored as an embedded object. A field of it is one word, as that of a link is: seven bytes, and one that says
    /// whether there is a value.
    struct Cell: CustomPersistable {
        var x: Int32 = 0
        var y: Int16 = 0
        var z: Int8 = 0
        init(x: Int32, y: Int16, z: Int8) { (self.x, self.y, self.z) = (x, y, z) }
        init(persistedValue: Spot) { (x, y) = (Int32(persistedValue.x), Int16(persistedValue.y)) }
        var persistableValue: Spot { Spot(value: [Double(x), Double(y)]) }
    }
    final class Board: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var cell = Cell(x: 0, y: 0, z: 0)
        @Persisted var other: Cell?
    }
    enum Level: Int, PersistableEnum { case low = 1, high = 10 }

    final class Custom: Object {
        @Persisted var temperature: Celsius
        @Persisted var maybe: Celsius?
        @Persisted var mail: Address?
        @Persisted var place: Point
        @Persisted var history: List<Celsius>
        @Persisted var path: List<Point>
        @Persisted var named: Map<String, Celsius>
        @Persisted var corners: Map<String, Point>
        @Persisted var level = Level.low
        @Persisted var levels: List<Level>
        @Persisted var levelSet: MutableSet<Level>
        @Persisted var levelMap: Map<String, Level>
        @Persisted var maybeLevel: Level?
    }

    final class Guest: Object {
        @Persisted var mail = Address(text: "a@nowhere")
        @Persisted var others: List<Address?>
    }
    final class Strict: Object { @Persisted var mail: Address }
    final class StrictList: Object { @Persisted var mails: List<Address> }

    /// Reading one once ended the process.
    @Test("a stored value that a custom type refuses reads as the declared default")
    func refusedStoredValue() throws {
        let realm = try makeRealm([Guest.self])
        try realm.write {
            let guest = realm.create(Guest.self)
            guest.others.append(Address(persistedValue: "a@b"))
            guest.mail = try #require(Address(persistedValue: "c@d"))
            realm.dynamicObjects("Guest")[0]["mail"] = "nonsense"
            realm.dynamicObjects("Guest")[0]["others"] = ["nonsense", "e@f"]
        }
        let guest = realm.objects(Guest.self)[0]
        #expect(guest.mail.text == "a@nowhere")
        #expect(guest.others.map { $0?.text } == [nil, "e@f"])
        // Without a default the class is refused, instead of ending the process at an unreadable value.
        for (type, name) in [(Strict.self, "Strict.mail"), (StrictList.self, "StrictList.mails")]
            as [(ObjectBase.Type, String)]
        {
            let error = #expect(throws: Realm.Error.self) { try makeRealm([type]) }
            #expect(error?.code == .schemaMismatch && "\(String(describing: error))".contains(name))
        }
    }

    @Test("custom types are stored in their stored form and read back")
    func storedForm() throws {
        let realm = try makeRealm([Custom.self])
        let custom = Custom()
        custom.temperature = Celsius(degrees: 21.5)
        custom.mail = Address(persistedValue: "a@b")
        custom.place = Point(x: 1, y: 2)
        custom.history.append(objectsIn: [Celsius(degrees: 1), Celsius(degrees: 2)])
        custom.path.append(objectsIn: [Point(x: 3, y: 4), Point(x: 5, y: 6)])
        custom.named["now"] = Celsius(degrees: 9)
        #expect(custom.temperature.degrees == 21.5)
        try realm.write { realm.add(custom) }
        let read = realm.objects(Custom.self)[0]
        #expect(read.temperature.degrees == 21.5 && read.maybe == nil && read.mail?.text == "a@b")
        #expect(read.place == Point(x: 1, y: 2) && read.path.map(\.x) == [3, 5])
        #expect(read.history.map(\.degrees) == [1, 2] && read.named["now"]?.degrees == 9)
        #expect(realm.dynamicObjects("Spot").count == 3)
        try realm.write {
            read.temperature = Celsius(degrees: -3)
            read.maybe = Celsius(degrees: 0)
            read.place = Point(x: 7, y: 8)
            read.path.remove(at: 0)
        }
        #expect(read.temperature.degrees == -3 && read.maybe?.degrees == 0 && read.place == Point(x: 7, y: 8))
        #expect(realm.dynamicObjects("Spot").count == 2)
        try realm.write { realm.dynamicObjects("Custom")[0]["mail"] = "nonsense" }
        #expect(read.mail == nil)
        try realm.store.checkInvariants()
    }

    /// The planted mistake: `PlanField.isReference` takes every value of one word that is stored as an object for a
    /// link. A small number was then stored as no object.
    @Test("a custom type of one word that is stored as an object is no link")
    func storedAsAnObject() throws {
        try #require(MemoryLayout<Cell?>.size == MemoryLayout<UInt>.size)
        let realm = try makeRealm([Board.self])
        let board = Board(value: ["id": 1])
        (board.cell, board.other) = (Cell(x: 5, y: 0, z: 0), Cell(x: 7, y: 0, z: 0))
        let far = Board(value: ["id": 2])
        far.cell = Cell(x: 4096, y: 300, z: 0)
        try realm.write { realm.add([board, far]) }
        #expect(board.cell.x == 5 && board.other?.x == 7)
        #expect(far.cell.x == 4096 && far.cell.y == 300 && far.other == nil)
        #expect(realm.dynamicObjects("Spot").count == 3)
        try realm.store.checkInvariants()
    }

    @Test("create takes values of custom types stored as embedded objects, but not the objects")
    func createdWithCustomTypes() throws {
        let realm = try makeRealm([Custom.self])
        let points = [Point(x: 1, y: 2), Point(x: 3, y: 4)]
        let values: [String: Any] = ["place": points[1], "path": points]
        let made = try realm.write { realm.create(Custom.self, value: values) }
        #expect(made.place.x == 3 && made.path.map(\.y) == [2, 4])
        #expect(realm.objects(Custom.self).count == 1 && made.isInvalidated == false)
        try realm.write { made["place"] = Point(x: 5, y: 6) }
        #expect(made.place.x == 5)
        let empty = Custom(value: ["place": NSNull()])
        #expect(empty.place.x == 0 && empty.place.y == 0)
        #expect(try realm.write { realm.create(Custom.self, value: ["place": NSNull()]) }.place.x == 0)
        let cornered: [String: Any] = ["corners": ["a": NSNull(), "b": points[1]]]
        let corners = try realm.write { realm.create(Custom.self, value: cornered) }.corners
        #expect(Custom(value: cornered).corners["a"]?.x == 0)
        #expect(corners.count == 2 && corners["a"]?.x == 0 && corners["b"]?.x == 3)
        #expect(throws: Realm.Error.self) {
            try realm.write { realm.create(Custom.self, value: ["path": [NSNull()]]) }
        }
        #expect(throws: Realm.Error.self) { try Custom(checking: ["path": [NSNull()]]) }
        #expect(try Custom(checking: ["path": [points[0]]]).path.first?.x == 1)
    }

    @Test("Foundation's numbers are values of every number, zeros and ones as well")
    func foundationNumbers() throws {
        let realm = try makeRealm([Custom.self, AllTypes.self])
        let one = NSNumber(value: 1)
        let values: [String: Any] = [
            "int": one, "int8": one, "float": one, "double": one, "bool": one, "optionalInt": one, "ints": [one],
        ]
        let made = try realm.write { realm.create(AllTypes.self, value: values) }
        #expect(made.int == 1 && made.int8 == 1 && made.float == 1 && made.double == 1 && made.bool)
        #expect(made.optionalInt == 1 && made.ints.first == 1)
        let levels: [String: Any] = ["level": one, "levels": [one, NSNumber(value: 10)]]
        let custom = try realm.write { realm.create(Custom.self, value: levels) }
        #expect(custom.level == .low && Array(custom.levels) == [.low, .high])
        #expect(Custom(value: ["level": NSNumber(value: 10), "temperature": one]).level == .high)
        try realm.write {
            let dynamic = realm.dynamicObjects("AllTypes")[0]
            for name in ["int", "double", "optionalInt"] { dynamic[name] = NSNumber(value: 0) }
        }
        #expect(made.int == 0 && made.double == 0 && made.optionalInt == 0)
        #expect(throws: Realm.Error.self) { try realm.write { realm.create(AllTypes.self, value: ["int": true]) } }
        #expect(throws: Realm.Error.self) { try realm.write { realm.create(AllTypes.self, value: ["double": true]) } }
    }

    @Test("enumerations work everywhere, and an unknown case is refused")
    func enumerations() throws {
        let realm = try makeRealm([Custom.self])
        let custom = Custom()
        custom.level = .high
        custom.levels.append(objectsIn: [.low, .high])
        custom.levelSet.insert(objectsIn: [.high, .high])
        custom.levelMap["a"] = .high
        try realm.write { realm.add(custom) }
        #expect(custom.level == .high && Array(custom.levels) == [.low, .high] && Array(custom.levelSet) == [.high])
        #expect(custom.levelMap["a"] == .high && custom.maybeLevel == nil)
        let error = try #require(throws: Realm.Error.self, "stored a case that is not there") {
            try realm.write { _ = realm.create(Custom.self, value: ["level": 5]) }
        }
        #expect(error.message.contains("'Custom.level'") && error.message.contains("Int 5"))
        try realm.write { realm.create(Custom.self, value: ["level": 10, "levels": [1], "maybeLevel": Level.low]) }
        #expect(realm.objects(Custom.self)[1].level == .high && realm.objects(Custom.self)[1].maybeLevel == .low)
    }

    final class Exact: Object {
        @Persisted var price: Decimal128
        @Persisted var maybe: Decimal128?
        @Persisted var all: List<Decimal128>
        @Persisted var distinct: MutableSet<Decimal128>
        @Persisted var named: Map<String, Decimal128?>
    }

    @Test("decimals keep their digits and are queried by value")
    func decimals() throws {
        let realm = try makeRealm([Exact.self])
        try realm.write {
            for text in ["1.50", "-3", "1E30"] {
                let exact = Exact()
                exact.price = try Decimal128(string: text)
                exact.all.append(objectsIn: ["1.10", "2"])
                exact.distinct.insert(objectsIn: ["1", "1.0", "2"])
                exact.named["none"] = .some(nil)
                realm.add(exact)
            }
            realm.add(Exact())
        }
        let all = realm.objects(Exact.self)
        #expect(all.map(\.price.stringValue) == ["1.50", "-3", "1E30", "0"])
        #expect(all[0].all.map(\.stringValue) == ["1.10", "2"] && all[0].distinct.count == 2)
        #expect(all[0].distinct.contains("1.000") && all[0].named["none"] == .some(nil) && all[0].maybe == nil)
        #expect(all.filter("price == %@", Decimal128("1.5")).count == 1)
        #expect(all.filter("price > 1").count == 2)
        #expect(all.sorted(byKeyPath: "price").map(\.price.stringValue) == ["-3", "0", "1.50", "1E30"])
    }

    final class Anything: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var value: AnyRealmValue
        @Persisted var list: List<AnyRealmValue>
        @Persisted var set: MutableSet<AnyRealmValue>
        @Persisted var map: Map<String, AnyRealmValue>
    }

    @Test("a value of any type keeps its type")
    func anyValue() throws {
        let realm = try makeRealm([Anything.self, Note.self])
        let values: [AnyRealmValue] = [
            .none, .int(-5), .bool(true), .float(1.5), .double(.pi), .string("text"), .data(Data([1, 2])),
            .date(Date(timeIntervalSince1970: 9)), .objectId(ObjectId.generate()), .decimal128("1.20"), .uuid(UUID()),
        ]
        try realm.write {
            for (id, value) in values.enumerated() {
                let anything = Anything(value: ["id": id])
                anything.value = value
                anything.list.append(objectsIn: values)
                anything.set.insert(objectsIn: values + values)
                anything.map["x"] = value
                realm.add(anything)
            }
        }
        for (id, value) in values.enumerated() {
            let read = try #require(realm.object(ofType: Anything.self, forPrimaryKey: id))
            #expect(read.value == value && read.map["x"] == value && Array(read.list) == values)
            #expect(read.set.count == values.count && read.set.contains(value))
        }
        #expect(realm.objects(Anything.self).filter("value == 'text'").map(\.id) == [5])
        #expect(realm.dynamicObjects("Anything")[1]["value"] as? Int == -5)
    }

    @Test("an object in a value of any type is found until it is deleted")
    func objectInAnyValue() throws {
        let realm = try makeRealm([Anything.self, Note.self])
        let (anything, note) = (Anything(), Note("n"))
        anything.value = .object(note)
        anything.list.append(objectsIn: [.object(note), .object(anything), .int(1)])
        try realm.write { realm.add(anything) }
        #expect(anything.value.object(Note.self)?.text == "n" && anything.value == .object(note))
        #expect(anything.list[1].object(Anything.self) == anything && anything.list[2] == .int(1))
        try realm.write { anything.map["new"] = .object(Note("later")) }
        #expect(anything.map["new"]?.object(Note.self)?.text == "later")
        try realm.write { realm.delete(note) }
        #expect(anything.value == .none && anything.list[0] == .none && anything.list.count == 3)
        try realm.write { realm.add(Note("again")) }
        #expect(anything.value == .none)
    }

    final class Mapped: Object {
        @Persisted(primaryKey: true) var key = 0
        @Persisted var firstName = ""
        @Persisted var friend: Mapped?
        var note = "not kept"
        override class func propertiesMapping() -> [String: String] { ["key": "_id", "firstName": "first_name"] }
    }

    @Test("properties may have other names in the file")
    func otherNamesInTheFile() throws {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([Mapped.self]))
        try realm.write {
            realm.create(Mapped.self, value: ["key": 3, "firstName": "Ada", "friend": ["key": 4, "firstName": "Bob"]])
        }
        #expect(realm.schema["Mapped"]?.properties.map(\.name) == ["key", "firstName", "friend"])
        #expect(realm.schema["Mapped"]?.properties.map(\.columnName) == ["_id", "first_name", "friend"])
        #expect(realm.dynamicObject(ofType: "Mapped", forPrimaryKey: 4)?["firstName"] as? String == "Bob")
        #expect(realm.object(ofType: Mapped.self, forPrimaryKey: 3)?.friend?.firstName == "Bob")
        #expect(realm.objects(Mapped.self).where { $0.firstName == "Ada" }.count == 1)
        #expect(realm.objects(Mapped.self).filter("friend.firstName == 'Bob'").count == 1)
        #expect(realm.dynamicObject(ofType: "Mapped", forPrimaryKey: 4)?["first_name"] as? String == "Bob")
        try realm.write { realm.dynamicCreate("Mapped", value: ["key": 5, "firstName": "Cy"]) }
        #expect(realm.objects(Mapped.self).filter("firstName == 'Cy'").first?.key == 5)
    }

    final class OldPerson: Object {
        let dogs = List<OldDog>()
        let names = List<String>()
        let tags = MutableSet<String>()
        let ages = Map<String, Int>()
        @Persisted var id = 0
        @Persisted var name: String = ""
        @Persisted var cache = 0
        override class func primaryKey() -> String? { "id" }
        override class func indexedProperties() -> [String] { ["name"] }
        override class func ignoredProperties() -> [String] { ["cache"] }
    }
    final class OldDog: Object {
        @Persisted var name = ""
        let owners = LinkingObjects(fromType: OldPerson.self, property: "dogs")
    }

    @Test("the older form of declaration works for collections, linking objects and class overrides")
    func olderDeclaration() throws {
        let realm = try makeRealm([OldPerson.self])
        let (person, dog) = (OldPerson(), OldDog(value: ["name": "Rex"]))
        person.id = 7
        let dogs = person.dogs
        person.dogs.append(dog)
        person.names.append("a")
        person.ages["x"] = 1
        try realm.write { realm.add(person) }
        try realm.write {
            person.tags.insert("t")
            dogs.append(OldDog(value: ["name": "Max"]))
        }
        let read = try #require(realm.object(ofType: OldPerson.self, forPrimaryKey: 7))
        #expect(read.dogs.map(\.name) == ["Rex", "Max"] && Array(read.names) == ["a"] && read.ages["x"] == 1)
        #expect(Array(read.tags) == ["t"] && dog.owners.first == person && dog.owners.count == 1)
        #expect(realm.objects(OldDog.self).first?.owners.map(\.id) == [7])
        let schema = try #require(realm.schema["OldPerson"])
        #expect(schema["cache"] == nil && schema["name"]?.isIndexed == true && schema.primaryKeyProperty?.name == "id")
        try realm.write {
            realm.create(OldPerson.self, value: ["id": 8, "names": ["p", "q"], "dogs": [["name": "Z"]]])
        }
        #expect(realm.object(ofType: OldPerson.self, forPrimaryKey: 8)?.dogs.first?.name == "Z")
        try realm.write { realm.delete(read) }
        #expect(dogs.isEmpty && dog.owners.isEmpty)
    }
}
