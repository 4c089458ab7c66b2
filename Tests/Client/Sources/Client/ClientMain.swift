import Foundation
import Strata

/// Writes, reopens, reads and measures through the public API only. Exits with 1 at the first wrong answer.
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

    /// The cost of reading a property in an application's own module: of one object that it retains, and of all objects
    /// of an array, each of which Swift retains and releases.
    static func measure(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        let held = Array(realm.objects(Person.self))
        guard let one = held.first else { fail("no person is left") }
        let rounds = 2_000
        let count = rounds * held.count
        let sum = rounds * held.reduce(0) { $0 + $1.age }
        let walked = best(of: count, "sum while walking", sum) {
            var sum = 0
            for _ in 0..<rounds { for person in held { sum &+= person.age } }
            return sum
        }
        let alone = best(of: count, "sum of one", count * one.age) {
            var sum = 0
            for _ in 0..<count { sum &+= one.age }
            return sum
        }
        let text = best(of: count, "length of one", count * one.name.utf8.count) {
            var length = 0
            for _ in 0..<count { length &+= one.name.utf8.count }
            return length
        }
        print(String(format: "client: property of an object in hand, Int %.2f, String(8) %.2f ns", alone, text))
        print(String(format: "client: Int property of each object of an array %.2f ns (best of 5, CPU time)", walked))
    }

    /// Nanoseconds of the processor per operation, the best of five.
    static func best(of count: Int, _ what: String, _ expected: Int, _ body: () -> Int) -> Double {
        var best = Double.infinity
        for _ in 0..<5 {
            let start = clock()
            let got = body()
            let spent = Double(clock() - start) * 1e9 / Double(CLOCKS_PER_SEC)
            best = min(best, spent / Double(count))
            check(what, got, expected)
        }
        return best
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
