import Foundation
import Strata
import Testing

/// The code of docs/deleting-objects-that-a-view-shows.md.
@Suite struct DeletingPageTests {
    final class Dog: Object, ObjectKeyIdentifiable {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var name = "no name"
        @Persisted var age = 0
    }

    private func realm(_ name: String, _ log: @escaping @Sendable (String) -> Void) throws -> Realm {
        let configuration = Realm.Configuration(
            inMemoryIdentifier: name, objectTypes: [Dog.self],
            invalidAccessHandler: { report in log("\(report.className) \(report.key ?? 0): \(report.message)") })
        let realm = try Realm(configuration: configuration)
        try realm.write {
            for id in 1...4 { realm.create(Dog.self, value: ["id": id, "name": "dog \(id)", "age": id * 4]) }
        }
        return realm
    }

    @Test("a frame stays, its elements lead to live objects, and loops visit every match")
    func loopsVisitEveryMatch() throws {
        let lines = Locked<[String]>([])
        let realm = try realm(UUID().uuidString) { line in lines.with { $0.append(line) } }
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }
        var frames: [Int] = []
        func reload(_ frame: ResultsSnapshot<Dog>) { frames.append(frame.count) }

        let dogs = realm.objects(Dog.self)
        let frame = dogs.snapshot()
        for row in 0..<frame.count {
            show(frame[row].name)
        }
        let token = dogs.observe { _ in reload(dogs.snapshot()) }
        if let live = frame[0].thaw() {
            try realm.write { realm.delete(live) }
        }
        #expect(shown == ["dog 1", "dog 2", "dog 3", "dog 4"])
        #expect(frames == [4, 3])
        #expect(frame.map(\.name) == shown)
        token.invalidate()
        try realm.write {
            for dog in realm.objects(Dog.self).where({ $0.age > 10 }) {
                realm.delete(dog)
            }
        }
        #expect(dogs.map(\.id) == [2])
        #expect(lines.current.isEmpty)
    }

    @Test("a detail screen hears of the end, and a read says what is wrong")
    func detailScreen() throws {
        let lines = Locked<[String]>([])
        let realm = try realm(UUID().uuidString) { line in lines.with { $0.append(line) } }
        let dog = try #require(realm.object(ofType: Dog.self, forPrimaryKey: 2))
        let known: Set<Dog> = [dog]
        var pops = 0
        func pop() { pops += 1 }
        func show(_ text: String) { Issue.record("showed \(text)") }
        let screen = dog.observe { change in
            if case .deleted = change { pop() }
        }
        try realm.write { realm.delete(dog) }
        #expect(pops == 1)
        do {
            show(try dog.read(\.name))
        } catch Realm.Error.objectDeleted {
            pop()
        }
        #expect(pops == 2 && dog.isInvalidated && known.contains(dog))
        #expect(dog.id == 2 && dog.name == "no name")
        #expect(lines.current.count == 1 && lines.current[0].hasPrefix("Dog 2: "))
        #expect(throws: Realm.Error.self) { try realm.write { dog.name = "x" } }
        try realm.write { realm.create(Dog.self, value: ["id": 2, "name": "another"]) }
        #expect(dog.isInvalidated && dog.name == "no name")
        screen.invalidate()
    }

    @Test("the page shows the code of these tests")
    func pageShowsTheseTests() throws {
        try PageCode.expect("deleting-objects-that-a-view-shows.md", in: #filePath)
    }
}
