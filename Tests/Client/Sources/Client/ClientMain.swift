import Foundation
import Strata

/// Writes, reopens, reads and measures through the public API alone. Exits with 1 at the first wrong answer.
@main
enum ClientMain {
    static func main() throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("strata-client-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { removeQuietly(directory) }
        let configuration = Realm.Configuration(fileURL: directory.appendingPathComponent("client.strata"))
        try write(configuration)
        try read(configuration)
        try measure(configuration)
    }

    static let count = 1_000

    static func write(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write {
            for id in 0..<count {
                let person = Person()
                person.id = id
                person.name = "person-\(id)"
                person.age = id % 100
                person.score = Double(id) / 4
                let dog = Dog()
                dog.name = "dog-\(id)"
                dog.age = id % 15
                person.dogs.append(dog)
                realm.add(person)
            }
        }
    }

    static func read(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        let people = realm.objects(Person.self)
        check("count", people.count, count)
        check("sum of age", people.reduce(0) { $0 + $1.age }, (0..<count).reduce(0) { $0 + $1 % 100 })
        check("where", people.where { $0.age >= 98 }.count, count / 50)
        guard let person = realm.object(ofType: Person.self, forPrimaryKey: 421) else { fail("no person 421") }
        check("name", person.name, "person-421")
        check("score", person.score, 105.25)
        check("dogs", person.dogs.map(\.name), ["dog-421"])
        try realm.write { realm.delete(person) }
        check("invalidated", person.isInvalidated, true)
        check("count after delete", people.count, count - 1)
    }

    /// The property read as an application pays for it: in a module of its own, from objects that are held.
    static func measure(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        let held = Array(realm.objects(Person.self))
        let rounds = 2_000
        var best = UInt64.max
        for _ in 0..<5 {
            var sum = 0
            let start = DispatchTime.now().uptimeNanoseconds
            for _ in 0..<rounds {
                for person in held { sum &+= person.age }
            }
            best = min(best, DispatchTime.now().uptimeNanoseconds - start)
            check("sum while measuring", sum, rounds * held.reduce(0) { $0 + $1.age })
        }
        let nanoseconds = Double(best) / Double(rounds * held.count)
        print(String(format: "client: Int property of a held object, best of 5: %.2f ns/op", nanoseconds))
    }

    static func check<Value: Equatable>(_ what: String, _ got: Value, _ expected: Value) {
        if got != expected { fail("\(what): expected \(expected), got \(got)") }
    }

    static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("client: \(message)\n".utf8))
        exit(1)
    }

    static func removeQuietly(_ directory: URL) {
        do {
            try FileManager.default.removeItem(at: directory)
        } catch {
            print("client: \(directory.path) is left behind: \(error)")
        }
    }
}
