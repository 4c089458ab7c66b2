import Foundation
import Strata
import Testing

/// The index of the first match, in managed and unmanaged collections.
@Suite struct IndexMatchingTests {
    final class Part: Object {
        @Persisted var name = ""
        @Persisted var size: Int?
        @Persisted var anything: AnyRealmValue
        @Persisted var marks: List<Int>
        @Persisted var scores: Map<String, Double>
        @Persisted var parts: List<Part>
        @Persisted var main: Part?
    }
    final class Whole: Object {
        @Persisted var parts: List<Part>
        @Persisted var numbers: List<Int>
        @Persisted var texts: List<String?>
    }

    private func whole() -> Whole {
        let whole = Whole()
        for place in 0..<5 {
            let part = Part(value: ["name": "part \(place)", "marks": Array(0..<place)])
            part.size = place == 2 ? nil : place * 10
            part.anything = place % 2 == 0 ? .int(place) : .bool(true)
            part.scores["a"] = Double(place) / 2
            part.main = whole.parts.last
            part.parts.append(objectsIn: Array(whole.parts))
            whole.parts.append(part)
        }
        whole.numbers.append(objectsIn: [4, 7, 9, 7])
        whole.texts.append(objectsIn: ["x", nil, "Y"])
        return whole
    }

    private func check(_ whole: Whole) {
        let parts = whole.parts
        #expect(parts.index(matching: { $0.name == "part 3" }) == 3)
        #expect(parts.index(matching: { $0.name == "none" }) == nil)
        #expect(parts.index(matching: { $0.size == nil }) == 2)
        #expect(parts.index(matching: { $0.size > 20 && $0.name.ends(with: "4") }) == 4)
        #expect(parts.index(matching: { $0.anything == .int(4) }) == 4)
        #expect(parts.index(matching: { $0.anything == .bool(true) }) == 1)
        #expect(parts.index(matching: { $0.anything == .int(1) }) == nil)
        #expect(parts.index(matching: { $0.marks.contains(2) }) == 3)
        #expect(parts.index(matching: { $0.marks.sum == 3 || $0.marks.count == 4 }) == 3)
        #expect(parts.index(matching: { $0.marks.contains(0...1) }) == 1)
        #expect(parts.index(matching: { $0.scores["a"] >= 1 }) == 2)
        #expect(parts.index(matching: { $0.scores["b"] == nil }) == 0)
        #expect(parts.index(matching: { $0.scores.keys == "a" }) == 0)
        #expect(parts.index(matching: { $0.main.size == 10 }) == 2)
        #expect(parts.index(matching: { $0.main == parts[2] }) == 3)
        #expect(parts.index(matching: { $0.parts.name == "part 1" }) == 2)
        #expect(parts.index(matching: { ($0.parts.size >= 10).count >= 2 }) == 4)
        #expect(parts.index(matching: "name BEGINSWITH[c] 'PART' AND NOT size IN {0, 10}") == 2)
        #expect(parts.index(matching: "ALL marks < 2 AND marks.@count > 0") == 1)
        #expect(parts.index(matching: "SELF == %@", parts[3]) == 3)
        #expect(whole.numbers.index(matching: { $0 > 5 }) == 1)
        #expect(whole.numbers.index(matching: "SELF == 9") == 2)
        #expect(whole.texts.index(matching: { $0 == nil }) == 1)
        #expect(whole.texts.index(matching: { $0.equals("y", options: .caseInsensitive) }) == 2)
    }

    @Test("an unmanaged list is tested element by element")
    func unmanagedList() { check(whole()) }

    @Test("a managed list, and results, give the same")
    func managedList() throws {
        let realm = try makeRealm([Whole.self, Part.self])
        let whole = whole()
        try realm.write { realm.add(whole) }
        check(whole)
        #expect(realm.objects(Part.self).sorted(by: \.name).index(matching: { $0.size == nil }) == 2)
        #expect(whole.numbers.where { $0 > 4 }.index(matching: { $0 > 7 }) == 1)
    }
}
