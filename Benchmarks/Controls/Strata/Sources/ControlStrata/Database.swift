import Foundation
import Strata

/// A file of people, opened on the thread that uses it.
final class Database {
    private var open: Realm?
    private let isSnapshotEach: Bool

    init(_ directory: String, _ request: Request) throws {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: directory + "/people.strata"))
        configuration.objectTypes = [Person.self, Dog.self]
        switch request.durability {
        case "periodic": configuration.durability = .periodic
        case "none": configuration.durability = .none
        default: configuration.durability = .full
        }
        isSnapshotEach = request.isSnapshotEach
        open = try Realm(configuration: configuration)
    }

    private var realm: Realm {
        guard let open else { fail("the database is closed") }
        return open
    }

    /// Releasing the last Realm of a file closes it.
    func close() { open = nil }

    func load(_ people: People) throws {
        let realm = realm
        try realm.write {
            for row in 0..<people.ids.count { realm.add(people.person(row)) }
        }
    }

    func insertEach(_ people: People) throws {
        let realm = realm
        for row in 0..<people.ids.count {
            try realm.write { realm.add(people.person(row)) }
        }
    }

    /// The sum of `age` of the rows with these keys.
    func readAges(_ keys: [Int]) -> Int {
        let realm = realm
        realm.refresh()
        var sum = 0
        for key in keys {
            if isSnapshotEach { realm.refresh() }
            guard let person = realm.object(ofType: Person.self, forPrimaryKey: key) else { fail("no row \(key)") }
            sum &+= person.age
        }
        return sum
    }

    func sumAges() -> Int {
        realm.refresh()
        return realm.objects(Person.self).sum(of: \.age)
    }

    func count() -> Int {
        realm.refresh()
        return realm.objects(Person.self).count
    }

    func update(_ keys: [Int], _ values: [Int]) throws {
        let realm = realm
        try realm.write {
            for (key, value) in zip(keys, values) {
                guard let person = realm.object(ofType: Person.self, forPrimaryKey: key) else { fail("no row \(key)") }
                person.age = value
            }
        }
    }

    func delete(_ keys: [Int]) throws {
        let realm = realm
        try realm.write {
            realm.delete(
                keys.map { key in
                    guard let person = realm.object(ofType: Person.self, forPrimaryKey: key) else {
                        fail("no row \(key)")
                    }
                    return person
                })
        }
    }
}
