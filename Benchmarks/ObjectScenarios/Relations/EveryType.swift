import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A class with a property of every type besides its key. Declared defaults differ from the values of trials: a
/// property that an upsert resets to its default shows.
final class EveryType: Object {
    enum State: String, PersistableEnum { case first, second, third }

    @Persisted(primaryKey: true) var id: Int
    @Persisted var integer = 1
    @Persisted(indexed: true) var indexedInteger = 1
    @Persisted var small: Int8 = 1
    @Persisted var short: Int16 = 1
    @Persisted var half: Int32 = 1
    @Persisted var large: Int64 = 1
    @Persisted var flag = false
    @Persisted var single: Float = 1.5
    @Persisted var real = 1.5
    @Persisted(indexed: true) var indexedReal = 1.5
    @Persisted var text = "declared"
    @Persisted(indexed: true) var indexedText = "declared"
    @Persisted var data = Data([1])
    @Persisted var date = Date(timeIntervalSince1970: 1)
    @Persisted var decimal = Decimal128(1)
    @Persisted var uuid = UUID()
    @Persisted var objectId = ObjectId.generate()
    @Persisted var state = State.first
    @Persisted var any: AnyRealmValue
    @Persisted var optionalInteger: Int?
    @Persisted var optionalFlag: Bool?
    @Persisted var optionalReal: Double?
    @Persisted var optionalText: String?
    @Persisted var optionalDate: Date?
    @Persisted var optionalData: Data?
    @Persisted var list: List<Int>
    @Persisted var set: MutableSet<String>
    @Persisted var map: Map<String, Int>
    @Persisted var part: EveryTypePart?
    @Persisted var friend: EveryType?
    @Persisted var friends: List<EveryType>
}

final class EveryTypePart: EmbeddedObject {
    @Persisted var number = 1
}

extension EveryType {
    static let classes: [ObjectBase.Type] = [EveryType.self, EveryTypePart.self]

    /// The property by name, the first stored value, and the value of the upsert.
    private static var values: [(name: String, stored: Any, given: Any)] {
        plainValues
            + [
                ("optionalInteger", 2, 3), ("optionalFlag", true, false), ("optionalReal", 2.5, 3.5),
                ("optionalText", "stored", "given"), ("optionalData", Data([2, 2]), Data([3])),
                ("optionalDate", Date(timeIntervalSince1970: 2), Date(timeIntervalSince1970: 3)),
                ("list", [2, 2], [3]), ("set", ["stored"], ["given", "too"]), ("map", ["stored": 2], ["given": 3]),
                ("part", ["number": 2], ["number": 3]),
            ]
    }

    private static var plainValues: [(name: String, stored: Any, given: Any)] {
        [
            ("integer", 2, 3), ("indexedInteger", 2, 3), ("small", Int8(2), Int8(3)), ("short", Int16(2), Int16(3)),
            ("half", Int32(2), Int32(3)), ("large", Int64(2), Int64(3)), ("flag", true, false),
            ("single", Float(2.5), Float(3.5)), ("real", 2.5, 3.5), ("indexedReal", 2.5, -0.5),
            ("text", "stored", "given"), ("indexedText", "stored", "given"), ("data", Data([2, 2]), Data([3])),
            ("date", Date(timeIntervalSince1970: 2), Date(timeIntervalSince1970: 3)),
            ("decimal", Decimal128(2), Decimal128(3)), ("uuid", UUID(), UUID()),
            ("objectId", ObjectId.generate(), ObjectId.generate()), ("state", State.second, State.third),
            ("any", AnyRealmValue.int(2), AnyRealmValue.string("given")),
        ]
    }

    /// A line for each property.
    private var lines: [String] {
        [
            "integer \(integer)", "indexedInteger \(indexedInteger)", "small \(small)", "short \(short)",
            "half \(half)", "large \(large)", "flag \(flag)", "single \(single)", "real \(real)",
            "indexedReal \(indexedReal)", "text \(text)", "indexedText \(indexedText)", "data \(Array(data))",
            "date \(date.timeIntervalSince1970)", "decimal \(decimal)", "uuid \(uuid)", "objectId \(objectId)",
            "state \(state.rawValue)", "any \(self.any)", "optionalInteger \(optionalInteger ?? -1)",
            "optionalFlag \(optionalFlag.map { "\($0)" } ?? "none")", "optionalReal \(optionalReal ?? -1)",
            "optionalText \(optionalText ?? "none")", "optionalData \(Array(optionalData ?? Data()))",
            "optionalDate \(optionalDate?.timeIntervalSince1970 ?? -1)", "list \(Array(list))",
            "set \(Array(set).sorted())", "map \(map.map { "\($0.key)=\($0.value)" }.sorted())",
            "part \(part?.number ?? -1)", "friend \(friend?.id ?? -1)", "friends \(friends.map(\.id))",
        ]
    }

    private static let (subject, other) = (1, 2)

    /// One object has the stored values; then an upsert for each property gives only that one. All other values must be
    /// unchanged, in this Realm and in the file.
    static func upsertEach(_ place: TrialPlace, _ policy: Realm.UpdatePolicy) throws -> PolicyTrials.Finding {
        let realm = try place.realm(classes)
        // Computed once: some are random.
        let values = Self.values
        var (stored, given): ([String: Any], [String: Any]) = (["id": subject], ["id": other])
        for value in values {
            stored[value.name] = value.stored
            given[value.name] = value.given
        }
        let (object, model) = try realm.write {
            let model = realm.create(EveryType.self, value: given)
            let object = realm.create(EveryType.self, value: stored)
            (object.friend, model.friend) = (object, model)
            object.friends.append(objectsIn: [object, object])
            model.friends.append(model)
            return (object, model)
        }
        var expected = object.lines
        var told: [String] = []
        let token = object.observe { change in
            if case .change(_, let properties) = change { told += properties.map(\.name) }
        }
        defer { token.invalidate() }
        let links: [(String, Any)] = [("friend", model), ("friends", [model])]
        for (name, value) in values.map({ ($0.name, $0.given) }) + links {
            told = []
            try realm.write { _ = realm.create(EveryType.self, value: ["id": subject, name: value], update: policy) }
            guard let line = model.lines.first(where: { $0.hasPrefix(name + " ") }),
                let position = expected.firstIndex(where: { $0.hasPrefix(name + " ") })
            else { return .wrong("no property \(name)") }
            if expected[position] == line { return .wrong("\(name): what is stored and what is given are the same") }
            expected[position] = line
            let finding = PolicyTrials.Finding.all([
                .same("\(name) was given", object.lines, expected),
                // An embedded object is changed in place, and its own observers are notified.
                .expect("told when \(name) was given", told, name == "part" && told.isEmpty ? [] : [name]),
            ])
            if case .wrong = finding { return finding }
        }
        let wanted = expected
        return try place.elsewhere(realm) { realm in
            guard let object = realm.object(ofType: EveryType.self, forPrimaryKey: subject) else {
                return .wrong("the object is gone")
            }
            return .same("read anew", object.lines, wanted)
        }
    }
}
