import Foundation
import Strata
import Testing

/// A value that an element's type refuses is an error, never a null.
/// A text in a list of optional integers once silently became null, and so did an invalid dictionary under a key of a
/// map: a failed cast gave nil.
@Suite struct RefusedElementTests {
    final class Seat: Object {
        @Persisted var row = 0
    }
    final class Hall: Object {
        @Persisted var numbers: List<Int?>
        @Persisted var bytes: MutableSet<Int8?>
        @Persisted var weights: Map<String, Double?>
        @Persisted var seats: Map<String, Seat?>
        @Persisted var anything: AnyRealmValue
        @Persisted var title: String?
    }

    static var refused: [[String: Any]] {
        [
            ["numbers": [1, "two"] as [Any]],
            ["bytes": [300]],
            ["weights": ["a": "heavy"]],
            ["seats": ["a": ["row": "first"]]],
            ["seats": ["a": "first"]],
        ]
    }

    private func open() throws -> Realm { try makeRealm([Hall.self, Seat.self]) }

    @Test("no object is created from it, managed or not", arguments: Self.refused.indices)
    func noObjectIsCreated(_ place: Int) throws {
        let values = Self.refused[place]
        let error = #expect(throws: Realm.Error.self) { try Hall(checking: values) }
        #expect(error?.code == .invalidInput && error?.message.contains("Hall.\(values.keys.first ?? "")") == true)
        let realm = try open()
        #expect(throws: Realm.Error.self) { try realm.write { realm.create(Hall.self, value: values) } }
        #expect(realm.isEmpty)
        // Explicit nulls stay nulls.
        let nulls: [String: Any] = [
            "numbers": [1, nil] as [Int?], "weights": ["a": nil] as [String: Double?],
            "seats": ["a": nil, "b": Seat()] as [String: Seat?],
        ]
        let hall = Hall(value: nulls)
        #expect(Array(hall.numbers) == [1, nil] && hall.weights["a"] == .some(nil) && hall.seats.count == 2)
    }

    @Test("setting it by name fails the write")
    func setByName() throws {
        let realm = try open()
        let hall = Hall(value: ["numbers": [1], "bytes": [2], "weights": ["a": 1.5]] as [String: Any])
        try realm.write { realm.add(hall) }
        let changes: [() -> Void] = [
            { hall.numbers.setValue("two", forKey: "self") }, { hall.bytes.setValue(300, forKey: "self") },
            { hall.weights.setValue("heavy", forKey: "a") }, { hall.seats.setValue(["row": "first"], forKey: "a") },
        ]
        for change in changes {
            let error = #expect(throws: Realm.Error.self) { try realm.write { change() } }
            #expect(error?.code == .invalidInput)
        }
        #expect(Array(hall.numbers) == [1] && hall.bytes.contains(2) && hall.weights["a"] == 1.5)
        #expect(hall.seats.isEmpty)
    }

    @Test("reading a value as an optional of another type is an error, not nil")
    func readAsOtherType() throws {
        let realm = try open()
        try realm.write { realm.create(Hall.self, value: ["title": "great"]) }
        let hall = realm.dynamicObjects("Hall")[0]
        #expect(throws: Realm.Error.self) { try hall.value("title", as: Int?.self) }
        #expect(try hall.value("title", as: String?.self) == "great")
        try realm.write { hall["title"] = nil }
        #expect(try hall.value("title", as: Int?.self) == nil)
    }

    /// A set in a property of any type once became a list in arbitrary order.
    @Test("a set is no value of any type")
    func setIsNoValue() throws {
        let set = MutableSet<String>()
        set.insert(objectsIn: ["a", "b"])
        let realm = try open()
        for value in [set, Set([1, 2]), [set], ["k": set]] as [Any] {
            #expect(throws: Realm.Error.self, "\(value)") { try Hall(checking: ["anything": value]) }
            #expect(throws: Realm.Error.self, "\(value)") {
                try realm.write { realm.create(Hall.self, value: ["anything": value]) }
            }
        }
        let hall = Hall(value: ["anything": [1, 2]])
        #expect(hall.anything.listValue?.count == 2)
    }

    /// Generic code passes an optional as `Any`, and a null once removed its key from the map.
    @Test("an explicit null is kept under its key")
    func explicitNull() throws {
        func set<Value: RealmCollectionValue>(_ map: Map<String, Value>, _ value: Value) {
            map.setValue(value, forKey: "key")
        }
        let realm = try open()
        for hall in try [Hall(), realm.write { realm.create(Hall.self) }] {
            realm.beginWrite()
            set(hall.weights, 2.5)
            #expect(hall.weights["key"] == 2.5)
            set(hall.weights, nil)
            #expect(hall.weights["key"] == .some(nil) && hall.weights.count == 1)
            hall.weights.setValue(nil, forKey: "key")
            #expect(hall.weights.isEmpty)
            try realm.commitWrite()
        }
    }
}
