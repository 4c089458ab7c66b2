import Foundation
import Testing

@testable import Strata

@Suite struct PredicateParserTests {
    @Test(
        "an invalid format is an error that shows the place and the expectation",
        arguments: [
            ("age ==", "a property or a value", 7), ("age 3", "an operator", 5), ("== 3", "a property or a value", 1),
            ("age == 3 AND", "a property or a value", 13), ("(age == 3", "')'", 10), ("age == 3)", "the end", 9),
            ("name == 'open", "a closing '", 9), ("age ~ 3", "a property, a value or an operator", 5),
            ("name CONTAINS[x] 'a'", "c, d or cd", 15), ("age == %@", "arguments", 8), ("3 == 4", "a property", 1),
            ("age == 1.2.3", "a number", 8), ("age == 3x", "a number", 8), ("age %x 3", "one of %@", 5),
            ("age BETWEEN {1}", "two values", 13), ("age IN 3", "a list", 8), ("age IN {1, {2}}", "not a list", 12),
            ("SUBQUERY(dogs, x, x.age > 1).@count > 1", "a variable", 16), ("dogs..age > 1", "a name", 6),
            ("SUBQUERY(dogs, $x, $x.age > 1) > 1", "'.@count'", 32), ("dogs.@most > 1", "@count", 1),
            ("age == 'a' OR OR age == 1", "a property or a value", 15), ("name == '\\u12'", "hexadecimal", 12),
        ])
    func invalidFormat(format: String, expected: String, column: Int) {
        do {
            _ = try PredicateParser.parse(format, [])
            Issue.record("read \(format)")
        } catch {
            #expect(error.code == .invalidInput)
            #expect(error.message.contains(format) && error.message.contains("expected"), "\(error.message)")
            #expect(error.message.contains(expected), "\(error.message)")
            #expect(error.message.contains("at column \(column),"), "\(error.message)")
            let lines = error.message.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.last?.count == column + 2 && lines.last?.last == "^", "\(error.message)")
        }
    }

    @Test("superfluous arguments, and those of another kind, are errors")
    func wrongArguments() {
        #expect(throws: Realm.Error.self) { try PredicateParser.parse("age == 3", [4]) }
        #expect(throws: Realm.Error.self) { try PredicateParser.parse("age == %d", ["four"]) }
        #expect(throws: Realm.Error.self) { try PredicateParser.parse("age == %f", [Date()]) }
        #expect(throws: Realm.Error.self) { try PredicateParser.parse("%K == 4", [7]) }
        #expect(throws: Realm.Error.self) { try PredicateParser.parse("age == %@", [Int.self]) }
        #expect(throws: Realm.Error.self) { try PredicateParser.parse("age IN %@", [[[1], [2]]]) }
        #expect(throws: Realm.Error.self) { try PredicateParser.parse("age IN %@", [3...]) }
    }

    @Test("AND binds stronger than OR, and NOT strongest")
    func boundOperators() throws {
        let predicate = try PredicateParser.parse("a == 1 OR NOT b == 2 AND c == 3", [])
        #expect("\(predicate)" == "a == 1 OR (NOT (b == 2) AND c == 3)")
    }

    @Test(
        "formats are parsed to their canonical form",
        arguments: [
            ("3 < age", "age > 3"), ("age = 3", "age == 3"), ("age <> 3", "age != 3"),
            ("age =< 3 && b => 4", "age <= 3 AND b >= 4"),
            ("'x' in tags", "tags == 'x'"), ("name contains[dc] \"it's\"", "name CONTAINS[cd] 'it\\'s'"),
            ("some dogs.age > 1", "ANY dogs.age > 1"), ("!(a == yes) || b == NO", "NOT (a == TRUE) OR b == FALSE"),
            ("dogs.@avg.age > 1.5", "dogs.age.@avg > 1.5"), ("a NOT IN {1, 2}", "NOT (a IN {1, 2})"),
            (
                "SUBQUERY(dogs, $d, $d.age > 3 AND $d.name == 'x').@count >= 2",
                "SUBQUERY(dogs, $d, $d.age > 3 AND $d.name == 'x').@count >= 2"
            ),
            ("#any == 1 AND any == 2 and none like '*'", "any == 1 AND any == 2 AND none LIKE '*'"),
            ("self.age > -3", "age > -3"), ("SELF IN {nil}", "SELF IN {nil}"), ("a == 1e3", "a == 1000.0"),
            ("@links.Person.dogs.@count > 0", "@links.Person.dogs.@count > 0"), ("a == '\\u00e9\\n'", "a == 'é\\n'"),
        ])
    func canonicalForm(format: String, plain: String) throws {
        let predicate = try PredicateParser.parse(format, [])
        #expect("\(predicate)" == plain)
        #expect("\(try PredicateParser.parse(plain, []))" == plain)
    }

    @Test("arguments of every kind are read")
    func everyKindOfArgument() throws {
        let id = UUID()
        let objectId = ObjectId.generate()
        let predicate = try PredicateParser.parse(
            "a == %@ AND b == %d AND c == %ld AND d == %f AND %K == %@ AND g IN %@ AND h == %i AND i == %@ AND j == %@",
            ["x", 3, Int64(4), 0.5, "e.f", id, ["a", nil] as [String?], UInt8(7), objectId, Mood.cross])
        #expect(
            "\(predicate)" == "a == 'x' AND b == 3 AND c == 4 AND d == 0.5 AND e.f == <16 bytes> AND g IN {'a', nil} "
                + "AND h == 7 AND i == <12 bytes> AND j == 'cross'")
    }

    @Test("deep nesting is an error, a wide format is not")
    func deepNesting() throws {
        for depth in [65, 3000] {
            let open = String(repeating: "(", count: depth)
            #expect(throws: Realm.Error.self) {
                try PredicateParser.parse(open + "a == 1" + String(repeating: ")", count: depth), [])
            }
            #expect(throws: Realm.Error.self) { try PredicateParser.parse(open, []) }
            let subqueries = String(repeating: "SUBQUERY(a, $x, ", count: depth)
            #expect(throws: Realm.Error.self) { try PredicateParser.parse(subqueries, []) }
        }
        let deep = String(repeating: "(", count: 60) + "a == 1" + String(repeating: ")", count: 60)
        #expect("\(try PredicateParser.parse(deep, []))" == "a == 1")
        let wide = Array(repeating: "a == 1", count: 2000).joined(separator: " OR ")
        guard case .or(let parts) = try PredicateParser.parse(wide, []) else {
            Issue.record("read otherwise")
            return
        }
        #expect(parts.count == 2000)
        let nots = String(repeating: "NOT ", count: 3001) + "a == 1"
        #expect("\(try PredicateParser.parse(nots, []))" == "NOT (a == 1)")
    }

    @Test("random tokens and truncated formats are parsed or refused", arguments: UInt64(1)...3)
    func soup(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let words = [
            "a", "b.c", "%@", "%K", "%d", "%", "AND", "OR", "NOT", "!", "(", ")", "{", "}", ",", "[", "c", "cd", "]",
            "==", "!=", "<", ">=", "IN", "BETWEEN", "CONTAINS", "LIKE", "'x'", "'", "\"", "\\", "3", "-4.5", "1e9",
            "nil", "TRUE", "ANY", "ALL", "NONE", "SUBQUERY", "$x", "$x.a", ".@count", "@count", "a.@sum.b", "SELF", "#",
            "@links.A.b", "\u{301}", "é", "\u{0}", "\u{1F600}", "..", ".",
        ]
        for round in 0..<1500 {
            let tokens = (0..<dice.roll(14)).map { _ in dice.pick(words) }
            let format = tokens.joined(separator: dice.roll(3) == 0 ? "" : " ")
            let arguments: [Any?] = (0..<dice.roll(4)).map { _ in dice.pick([1, "a", nil, [1, 2], 0.5] as [Any?]) }
            do {
                let predicate = try PredicateParser.parse(format, arguments)
                _ = "\(predicate)"
            } catch {
                #expect(error.code == .invalidInput, "seed \(seed), round \(round): \(format)")
            }
        }
        var random = RandomPredicates(dice: dice, keys: [1, 2, 3])
        for _ in 0..<60 {
            let format = "\(random.predicate(3))"
            for length in 0..<format.count where dice.roll(4) == 0 {
                _ = try? PredicateParser.parse(String(format.prefix(length)), [])
            }
        }
    }

    @Test("the paths of a predicate lead through its subqueries")
    func pathsThroughSubqueries() throws {
        let format = "SUBQUERY(a.b, $x, $x.c == d AND SUBQUERY($x.e, $y, $y.f == 1).@count > 0).@count > 1"
        let paths = try PredicateParser.parse(format, []).paths
        #expect(paths == [["a", "b"], ["a", "b", "c"], ["d"], ["a", "b", "e"], ["a", "b", "e", "f"]])
    }

    @Test("longest ascending subsequences are longest")
    func longestSubsequence() {
        #expect(SequenceDifference.longestAscending([]) == [])
        #expect(SequenceDifference.longestAscending([3, 1, 2]) == [1, 2])
        #expect(SequenceDifference.longestAscending([0, 2, 1, 3]).count == 3)
    }
}
