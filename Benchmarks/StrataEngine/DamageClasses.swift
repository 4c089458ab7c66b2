import Harness
import Measuring
import RunRecords
import Strata

final class DamagePerson: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var note: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted var favourite: DamageDog?
    @Persisted var dogs: List<DamageDog>
}

final class DamageDog: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<DamagePerson>
    @Persisted(originProperty: "favourite") var admirers: LinkingObjects<DamagePerson>
}

extension DamagePerson: TableObject {
    static func maker(_ table: Table) throws(EngineError) -> (Int) -> DamagePerson {
        let ids = try table.integers("id")
        let names = try table.texts("name")
        let notes = try table.texts("note")
        let ages = try table.integers("age")
        let scores = try table.reals("score")
        return { row in
            let person = DamagePerson()
            person.id = Int(ids[row])
            person.name = names[row]
            person.note = notes[row]
            person.age = Int(ages[row])
            person.score = scores[row]
            return person
        }
    }

    static func find(_ row: Int, in realm: Realm) -> DamagePerson? {
        realm.object(ofType: DamagePerson.self, forPrimaryKey: row)
    }

    func keyedRow() throws -> Int? { try read(\.id) }

    static func adder(_ column: String) -> ((DamagePerson, inout ReadDigest) -> Void)? {
        switch column {
        case "id": { $1.add(integer: Int64($0.id)) }
        case "name": { $1.add(text: $0.name) }
        case "note": { $1.add(text: $0.note) }
        case "age": { $1.add(integer: Int64($0.age)) }
        case "score": { $1.add(real: $0.score) }
        case "favourite": { if let dog = $0.favourite { $1.add(integer: Int64(dog.id)) } else { $1.count += 1 } }
        default: nil
        }
    }

    /// One loop per property, with the read in it: a closure's call would cost as much as the read.
    static func readHeld(
        _ held: [DamagePerson], _ column: String, count: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        switch column {
        case "name": HeldLoop.run(held, count, latency: latency) { $1.add(text: $0.name) }
        case "note": HeldLoop.run(held, count, latency: latency) { $1.add(text: $0.note) }
        case "age": HeldLoop.run(held, count, latency: latency) { $1.add(integer: Int64($0.age)) }
        case "score": HeldLoop.run(held, count, latency: latency) { $1.add(real: $0.score) }
        case "favourite":
            HeldLoop.run(held, count, latency: latency) { person, digest in
                if let dog = person.favourite { digest.add(integer: Int64(dog.id)) } else { digest.count += 1 }
            }
        default: throw EngineError(.refused, "DamagePerson has no \(column)")
        }
    }

    func value(_ column: String, _ rows: RowNumbers) throws -> Value {
        switch column {
        case "id": .integer(Int64(try read(\.id)))
        case "name": .text(try read(\.name))
        case "note": .text(try read(\.note))
        case "age": .integer(Int64(try read(\.age)))
        case "score": .real(try read(\.score))
        case "favourite": try read(\.favourite).map { .link(try rows.row(of: $0)) } ?? .null
        case "dogs": .links(try read(\.dogs).map { try rows.row(of: $0) })
        default: throw EngineError(.refused, "DamagePerson has no \(column)")
        }
    }

    func setLinks(_ column: String, _ targets: [ObjectBase]) {
        switch column {
        case "favourite": favourite = targets.first as? DamageDog
        case "dogs": dogs.append(objectsIn: targets.compactMap { $0 as? DamageDog })
        default: break
        }
    }

    static func integer(_ column: String) -> ReferenceWritableKeyPath<DamagePerson, Int>? {
        column == "age" ? \.age : nil
    }

    static func setter(_ column: String) -> ((DamagePerson, Int) -> Void)? {
        column == "age" ? { $0.age = $1 } : nil
    }

    static func walker(_ column: String, property: String?) -> ((DamagePerson, inout ReadDigest) -> Void)? {
        switch (column, property) {
        case ("dogs", nil): { $1.count += $0.dogs.count }
        case ("dogs", "age"): { person, digest in for dog in person.dogs { digest.add(integer: Int64(dog.age)) } }
        case ("favourite", nil): { $1.count += $0.favourite == nil ? 0 : 1 }
        case ("favourite", "age"): { if let dog = $0.favourite { $1.add(integer: Int64(dog.age)) } }
        default: nil
        }
    }

    static func countEqual(_ column: String, _ text: String, in realm: Realm) -> Int? {
        switch column {
        case "name": realm.objects(DamagePerson.self).where { $0.name == text }.count
        case "note": realm.objects(DamagePerson.self).where { $0.note == text }.count
        default: nil
        }
    }

    static func count(_ filter: TwoColumnFilter, in realm: Realm) -> Int? {
        guard filter.integer == "age", filter.real == "score" else { return nil }
        return realm.objects(DamagePerson.self).where { $0.age > Int(filter.above) && $0.score < filter.below }.count
    }
}

extension DamageDog: TableObject {
    static func maker(_ table: Table) throws(EngineError) -> (Int) -> DamageDog {
        let ids = try table.integers("id")
        let names = try table.texts("name")
        let ages = try table.integers("age")
        return { row in
            let dog = DamageDog()
            dog.id = Int(ids[row])
            dog.name = names[row]
            dog.age = Int(ages[row])
            return dog
        }
    }

    static func find(_ row: Int, in realm: Realm) -> DamageDog? {
        realm.object(ofType: DamageDog.self, forPrimaryKey: row)
    }

    func keyedRow() throws -> Int? { try read(\.id) }

    static func adder(_ column: String) -> ((DamageDog, inout ReadDigest) -> Void)? {
        switch column {
        case "id": { $1.add(integer: Int64($0.id)) }
        case "name": { $1.add(text: $0.name) }
        case "age": { $1.add(integer: Int64($0.age)) }
        default: nil
        }
    }

    func value(_ column: String, _ rows: RowNumbers) throws -> Value {
        switch column {
        case "id": .integer(Int64(try read(\.id)))
        case "name": .text(try read(\.name))
        case "age": .integer(Int64(try read(\.age)))
        default: throw EngineError(.refused, "DamageDog has no \(column)")
        }
    }

    static func integer(_ column: String) -> ReferenceWritableKeyPath<DamageDog, Int>? {
        column == "age" ? \.age : nil
    }

    static func setter(_ column: String) -> ((DamageDog, Int) -> Void)? {
        column == "age" ? { $0.age = $1 } : nil
    }

    static func backWalker(
        _ table: String, _ column: String, property: String?
    ) -> ((DamageDog, inout ReadDigest) -> Void)? {
        guard table == DamagePerson.tableName else { return nil }
        return switch (column, property) {
        case ("dogs", nil): { $1.count += $0.owners.count }
        case ("dogs", "age"): { dog, digest in for owner in dog.owners { digest.add(integer: Int64(owner.age)) } }
        case ("favourite", nil): { $1.count += $0.admirers.count }
        case ("favourite", "age"):
            { dog, digest in for admirer in dog.admirers { digest.add(integer: Int64(admirer.age)) } }
        default: nil
        }
    }

    static func countEqual(_ column: String, _ text: String, in realm: Realm) -> Int? {
        column == "name" ? realm.objects(DamageDog.self).where { $0.name == text }.count : nil
    }
}
