import Foundation
import Testing

@testable import Strata

/// Queries on lists and sets of plain values.
@Suite struct ValueQueryTests {
    final class Student: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var marks: List<Int>
        @Persisted var names: List<String>
        @Persisted var notes: List<String?>
        @Persisted var ratios: List<Double>
        @Persisted var prices: List<Decimal128>
        @Persisted var days: MutableSet<Date>
        @Persisted var anything: List<AnyRealmValue>
    }

    private func student() throws -> Student {
        let realm = try makeRealm([Student.self])
        return try realm.write { realm.create(Student.self, value: ["id": 1]) }
    }

    @Test("a list of values is filtered, sorted, made distinct and limited, and results are live")
    func listOfValues() throws {
        let student = try student()
        let realm = try #require(student.realm)
        try realm.write { student.marks.append(objectsIn: [3, 1, 4, 1, 5, 9, 2, 6]) }
        let good = student.marks.filter("SELF > 3")
        let sorted = student.marks.where { $0 < 5 }.sorted(ascending: false).distinct()
        #expect(Array(good) == [4, 5, 9, 6] && Array(sorted) == [4, 3, 2, 1])
        #expect(Array(good.sorted().limit(2, offset: 1)) == [5, 6])
        try realm.write {
            student.marks.append(7)
            #expect(Array(good) == [4, 5, 9, 6, 7] && good.count == 5 && good.last == 7)
        }
        #expect(good[1] == 5 && good.firstIndex(of: 9) == 2 && !good.isEmpty && good.realm == realm)
        try realm.write { realm.delete(student) }
        #expect(good.isEmpty && good.isInvalidated)
    }

    @Test("least, greatest, sum and average of values")
    func aggregatedValues() throws {
        let student = try student()
        let realm = try #require(student.realm)
        #expect(student.marks.min() == nil && student.marks.sum() == 0 && student.marks.average() == nil)
        let days = [3.0, 1, 2].map { Date(timeIntervalSince1970: $0) }
        try realm.write {
            student.marks.append(objectsIn: [3, 1, 4])
            student.ratios.append(objectsIn: [.nan, 0.5, -2])
            student.prices.append(objectsIn: ["0.10", "0.20"])
            student.days.insert(objectsIn: days)
        }
        #expect(student.marks.min() == 1 && student.marks.max() == 4 && student.marks.sum() == 8)
        #expect(student.marks.average() == 2 && student.ratios.min() == -2 && student.ratios.max() == 0.5)
        #expect(student.prices.sum() == "0.30" && student.prices.average() == "0.15")
        #expect(student.days.max() == days[0] && student.days.sorted().first == days[1])
        #expect(student.marks.where { $0 > 1 }.sum() == 7)
    }

    @Test("values of any type, texts and nulls")
    func anyValues() throws {
        let student = try student()
        try student.realm?.write {
            student.anything.append(objectsIn: [.int(3), .string("x"), .double(4.5), .none])
            student.names.append(objectsIn: ["Émile", "emil", "Zoë"])
            student.notes.append(objectsIn: ["b", nil, "a"])
        }
        #expect(Array(student.anything.filter("SELF > 3")) == [.double(4.5)])
        #expect(Array(student.anything.filter("SELF == 'x' OR SELF == nil")) == [.string("x"), .none])
        #expect(Array(student.names.filter("SELF BEGINSWITH[cd] %@", "EM")) == ["Émile", "emil"])
        #expect(Array(student.notes.sorted(ascending: true)) == [nil, "a", "b"])
        #expect(Array(student.notes.where { $0 != nil }) == ["b", "a"])
        #expect(Array(student.notes.filter("SELF > nil")) == ["b", "a"])
        #expect(student.notes.filter("SELF >= nil").count == 3 && student.notes.filter("SELF < nil").isEmpty)
        #expect(student.realm?.objects(Student.self).filter("ANY anything == 'x'").count == 1)
    }

    @Test("an unsupported condition on values is an error with the reason")
    func unsupportedCondition() throws {
        let marks = try student().marks
        for format in ["rank > 3", "SELF CONTAINS 'x'", "SELF == 'x'", "SELF.@count > 1", "SELF BETWEEN {1, 2, 3}"] {
            let error = #expect(throws: Realm.Error.self, "\(format)") { try marks.tryFilter(format) }
            #expect(error?.code == .invalidInput, "\(format)")
        }
        let error = #expect(throws: Realm.Error.self) { try marks.tryFilter("rank > 3") }
        #expect(error?.message.contains("SELF is the value") == true)
    }

    @Test("matching values equal those of a naive evaluation", arguments: UInt64(1)...6)
    func random(seed: UInt64) throws {
        var random = RandomPredicates(dice: Dice(state: seed), keys: [1])
        let student = try student()
        for _ in 0..<20 {
            let kind = random.dice.pick([RandomPredicates.Kind.int, .double, .text, .decimal])
            let values = (0..<random.dice.roll(12)).map { _ in random.value(kind) }
            let property = ["ratios", "names", "prices", "marks"][
                [.double, .text, .decimal, .int].firstIndex(of: kind)!]
            let column = _CollectionColumn(student, student._access.positions[property] ?? 0)
            try student.realm?.write { ElementEditor(column)?.assign(StoredCollection(values: values)) }
            var model = NaiveModel()
            for (place, value) in values.enumerated() { model.rows[Int64(place)] = ["value": NaiveValue(value)] }
            let predicate = comparisons(&random, kind)
            let comment: Comment = "seed \(seed): \(predicate) of \(values)"
            let expected = model.matches(predicate).map { values[Int($0)] }
            let holds = try ValueCondition.make(asked(predicate), column.property.tag, property)
            let found = ValueSource(column, steps: [.filter(holds)]).values
            #expect("\(found)" == "\(expected)", comment)
            let sorted = ValueSource(column, steps: [.sort(ascending: true)]).values
            for (a, b) in zip(sorted, sorted.dropFirst()) { #expect(!SetOrder.precedes(b, a), comment) }
        }
    }

    private func comparisons(_ random: inout RandomPredicates, _ kind: RandomPredicates.Kind) -> Predicate {
        let parts = (0..<(1 + random.dice.roll(3))).map { _ in
            let comparator = random.dice.pick(
                [
                    Predicate.Comparator.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .isIn,
                    .between,
                ])
            let constants = (0..<2).map { _ in
                Predicate.Expression.value(.init(random.value(kind), RandomPredicates.type(kind)))
            }
            let isList = comparator == .isIn || comparator == .between
            let comparison = Predicate.Comparison(
                left: .path(Predicate.Path(names: ["value"])), comparator: comparator,
                right: isList ? .values(constants) : constants[0])
            return random.dice.roll(3) == 0 ? Predicate.not(.comparison(comparison)) : .comparison(comparison)
        }
        return random.dice.roll(2) == 0 ? .and(PredicateParts(parts)) : .or(PredicateParts(parts))
    }

    /// The predicate with `SELF` in the place of the property `value`.
    private func asked(_ predicate: Predicate) -> Predicate {
        switch predicate {
        case .constant, .tooDeep: return predicate
        case .not(let inner): return .not(asked(inner))
        case .and(let parts): return .and(PredicateParts(parts.map(asked)))
        case .or(let parts): return .or(PredicateParts(parts.map(asked)))
        case .comparison(var comparison):
            comparison.left = .path(Predicate.Path())
            return .comparison(comparison)
        }
    }
}
