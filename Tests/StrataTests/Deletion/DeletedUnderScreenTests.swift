import Strata
import Testing

/// Deleting under a user interface: the models, the inverse, the observers, and a view that renders once more.
@Suite struct DeletedUnderScreenTests {
    final class Dog: Object, ObjectKeyIdentifiable {
        @Persisted var name = ""
        @Persisted var age = 0
        @Persisted(originProperty: "dogs") var owner: LinkingObjects<Person>

        convenience init(_ name: String, _ age: Int) {
            self.init()
            self.name = name
            self.age = age
        }
    }

    final class Person: Object {
        @Persisted var name = ""
        @Persisted var gender = ""
        @Persisted var dogs: List<Dog>
    }

    final class KeyedDog: Object, ObjectKeyIdentifiable {
        @Persisted(primaryKey: true) var key = ""
        @Persisted var name = ""
    }

    private func kennel() throws -> Realm {
        let realm = try makeRealm([Person.self, Dog.self])
        try realm.write {
            let alice = Person(value: ["name": "Alice", "gender": "female"])
            alice.dogs.append(Dog("Taro", 3))
            alice.dogs.append(Dog("Hanako", 4))
            let bob = Person(value: ["name": "Bob", "gender": "male"])
            bob.dogs.append(Dog("Wanko", 5))
            realm.add([alice, bob])
        }
        return realm
    }

    @Test("a to-many list gives its dogs in order")
    func listKeepsOrder() throws {
        let realm = try kennel()
        let alice = try #require(realm.objects(Person.self).where { $0.name == "Alice" }.first)
        var names: [String] = []
        for dog in alice.dogs { names.append(dog.name) }
        #expect(names == ["Taro", "Hanako"])
    }

    @Test("the inverse names the owner")
    func inverseNamesOwner() throws {
        let realm = try kennel()
        let taro = try #require(realm.objects(Dog.self).where { $0.name == "Taro" }.first)
        #expect(taro.owner.first?.name == "Alice")
        #expect(taro.owner.count == 1)
    }

    @Test("owners of dogs aged three and more are found through the inverse and through the list")
    func ownersThroughBothSides() throws {
        let realm = try kennel()
        let owners = realm.objects(Dog.self).where { $0.age >= 3 }.compactMap { $0.owner.first?.name }
        #expect(Set(owners) == ["Alice", "Bob"])
        #expect(realm.objects(Person.self).where { $0.dogs.age >= 4 }.count == 2)
        #expect(realm.objects(Person.self).filter("ANY dogs.age > 4").map(\.name) == ["Bob"])
    }

    @Test("a dog that is in no list has no owner")
    func dogWithoutOwner() throws {
        let realm = try kennel()
        try realm.write { realm.add(Dog("Nora", 1)) }
        let nora = try #require(realm.objects(Dog.self).filter("name == 'Nora'").first)
        #expect(nora.owner.isEmpty)
    }

    @Test("an observer fires for its own class and its targets, not for objects that link to it")
    func firesForTargets() throws {
        let realm = try kennel()
        var people = 0
        var dogs = 0
        let personToken = realm.objects(Person.self).observe { if case .update = $0 { people += 1 } }
        let dogToken = realm.objects(Dog.self).observe { if case .update = $0 { dogs += 1 } }
        let dog = realm.objects(Dog.self)[0]
        try realm.write { dog.name = "Jiro" }
        #expect(people == 1)
        #expect(dogs == 1)
        try realm.write { realm.objects(Person.self)[0].name = "Ken" }
        #expect(people == 2)
        #expect(dogs == 1)
        personToken.invalidate()
        dogToken.invalidate()
        try realm.write { realm.objects(Dog.self)[0].name = "Taro" }
        #expect(dogs == 1)
    }

    @Test("hash and id of a deleted object do not change")
    func keptHash() throws {
        let realm = try makeRealm([KeyedDog.self])
        let dog = KeyedDog(value: ["key": "a-key-of-more-than-fifteen-bytes", "name": "Taro"])
        try realm.write { realm.add(dog) }
        let other = try #require(realm.objects(KeyedDog.self).first)
        let set: Set<KeyedDog> = [dog]
        let (hash, id) = (dog.hashValue, dog.id)
        #expect(dog == other)
        try realm.write { realm.delete(other) }
        #expect(dog.isInvalidated)
        #expect(dog.hashValue == hash)
        #expect(dog.id == id)
        #expect(dog == other)
        #expect(set.contains(other))
        #expect(other.key == "a-key-of-more-than-fifteen-bytes")
        #expect(!dog.description.isEmpty)
    }

    @Test("a view that renders after a deletion reads defaults, and does not crash")
    func viewReadsDefaults() throws {
        let reports = Locked<[Int64?]>([])
        let realm = try makeRealm([Dog.self, Person.self]) { report in reports.with { $0.append(report.key) } }
        try realm.write { realm.add([Dog("Taro", 3), Dog("Hanako", 4)]) }
        let shown = Array(realm.objects(Dog.self))
        let count = realm.objects(Dog.self).count
        try realm.write { realm.delete(shown[1]) }
        #expect(shown[1].name == "")
        #expect(realm.objects(Dog.self)[count - 1].name == "")
        #expect(reports.current.count >= 2)
    }

    @Test("a snapshot keeps count, elements and values")
    func keptSnapshot() throws {
        let realm = try kennel()
        let frame = realm.objects(Dog.self).snapshot()
        try realm.write { realm.delete(realm.objects(Dog.self)) }
        #expect(frame.count == 3)
        #expect(frame.map(\.name) == ["Taro", "Hanako", "Wanko"])
        #expect(frame.map(\.isInvalidated) == [false, false, false])
        #expect(frame[0].thaw() == nil)
    }
}
