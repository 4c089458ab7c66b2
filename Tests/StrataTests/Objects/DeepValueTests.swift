import Foundation
import Testing

@testable import Strata

private final class Knot: Object {
    @Persisted var number: Int
    @Persisted var next: Knot?
    @Persisted var branch: List<Knot>
    @Persisted var names: Map<String, Knot?>
    @Persisted var any: AnyRealmValue
}

private final class Shell: EmbeddedObject {
    @Persisted var number: Int
    @Persisted var text: String
    @Persisted var inner: Shell?
    @Persisted var inners: List<Shell>
}

private final class Nest: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var shell: Shell?
}

/// Values nested some ten thousand deep once crashed the program, since each level took stack.
@Suite struct DeepValueTests {
    private static let count = 20_000

    /// Nested dictionaries under a property's name; `wrap` makes each the value of the property.
    private static func nested(
        _ name: String, count: Int = count, innermost: [String: Any] = ["number": 0], _ wrap: (Any) -> Any = { $0 }
    ) -> [String: Any] {
        var value: [String: Any] = innermost
        for number in 1..<count { value = ["number": number, name: wrap(value)] }
        return value
    }

    /// Releasing a value of this depth takes stack as well, on its creator's thread.
    private static func kept<Value>(_ value: Value) -> Value {
        _ = Unmanaged.passRetained(Kept(value))
        return value
    }

    private final class Kept {
        let value: Any
        init(_ value: Any) { self.value = value }
    }

