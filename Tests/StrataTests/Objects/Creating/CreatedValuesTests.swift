import Foundation
import Testing

@testable import Strata

/// Objects created from dictionaries and JSON, compared with a model of each property's value.
@Suite struct CreatedValuesTests {
    private struct Model {
        var objects: [Int: [String: String]] = [:]
        var leaves = 0
    }

    private struct Step {
        var id: Int
        var values: [String: GivenValue]
        var policy: Realm.UpdatePolicy
        var isJSON: Bool
    }

    private static let properties = GivenValue.all.keys.sorted()

    private static func step(_ dice: inout Dice, _ nextID: inout Int) -> Step {
        let isJSON = dice.roll(2) == 0
        var values: [String: GivenValue] = [:]
        let mayMisfit = dice.roll(3) == 0
        for _ in 0..<dice.roll(9) {
            let name = dice.pick(properties)
            let fitting = GivenValue.all[name]?.filter { (mayMisfit || $0.shown != nil) && ($0.json != nil || !isJSON) }
            if let fitting, !fitting.isEmpty { values[name] = dice.pick(fitting) }
        }
        let isNew = dice.roll(3) > 0
        if isNew { nextID += 1 + dice.roll(2) }
        return Step(
            id: isNew ? nextID : dice.roll(max(nextID, 1)) - 1, values: values,
            policy: dice.pick([.error, .error, .modified, .all]), isJSON: isJSON)
    }

    /// Applies a step to the model, by the documented rules of `create`.
    /// - Returns: the code of the error that the write has to throw.
    private static func apply(_ step: Step, to model: inout Model) -> Realm.Error.Code? {
        let known = model.objects[step.id]
        if known != nil, step.policy == .error { return .duplicateKey }
        var object = known ?? CreatedObject.declared
        for (name, given) in step.values {
            guard let shown = given.shown else { return .invalidInput }
            object[name] = shown
            model.leaves += given.leaves
        }
        model.objects[step.id] = object
        return nil
    }

