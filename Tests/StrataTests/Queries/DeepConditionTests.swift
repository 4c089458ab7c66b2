import Foundation
import Testing

@testable import Strata

private final class Mark: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var number: Int
    @Persisted var name: String
    @Persisted var marks: List<Mark>
}

/// A condition built in a loop once overflowed the stack when it was made, bound or released, or took quadratic time.
@Suite struct DeepConditionTests {
    private static let count = 100_000

    private func marks() throws -> Results<Mark> {
        let realm = try makeRealm([Mark.self])
        try realm.write {
            for id in 0..<10 { realm.create(Mark.self, value: ["id": id, "number": id, "name": "n\(id)"]) }
        }
        return realm.objects(Mark.self)
    }

    /// Runs the body with the marks on a thread with a small stack.
    private func onSmallStack(_ body: @escaping (Results<Mark>) throws -> Void) throws {
        let marks = try marks()
        let configuration = try #require(marks.realm).configuration
        // An in-memory Realm ends with its last instance, so the test keeps one while the thread runs.
        try withExtendedLifetime(marks) {
            try SmallStack.trying {
                let realm = try Realm(configuration: configuration)
                try body(realm.objects(Mark.self))
            }
        }
    }

    @Test("chains of && and of || with 100 000 parts, from either side, are built, evaluated and released")
    func chains() throws {
        try onSmallStack { marks in
            for isLeft in [true, false] {
                let found = marks.where { mark in
                    var all = mark.number >= 3
                    for number in 0..<Self.count {
                        let next = mark.number != -number - 1
                        all = isLeft ? all && next : next && all
                    }
                    return all
                }
                #expect(found.map(\.id) == Array(3..<10))
                let some = marks.where { mark in
                    var any = mark.number == 4
                    for number in 0..<Self.count {
                        let next = mark.name == "none \(number)"
                        any = isLeft ? any || next : next || any
                    }
                    return any
                }
                #expect(some.map(\.id) == [4])
            }
        }
    }

    @Test("joining conditions reads few of their parts")
    func balanced() {
        func part(_ number: Int) -> Predicate {
            .comparison(
                Predicate.Comparison(
                    left: .path(Predicate.Path(names: ["n\(number)"])), comparator: .equal,
                    right: .value(.init(.integer(Int64(number))))))
        }
        var (left, right) = (part(0), part(0))
        var kept: [Predicate] = []
        for number in 1..<1_000 {
            left = .both(left, part(number))
            right = .both(part(number), right)
            if number % 100 == 0 { kept.append(left) }
        }
        #expect(left.paths.map { $0[0] } == (0..<1_000).map { "n\($0)" })
        #expect(right.paths.map { $0[0] } == (0..<1_000).reversed().map { "n\($0)" })
        // The parts of a longer condition are unchanged.
        for (place, condition) in kept.enumerated() { #expect(condition.paths.count == (place + 1) * 100 + 1) }
        let whole = Predicate.both(left, right)
        #expect(whole.paths.count == 2_000 && whole.depth == 2 && whole.conjuncts.count == 2_000)
        #expect("\(Predicate.either(part(1), .either(part(2), part(3))))" == "n1 == 1 OR n2 == 2 OR n3 == 3")
    }

    @Test("nested conditions are evaluated up to a depth, and refused by name beyond, in linear time")
    func depth() throws {
        func nested(_ mark: Query<Mark>, _ depth: Int) -> Query<Bool> {
            var condition = mark.number == 5
            for level in 0..<depth {
                // Each adds two levels: an AND or an OR, and a NOT.
                condition = level % 2 == 0 ? !(condition && mark.number != 7) : !(condition || mark.number == 9)
            }
            return condition
        }
        func expected(_ number: Int, _ depth: Int) -> Bool {
            var holds = number == 5
            for level in 0..<depth {
                holds = level % 2 == 0 ? !(holds && number != 7) : !(holds || number == 9)
            }
            return holds
        }
        try onSmallStack { marks in
            for depth in [1, 10, 60, 99] {
                let found = marks.where { nested($0, depth) }
                #expect(found.map(\.id) == (0..<10).filter { expected($0, depth) })
            }
            let deep = nested(Query<Mark>.path([]), 100_000).predicate
            #expect(deep.depth > Predicate.deepest)
            let error = #expect(throws: Realm.Error.self) {
                guard let access = marks.realm?.instance.access(for: Mark.self), let instance = marks.realm?.instance
                else { return }
                _ = try PredicateBinder.bind(deep, instance, access)
            }
            #expect(error?.code == .invalidInput && error?.message.contains("deeper than 200 levels") == true)
            #expect(throws: Realm.Error.self) { _ = try FieldEvaluator.matches(deep, Mark()) }
            // A double negation cancels out.
            let even = marks.where { mark in (0..<100_000).reduce(mark.number == 5) { condition, _ in !condition } }
            #expect(even.map(\.id) == [5])
        }
    }

    @Test("formats of any depth and length are evaluated or refused by name")
    func formats() throws {
        try onSmallStack { marks in
            for (open, close) in [("(", ")"), ("NOT (", ")"), ("!(", ")")] {
                let format =
                    String(repeating: open, count: Self.count) + "number == 5"
                    + String(repeating: close, count: Self.count)
                let error = #expect(throws: Realm.Error.self) { _ = try marks.tryFilter(format) }
                #expect(error?.code == .invalidInput && error?.message.contains("at most 64 nested levels") == true)
            }
            let denials = String(repeating: "NOT ", count: Self.count) + "number == 5"
            let denied = try marks.tryFilter(denials)
            #expect(denied.map(\.id) == [5])
            let chain = (0..<10_000).map { "number != \(-$0 - 1)" }.joined(separator: " AND ")
            let chained = try marks.tryFilter(chain)
            #expect(chained.count == 10)
        }
    }
}
