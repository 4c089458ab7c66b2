import Foundation
import Strata
import Testing

/// Conversions of collection elements, and walks that change columns, compared with a row-by-row model.
@Suite struct MigrationConversionTests {
    enum Old {
        final class Bag: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var numbers: List<Int>
            @Persisted var maybe: List<Int?>
            @Persisted var members: MutableSet<Int>
            @Persisted var sizes: Map<String, Double>
            @Persisted var words: List<String?>
            @Persisted var weight = 0
            @Persisted var label: String?
            @Persisted var day: Date?
            override class func className() -> String { "Bag" }
        }
    }

    enum New {
        final class Bag: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var numbers: List<String>
            @Persisted var maybe: List<Int>
            @Persisted var members: MutableSet<String>
            @Persisted var lengths: Map<String, Int?>
            @Persisted var words: List<String>
            @Persisted var weight = 0.0
            @Persisted var label: String?
            @Persisted var day: Date?
            @Persisted var title = ""
            @Persisted var half: Int?
            override class func className() -> String { "Bag" }
        }
    }

    private struct Model: Equatable {
        var numbers: [Int] = []
        var maybe: [Int?] = []
        var members: Set<Int> = []
        var sizes: [String: Double] = [:]
        var words: [String?] = []
        var weight = 0
        var label: String?
    }

    /// The contents of one bag: mostly short collections, at times one of thousands of elements, which storage keeps
    /// outside the row.
    private static func model(_ random: inout SystemLike, _ index: Int) -> Model {
        var model = Model()
        let count = index % 97 == 5 ? 6_000 : random.below(7)
        for place in 0..<count { model.numbers.append(random.below(1_000) - 500 + place) }
        for _ in 0..<random.below(5) { model.maybe.append(random.below(3) == 0 ? nil : random.below(50)) }
        let members = index % 101 == 7 ? 5_000 : random.below(6)
        for _ in 0..<members { model.members.insert(random.below(100_000) - 50_000) }
        for _ in 0..<(index % 103 == 9 ? 3_000 : random.below(4)) {
            model.sizes["k\(random.below(100_000))"] = Double(random.below(200)) / 4
        }
        for _ in 0..<random.below(4) {
            model.words.append(random.below(4) == 0 ? nil : String(repeating: "w", count: random.below(30)))
        }
        model.weight = random.below(10_000)
        model.label = random.below(5) == 0 ? nil : "label \(random.below(100))"
        return model
    }

    /// Seeded random numbers.
    private struct SystemLike {
        var state: UInt64
        mutating func below(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
    }

    private func fill(_ file: TemporaryFile, _ count: Int, seed: UInt64) throws -> [Model] {
        var random = SystemLike(state: seed)
        let models = (0..<count).map { Self.model(&random, $0) }
        let realm = try Realm(configuration: file.configuration([Old.Bag.self]))
        try realm.write {
            for (id, model) in models.enumerated() {
                let bag = Old.Bag()
                bag.id = id
                bag.numbers.append(objectsIn: model.numbers)
                bag.maybe.append(objectsIn: model.maybe)
                bag.members.insert(objectsIn: model.members)
                for (key, value) in model.sizes { bag.sizes[key] = value }
                bag.words.append(objectsIn: model.words)
                bag.weight = model.weight
                bag.label = model.label
                realm.add(bag)
            }
        }
        return models
    }

    private static func convertAll(_ migration: Migration) {
        migration.convertElements(onType: "Bag", "numbers") { ($0 as? Int).map { "n\($0)" } }
        migration.convertElements(onType: "Bag", "maybe") { $0 as? Int ?? -1 }
        migration.convertElements(onType: "Bag", "members") { ($0 as? Int).map { "\($0 / 10)" } }
        migration.convertElements(onType: "Bag", "sizes", to: "lengths") { value in
            (value as? Double).flatMap { $0 > 25 ? nil : Int($0) }
        }
        migration.convertElements(onType: "Bag", "words") { $0 as? String ?? "none" }
        migration.convertProperty(onType: "Bag", "weight") { ($0 as? Int).map { Double($0) / 8 } }
    }

    @Test(
        "elements, values and columns are converted as by a row-by-row model",
        arguments: [(400, 77), (3_000, 78)] as [(Int, UInt64)])
    func convertedAsByAModel(_ count: Int, _ seed: UInt64) throws {
        let file = TemporaryFile()
        let models = try fill(file, count, seed: seed)
        let realm = try Realm(
            configuration: file.configuration([New.Bag.self], version: 1) { migration, _ in
                Self.convertAll(migration)
                migration.enumerateObjects(ofType: "Bag") { old, new in
                    guard let id = old?["id"] as? Int else { return }
                    new?["title"] = "bag \(id) of \(old?["label"] as? String ?? "none")"
                    if id % 3 == 0 { new?["half"] = id / 2 }
                    if id % 5 == 0 { new?["label"] = nil }
                    // A value just set can be read, and later sets are not lost.
                    if id % 700 == 3 {
                        #expect(new?["title"] as? String == "bag \(id) of \(old?["label"] as? String ?? "none")")
                        new?["title"] = "read \(id)"
                    }
                }
            })
        let bags = realm.objects(New.Bag.self).sorted(byKeyPath: "id")
        #expect(bags.count == count)
        for (id, (bag, model)) in zip(bags, models).enumerated() {
            let isRight =
                bag.id == id && Array(bag.numbers) == model.numbers.map { "n\($0)" }
                && Array(bag.maybe) == model.maybe.map { $0 ?? -1 }
                && Set(bag.members) == Set(model.members.map { "\($0 / 10)" })
                && bag.members.count == Set(model.members.map { $0 / 10 }).count
                && bag.lengths.count == model.sizes.count
                && model.sizes.allSatisfy { key, value in bag.lengths[key] == .some(value > 25 ? nil : Int(value)) }
                && Array(bag.words) == model.words.map { $0 ?? "none" } && bag.weight == Double(model.weight) / 8
                && bag.label == (id % 5 == 0 ? nil : model.label) && bag.half == (id % 3 == 0 ? id / 2 : nil)
                && bag.title
                    == (id % 700 == 3 ? "read \(id)" : "bag \(id) of \(model.label ?? "none")")
            if !isRight {
                Issue.record("seed \(seed): bag \(id) is \(bag), its model \(model)")
                return
            }
        }
        #expect(bags.where { $0.numbers.contains("n-1") }.count == models.count { $0.numbers.contains(-1) })
    }

    @Test("elements without a value are an error with class, property and counts; nothing changes")
    func elementsWithoutAValue() throws {
        let file = TemporaryFile()
        let models = try fill(file, 300, seed: 5)
        let nils = models.reduce(0) { $0 + $1.maybe.count { $0 == nil } }
        let objects = models.count { $0.maybe.contains(nil) }
        let rules: [(MigrationBlock, Realm.Error.Code, String)] = [
            (
                { migration, _ in
                    Self.convertAll(migration)
                    migration.convertElements(onType: "Bag", "maybe") { $0 }
                }, .missingValues,
                "'Bag.maybe' is a list of int, and the rule gave \(nils) elements of \(objects) objects"
            ),
            (
                { migration, _ in
                    Self.convertAll(migration)
                    migration.convertElements(onType: "Bag", "numbers") { $0 }
                }, .missingValues, "'Bag.numbers' is a list of string, and the rule gave"
            ),
            (
                { migration, _ in
                    Self.convertAll(migration)
                    migration.convertProperty(onType: "Bag", "weight") { "\($0 ?? 0)" }
                }, .invalidInput, "'Bag.weight' expects double, got String"
            ),
            (
                { migration, _ in
                    Self.convertAll(migration)
                    migration.convertProperty(onType: "Bag", "weight") { ($0 as? Int ?? 0) % 2 == 0 ? 1.0 : nil }
                }, .missingValues, "'Bag.weight' left \(models.count { $0.weight % 2 != 0 }) objects without a value"
            ),
            (
                { migration, _ in
                    Self.convertAll(migration)
                    migration.convertElements(onType: "Bag", "weight") { $0 }
                }, .invalidInput, "'Bag.weight' is an int"
            ),
            ({ _, _ in }, .missingValues, "'Bag.numbers' changed its type"),
        ]
        for (rule, code, message) in rules {
            let error = #expect(throws: Realm.Error.self) {
                _ = try Realm(configuration: file.configuration([New.Bag.self], version: 1, rule))
            }
            #expect(error?.code == code, "\(message)")
            #expect(error?.message.contains(message) == true, "\(message): \(error?.message ?? "")")
        }
        #expect(try Realm.schemaVersionAtURL(file.url) == 0)
        let realm = try Realm(configuration: file.configuration([Old.Bag.self]))
        for (bag, model) in zip(realm.objects(Old.Bag.self).sorted(byKeyPath: "id"), models) {
            #expect(Array(bag.maybe) == model.maybe && Array(bag.numbers) == model.numbers)
            #expect(bag.weight == model.weight)
        }
    }

    @Test("objects that the migration has deleted are skipped, and not replaced")
    func deletedObjectsAreSkipped() throws {
        let file = TemporaryFile()
        let models = try fill(file, 200, seed: 9)
        let realm = try Realm(
            configuration: file.configuration([New.Bag.self], version: 1) { migration, _ in
                for bag in migration.objects(ofType: "Bag").filter("id < 20 OR id == 102") { migration.delete(bag) }
                migration.create("Bag", value: ["id": 3, "numbers": ["own"]])
                Self.convertAll(migration)
            })
        #expect(realm.objects(New.Bag.self).count == 200 - 21 + 1)
        #expect(realm.object(ofType: New.Bag.self, forPrimaryKey: 3).map { Array($0.numbers) } == ["own"])
        #expect(realm.object(ofType: New.Bag.self, forPrimaryKey: 102) == nil)
        let last = try #require(realm.object(ofType: New.Bag.self, forPrimaryKey: 199))
        #expect(Array(last.numbers) == models[199].numbers.map { "n\($0)" })
    }

    @Test("objects that a walk's block keeps stay at their rows")
    func keptObjectsStay() throws {
        let file = TemporaryFile()
        _ = try fill(file, 50, seed: 3)
        _ = try Realm(
            configuration: file.configuration([New.Bag.self], version: 1) { migration, _ in
                Self.convertAll(migration)
                var kept: [(id: Int, old: MigrationObject, new: MigrationObject)] = []
                var lists: [(id: Int, numbers: List<Int>)] = []
                migration.enumerateObjects(ofType: "Bag") { old, new in
                    guard let old, let new, let id = old["id"] as? Int else { return }
                    new["half"] = id
                    if id % 2 == 0 { kept.append((id, old, new)) }
                    if id % 3 == 0, let numbers = old["numbers"] as? List<Int> { lists.append((id, numbers)) }
                }
                for (id, old, new) in kept {
                    #expect(old["id"] as? Int == id && new["id"] as? Int == id && new["half"] as? Int == id)
                }
                let all = migration.oldObjects(ofType: "Bag")
                for (id, numbers) in lists {
                    let again = all.filter("id == %@", id).first?["numbers"] as? List<Int>
                    #expect(again.map { Array($0) } == Array(numbers))
                }
            })
    }
}