    @Test("create makes a chain of any depth from dictionaries, by each kind of link, on a small stack")
    func create() throws {
        let kinds: [(String, (Any) -> Any, (Knot) -> Knot?)] = [
            ("next", { $0 }, { $0.next }), ("branch", { [$0] }, { $0.branch.first }),
            ("names", { ["k": $0] }, { $0.names["k"] ?? nil }),
        ]
        for (name, wrap, follow) in kinds {
            let value = Self.kept(Self.nested(name, wrap))
            let realm = try makeRealm([Knot.self])
            let configuration = realm.configuration
            try SmallStack.trying(kilobytes: 256) {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.create(Knot.self, value: value) }
            }
            realm.refresh()
            #expect(realm.objects(Knot.self).count == Self.count)
            var knot = realm.objects(Knot.self).filter("number == \(Self.count - 1)").first
            var numbers: [Int] = []
            while let next = knot {
                numbers.append(next.number)
                knot = follow(next)
            }
            #expect(numbers == Array((0..<Self.count).reversed()))
        }
    }

    @Test("an invalid value fails the write, at any depth")
    func misfit() throws {
        let value = Self.kept(Self.nested("next", count: 2_000, innermost: ["number": "none"]))
        let realm = try makeRealm([Knot.self])
        #expect(throws: Realm.Error.self) { try realm.write { realm.create(Knot.self, value: value) } }
        #expect(realm.objects(Knot.self).isEmpty)
        #expect(throws: Realm.Error.self) { _ = try Knot(checking: value) }
    }

    @Test("nested embedded objects are created, updated and deleted on a small stack")
    func embedded() throws {
        let realm = try makeRealm([Nest.self])
        let configuration = realm.configuration
        let value = Self.kept(["id": 1, "shell": Self.nested("inner")])
        try SmallStack.trying(kilobytes: 256) {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.create(Nest.self, value: value) }
            #expect(realm.objects(Nest.self).first?.shell?.inner?.number == Self.count - 2)
            // Updates existing objects from dictionaries and from unmanaged objects.
            try realm.write { realm.create(Nest.self, value: value, update: .modified) }
            let copy = try #require(realm.objects(Nest.self).first).detached()
            #expect(copy.shell?.inner?.inner?.number == Self.count - 3)
            var shell = copy.shell
            while let next = shell {
                next.text = "new"
                shell = next.inner
            }
            try realm.write { realm.add(copy, update: .modified) }
            let rows = realm.objects(Nest.self).first?.shell
            #expect(rows?.inner?.inner?.text == "new" && rows?.inner?.number == Self.count - 2)
            let again = try #require(realm.objects(Nest.self).first).detached()
            try realm.write { realm.add(again, update: .all) }
            try realm.write { realm.delete(realm.objects(Nest.self)) }
        }
        realm.refresh()
        #expect(realm.isEmpty)
    }

    @Test("unmanaged objects take values of any depth")
    func unmanaged() throws {
        let value = Self.kept(Self.nested("next"))
        try SmallStack.trying(kilobytes: 256) {
            let knot = try Knot(checking: value)
            var (next, count) = (Optional(knot), 0)
            while let one = next {
                count += 1
                next = one.next
            }
            #expect(count == Self.count)
            let again = Knot(value: ["next": value, "branch": [["number": 7]]])
            #expect(again.next?.number == Self.count - 1 && again.branch.first?.number == 7)
        }
    }

    @Test("detaching a chain of lists takes linear time")
    func detached() throws {
        let realm = try makeRealm([Knot.self])
        try realm.write {
            var last: Knot?
            for number in 0..<Self.count {
                last = realm.create(Knot.self, value: ["number": number, "branch": last.map { [$0] } ?? []])
            }
        }
        let configuration = realm.configuration
        try SmallStack.trying(kilobytes: 256) {
            let realm = try Realm(configuration: configuration)
            let copy = realm.objects(Knot.self).last?.detached()
            #expect(copy?.branch.first?.branch.first?.number == Self.count - 3)
        }
    }

    // MARK: Values of any type

    private static func list(_ count: Int) -> AnyRealmValue {
        var value = AnyRealmValue.int(7)
        for number in 0..<count { value = number % 2 == 0 ? .list(List([value])) : .fromDictionary(["k": value]) }
        return value
    }

    @Test("nested lists and dictionaries are released, and too deep ones refused by name")
    func nestedValues() throws {
        let realm = try makeRealm([Knot.self])
        let configuration = realm.configuration
        try SmallStack.trying {
            var deep: AnyRealmValue? = Self.list(100_000)
            let knot = Knot()
            knot.any = deep ?? .none
            let copy = knot.detached()
            deep = nil
            knot.any = .none
            copy.any = .none
            let realm = try Realm(configuration: configuration)
            let refusal = #expect(throws: Realm.Error.self) {
                try realm.write { realm.create(Knot.self, value: ["any": Self.list(101)]) }
            }
            #expect(refusal?.code == .invalidInput)
            try realm.write { realm.create(Knot.self, value: ["any": Self.list(100)]) }
            #expect(realm.objects(Knot.self).count == 1)
        }
    }

    @Test("a value of any type from too deeply nested arrays names the limit")
    func nestedArrays() throws {
        var value: Any = 7
        for _ in 0..<20_000 { value = [value] }
        let deep = Self.kept(value)
        let realm = try makeRealm([Knot.self])
        let configuration = realm.configuration
        try SmallStack.trying(kilobytes: 512) {
            let realm = try Realm(configuration: configuration)
            let error = #expect(throws: Realm.Error.self) {
                try realm.write { realm.create(Knot.self, value: ["any": deep]) }
            }
            #expect(error?.message.contains("more than 100 lists and dictionaries") == true)
            let other = #expect(throws: Realm.Error.self) {
                try realm.write { realm.create(Knot.self, value: ["number": deep]) }
            }
            #expect(other?.code == .invalidInput)
        }
    }

    // MARK: JSON

    private static func json(_ depth: Int) -> Data {
        Data(
            (String(repeating: "{\"number\":1,\"next\":", count: depth - 1) + "{\"number\":2}"
                + String(repeating: "}", count: depth - 1)).utf8)
    }

    @Test("JSON is read on a small stack up to its limit of depth, and deeper text is refused by name")
    func deepJSON() throws {
        let realm = try makeRealm([Knot.self])
        let configuration = realm.configuration
        try SmallStack.trying(kilobytes: 512) {
            let realm = try Realm(configuration: configuration)
            for depth in [1, 24, 25, 500] {
                try realm.write {
                    realm.deleteAll()
                    try realm.create(Knot.self, json: Self.json(depth))
                }
                #expect(realm.objects(Knot.self).count == depth)
            }
            for depth in [501, 100_000] {
                let error = #expect(throws: Realm.Error.self) {
                    try realm.write { try realm.create(Knot.self, json: Self.json(depth)) }
                }
                #expect(error?.code == .invalidInput && error?.message.contains("at most 500") == true)
            }
            // Brackets in strings do not nest.
            let text = String(repeating: "[", count: 1_000)
            try realm.write {
                realm.deleteAll()
                try realm.create(Knot.self, json: Data("{\"any\":\"\(text)\\\"{\",\"number\":3}".utf8))
            }
            #expect(realm.objects(Knot.self).first?.any == .string(text + "\"{"))
        }
    }
}
