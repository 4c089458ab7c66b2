import Testing

@testable import Strata

@Suite struct PredicateParserTests {
    @Test(arguments: [
        "age ==", "age 3", "== 3", "age == 3 AND", "(age == 3", "age == 3)", "name == 'open", "age == %d %d", "age ~ 3",
        "name CONTAINS[x] 'a'", "age == %@", "3 == 4",
    ])
    func `a format that cannot be read is an error that shows it`(format: String) {
        do {
            _ = try PredicateParser.parse(format, [])
            Issue.record("read \(format)")
        } catch {
            #expect(error.code == .invalidInput)
            #expect(error.message.contains(format))
        }
    }

    @Test func `arguments that nothing asks for are an error`() {
        #expect(throws: Realm.Error.self) { try PredicateParser.parse("age == 3", [4]) }
    }

    @Test func `AND binds stronger than OR, and NOT strongest`() throws {
        guard case .or(_, .and(.not, _)) = try PredicateParser.parse("a == 1 OR NOT b == 2 AND c == 3", []) else {
            Issue.record("bound otherwise")
            return
        }
    }

    @Test func `longest ascending subsequences are longest`() {
        #expect(SequenceDifference.longestAscending([]) == [])
        #expect(SequenceDifference.longestAscending([3, 1, 2]) == [1, 2])
        #expect(SequenceDifference.longestAscending([0, 2, 1, 3]).count == 3)
    }
}
