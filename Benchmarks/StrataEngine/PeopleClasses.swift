import Harness
import Measuring
import RunRecords
import Strata

final class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted var dogs: List<Dog>
}

final class Dog: Object {
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
}

extension Person: TableObject {
    static func maker(_ table: Table) throws(EngineError) -> (Int) -> Person {
        let ids = try table.integers("id")
        let names = try table.texts("name")
        let ages = try table.integers("age")
        let scores = try table.reals("score")
        return { row in
            let person = Person()
            person.id = Int(ids[row])
            person.name = names[row]
            person.age = Int(ages[row])
            person.score = scores[row]
            return person
        }
    }

    static func find(_ row: Int, in realm: Realm) -> Person? { realm.object(ofType: Person.self, forPrimaryKey: row) }

    func keyedRow() throws -> Int? { try read(\.id) }

    static func keyed(_ keys: Range<Int64>, in realm: Realm) -> Results<Person>? {
        realm.objects(Person.self).where { $0.id >= Int(keys.lowerBound) && $0.id < Int(keys.upperBound) }
    }

    static func adder(_ column: String) -> ((Person, inout ReadDigest) -> Void)? {
        switch column {
        case "id": { $1.add(integer: Int64($0.id)) }
        case "name": { $1.add(text: $0.name) }
        case "age": { $1.add(integer: Int64($0.age)) }
        case "score": { $1.add(real: $0.score) }
        default: nil
        }
    }

    func value(_ column: String, _ rows: RowNumbers) throws -> Value {
        switch column {
        case "id": .integer(Int64(try read(\.id)))
        case "name": .text(try read(\.name))
        case "age": .integer(Int64(try read(\.age)))
        case "score": .real(try read(\.score))
        case "dogs": .links(try read(\.dogs).map { try rows.row(of: $0) })
        default: throw EngineError(.refused, "Person has no \(column)")
        }
    }

    func setLinks(_ column: String, _ targets: [ObjectBase]) {
        if column == "dogs" { dogs.append(objectsIn: targets.compactMap { $0 as? Dog }) }
    }

    static func integer(_ column: String) -> ReferenceWritableKeyPath<Person, Int>? {
        column == "age" ? \.age : nil
    }

    static func setter(_ column: String) -> ((Person, Int) -> Void)? {
        column == "age" ? { $0.age = $1 } : nil
    }

    static func walker(_ column: String, property: String?) -> ((Person, inout ReadDigest) -> Void)? {
        guard column == "dogs" else { return nil }
        switch property {
        case nil: return { $1.count += $0.dogs.count }
        case "age": return { person, digest in for dog in person.dogs { digest.add(integer: Int64(dog.age)) } }
        default: return nil
        }
    }

    static func countEqual(_ column: String, _ text: String, in realm: Realm) -> Int? {
        column == "name" ? realm.objects(Person.self).where { $0.name == text }.count : nil
    }

    static func count(_ filter: TwoColumnFilter, in realm: Realm) -> Int? {
        guard filter.integer == "age", filter.real == "score" else { return nil }
        return realm.objects(Person.self).where { $0.age > Int(filter.above) && $0.score < filter.below }.count
    }
}

extension Dog: TableObject {
    static func maker(_ table: Table) throws(EngineError) -> (Int) -> Dog {
        let names = try table.texts("name")
        let ages = try table.integers("age")
        return { row in
            let dog = Dog()
            dog.name = names[row]
            dog.age = Int(ages[row])
            return dog
        }
    }

    static func find(_ row: Int, in realm: Realm) -> Dog? { finder(in: realm)(row) }

    static func finder(in realm: Realm) -> (Int) -> Dog? {
        let dogs = realm.objects(Dog.self)
        let rows = 0..<dogs.count
        return { rows.contains($0) ? dogs[$0] : nil }
    }

    static func adder(_ column: String) -> ((Dog, inout ReadDigest) -> Void)? {
        switch column {
        case "name": { $1.add(text: $0.name) }
        case "age": { $1.add(integer: Int64($0.age)) }
        default: nil
        }
    }

    func value(_ column: String, _ rows: RowNumbers) throws -> Value {
        switch column {
        case "name": .text(try read(\.name))
        case "age": .integer(Int64(try read(\.age)))
        default: throw EngineError(.refused, "Dog has no \(column)")
        }
    }

    static func integer(_ column: String) -> ReferenceWritableKeyPath<Dog, Int>? {
        column == "age" ? \.age : nil
    }

    static func setter(_ column: String) -> ((Dog, Int) -> Void)? {
        column == "age" ? { $0.age = $1 } : nil
    }

    static func backWalker(
        _ table: String, _ column: String, property: String?
    ) -> ((Dog, inout ReadDigest) -> Void)? {
        guard table == Person.tableName, column == "dogs" else { return nil }
        switch property {
        case nil: return { $1.count += $0.owners.count }
        case "age": return { dog, digest in for owner in dog.owners { digest.add(integer: Int64(owner.age)) } }
        default: return nil
        }
    }

    static func countEqual(_ column: String, _ text: String, in realm: Realm) -> Int? {
        column == "name" ? realm.objects(Dog.self).where { $0.name == text }.count : nil
    }
}