    private static func json(_ step: Step) -> String {
        var members = step.values.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value.json ?? "null")" }
        members.insert("\"id\": \(step.id)", at: members.count / 2)
        members.append("\"unknown\": {\"id\": [1, {}]}")
        return "{\n" + members.joined(separator: ",\n  ") + "}"
    }

    private static func run(_ step: Step, in realm: Realm) throws {
        if step.isJSON {
            try realm.create(CreatedObject.self, json: Data(json(step).utf8), update: step.policy)
        } else {
            var given: [String: Any] = step.values.mapValues(\.value)
            given["id"] = step.id
            given["unknown"] = 5
            realm.create(CreatedObject.self, value: given, update: step.policy)
        }
    }

    private func expectEqual(_ realm: Realm, _ model: Model, _ place: String) {
        let objects = realm.objects(CreatedObject.self)
        #expect(objects.map(\.id) == model.objects.keys.sorted(), "\(place)")
        for object in objects {
            let (shown, wanted) = (object.shown, model.objects[object.id] ?? [:])
            for (name, value) in wanted where shown[name] != value {
                Issue.record("\(place): \(object.id).\(name) is \(shown[name] ?? "?"), not \(value)")
            }
        }
        #expect(realm.objects(CreatedLeaf.self).count == model.leaves, "\(place)")
        let children = objects.filter { $0.child != nil }.count
        #expect(realm.dynamicObjects("CreatedChild").count == children, "\(place): a child without a parent")
    }

    @Test("created objects have the values of a dictionary or of JSON", arguments: [1, 2, 3, 4] as [UInt64])
    func random(seed: UInt64) throws {
        let realm = try makeRealm([CreatedObject.self, CreatedLeaf.self, CreatedChild.self])
        var dice = Dice(state: seed)
        var model = Model()
        var nextID = 0
        for turn in 0..<60 {
            var next = model
            var codes: [Realm.Error.Code] = []
            let steps = (0...dice.roll(4)).map { _ in Self.step(&dice, &nextID) }
            for step in steps where codes.isEmpty {
                if let code = Self.apply(step, to: &next) { codes.append(code) }
            }
            let place = "seed \(seed), turn \(turn)"
            do {
                try realm.write { for step in steps { try Self.run(step, in: realm) } }
                #expect(codes.isEmpty, "\(place): \(steps)")
                model = next
            } catch let error as Realm.Error {
                #expect(codes == [error.code], "\(place): \(error) in \(steps)")
            }
            expectEqual(realm, model, place)
        }
        try realm.store.checkInvariants()
    }

    @Test("create fills an object before it adds it, and locates no row for either step")
    func addedOnce() throws {
        let realm = try makeRealm([CreatedObject.self, CreatedLeaf.self, CreatedChild.self])
        try realm.write {
            let values: [String: Any] = ["id": 5, "text": "a", "real": 1, "numbers": [1], "maybeText": "b", "any": 3]
            let made = realm.create(CreatedObject.self, value: values)
            #expect(made._location == nil && made._creation != 0)
            let upserted = realm.create(CreatedObject.self, value: ["id": 6, "text": "b"], update: .modified)
            #expect(upserted._location == nil)
            let list = try realm.createAll(
                CreatedObject.self, json: Data(#"[{"id": 7, "leaf": null, "real": 2.5}, {"id": 8}]"#.utf8),
                update: .all)
            #expect(list.allSatisfy { $0._location == nil })
            #expect(made.text == "a" && list[0].real == 2.5 && made._location != nil)
        }
        #expect(realm.objects(CreatedObject.self).map(\.id) == [5, 6, 7, 8])
    }

    @Test("an existing key is a duplicate, or the object to update")
    func duplicates() throws {
        let realm = try makeRealm([CreatedObject.self, CreatedLeaf.self, CreatedChild.self])
        try realm.write { for id in [3, 9, 4] { realm.create(CreatedObject.self, value: ["id": id]) } }
        for id in [3, 4, 9] {
            for make in [
                { realm.create(CreatedObject.self, value: ["id": id]) },
                { try realm.create(CreatedObject.self, json: Data("{\"id\": \(id)}".utf8)) },
            ] as [() throws -> CreatedObject] {
                let error = #expect(throws: Realm.Error.self) {
                    try realm.write {
                        realm.create(CreatedObject.self, value: ["id": 10])
                        _ = try make()
                    }
                }
                #expect(error?.code == .duplicateKey && error?.message.contains("CreatedObject") == true)
            }
        }
        #expect(realm.objects(CreatedObject.self).map(\.id) == [3, 4, 9])
        // The two highest keys and a negative one are valid; Int.min is none.
        try realm.write {
            for id in [Int.max, -4, Int.max - 1] {
                realm.create(CreatedObject.self, value: ["id": id, "text": "first"], update: .modified)
                realm.create(CreatedObject.self, value: ["id": id, "whole": 1], update: .modified)
            }
        }
        #expect(realm.objects(CreatedObject.self).where { $0.text == "first" && $0.whole == 1 }.count == 3)
        #expect(throws: Realm.Error.self) {
            try realm.write { realm.create(CreatedObject.self, value: ["id": Int.min]) }
        }
    }

    @Test("a declared default that null or another object replaces leaves no object")
    func defaults() throws {
        let realm = try makeRealm([DefaultedOwner.self, CreatedLeaf.self])
        try realm.write {
            realm.create(DefaultedOwner.self, value: ["leaf": CreatedLeaf?.none as Any])
            try realm.create(DefaultedOwner.self, json: Data(#"{"leaf": null}"#.utf8))
            try realm.create(DefaultedOwner.self, json: Data(#"{"leaf": {"name": "own"}}"#.utf8))
            realm.create(DefaultedOwner.self)
        }
        #expect(realm.objects(CreatedLeaf.self).map(\.name) == ["own", "declared"])
        #expect(realm.objects(DefaultedOwner.self).map { $0.leaf?.name } == [nil, nil, "own", "declared"])
    }

    @Test("create copies a given collection and leaves it unchanged")
    func givenCollections() throws {
        let realm = try makeRealm([CreatedObject.self, CreatedLeaf.self, CreatedChild.self])
        let list = List<Int>()
        list.append(4)
        try realm.write {
            let first = realm.create(CreatedObject.self, value: ["id": 1, "numbers": list] as [String: Any])
            let second = realm.create(CreatedObject.self, value: ["id": 2, "numbers": first.numbers] as [String: Any])
            list.append(5)
            second.numbers.append(6)
        }
        #expect(realm.objects(CreatedObject.self).map { Array($0.numbers) } == [[4], [4, 6]])
        #expect(list.realm == nil && Array(list) == [4, 5])
    }

    @Test("a property is found by each Unicode spelling of its name")
    func spellings() throws {
        let realm = try makeRealm([SpelledNames.self, PlainNames.self])
        try realm.write {
            realm.create(SpelledNames.self, value: ["caf\u{E9}": 1, "K": 2] as [String: Any])
            realm.create(SpelledNames.self, value: ["cafe\u{301}": 3, "\u{212A}": 4] as [String: Any])
            try realm.create(SpelledNames.self, json: Data("{\"cafe\u{301}\": 5, \"\\u212a\": 6}".utf8))
            try realm.create(SpelledNames.self, json: Data("{\"caf\\u00E9\": 7, \"\\u004b\": 8}".utf8))
        }
        #expect(realm.objects(SpelledNames.self).map { $0.café } == [1, 3, 5, 7])
        #expect(realm.objects(SpelledNames.self).map(\.K) == [2, 4, 6, 8])
        try realm.write { realm.create(PlainNames.self, value: ["\u{212A}": 4] as [String: Any]) }
        #expect(realm.objects(PlainNames.self).map(\.K) == [4])
    }
}

private final class DefaultedOwner: Object {
    @Persisted var leaf: CreatedLeaf? = CreatedLeaf(value: ["name": "declared"])
}

private final class SpelledNames: Object {
    @Persisted var café: Int
    @Persisted var K: Int
}

private final class PlainNames: Object {
    @Persisted var K: Int
}
