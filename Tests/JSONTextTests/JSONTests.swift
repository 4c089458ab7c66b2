import Testing

@testable import JSONText

@Suite struct JSONTests {
    @Test("documents round-trip")
    func roundTrip() throws {
        let value = JSONValue.object([
            JSONMember("null", .null), JSONMember("yes", .bool(true)), JSONMember("no", .bool(false)),
            JSONMember("zero", .integer(0)), JSONMember("low", .integer(Int64.min)),
            JSONMember("high", .integer(Int64.max)), JSONMember("tenth", .real(0.1)),
            JSONMember("small", .real(.leastNonzeroMagnitude)), JSONMember("large", .real(1.7976931348623157e308)),
            JSONMember("text", .string("a \"quote\", a \\ and\nlines\u{0}\u{1F600}é")),
            JSONMember("list", .array([.integer(1), .array([]), .object([])])),
        ])
        #expect(try JSONReader.read(value.text) == value)
        #expect(!value.text.contains("\n"))
    }

    @Test("reals that JSON lacks are written as text, and read back")
    func notANumber() throws {
        let reals: [Double] = [.nan, .infinity, -.infinity]
        #expect(JSONValue.array(reals.map { .real($0) }).text == #"["nan","inf","-inf"]"#)
        for real in reals {
            let text = JSONValue.members([("n", .real(real))]).text
            let read = try JSONObjectReader(try JSONReader.read(text), path: "root").real("n")
            #expect(read == real || read.isNaN && real.isNaN, "\(text)")
        }
        let other = try JSONObjectReader(.members([("n", .string("1"))]), path: "root")
        #expect(throws: JSONShapeError.self) { try other.real("n") }
    }

    @Test("unsigned numbers from 2^53 on are written as text, and read back; those with a sign are numbers")
    func largeUnsigned() throws {
        #expect(JSONValue.unsigned((1 << 53) - 1).text == "9007199254740991")
        #expect(JSONValue.unsigned(1 << 53).text == "\"9007199254740992\"")
        #expect(JSONValue.unsigned(.max).text == "\"18446744073709551615\"")
        #expect(JSONValue.integer(Int64.min).text == "-9223372036854775808")
        let reader = try JSONObjectReader(.object([JSONMember("n", .unsigned(.max))]), path: "root")
        #expect(try reader.unsigned("n") == .max)
    }

    @Test("escapes of other writers are decoded")
    func escapes() throws {
        #expect(try JSONReader.read(#""\u0041\/\b\f\ud83d\ude00""#) == .string("A/\u{8}\u{C}\u{1F600}"))
    }

    @Test(
        "invalid JSON is refused with its place",
        arguments: [
            ("", 1, 1), ("{", 1, 2), ("[1,\n 2 3]", 2, 4), (#"{"a" 1}"#, 1, 6), ("tru", 1, 1), ("[1] 2", 1, 5),
            (#" "open"#, 1, 2), (#""\ud83d""#, 1, 8), ("[1.2.3]", 1, 2), ("{\"a\":1,}", 1, 8), ("[01]", 1, 2),
            ("[1.]", 1, 2), ("[.5]", 1, 2), ("[+1]", 1, 2), ("[-]", 1, 2), ("[1e]", 1, 2), ("[NaN]", 1, 2),
            ("['a']", 1, 2), ("{a:1}", 1, 2), ("[1,]", 1, 4), ("[/**/]", 1, 2), ("\u{FEFF}1", 1, 1), (#""\x41""#, 1, 3),
        ])
    func errors(text: String, line: Int, column: Int) throws {
        let error = try #require(throws: JSONError.self) { try JSONReader.read(text) }
        #expect(error.position == TextPosition(line: line, column: column), "\(error)")
    }

    @Test("nesting is bounded, and does not exhaust the stack")
    func nesting() {
        #expect(throws: JSONError.self) { try JSONReader.read(String(repeating: "[", count: 100_000)) }
    }

    @Test("a member of the wrong type is named by its path")
    func shape() throws {
        let reader = try JSONObjectReader(try JSONReader.read(#"{"a":[{"b":"x"}]}"#), path: "root")
        let error = try #require(throws: JSONShapeError.self) { try reader.objects("a")[0].integer("b") }
        #expect(error.description == "root.a[0].b: expected an integer")
    }

    @Test("JSON5 is parsed: comments, bare names, single quotes, trailing commas, other numbers")
    func json5() throws {
        let node = try JSONReader.node(
            """
            // a comment
            { bare: 'single', "quoted": [1, +2, -.5, 0x1F, 1e3,], /* block
              */ $d_1: null, t: true, inf: -Infinity, esc: "a\\n\\x41\\u00e9\\
            b", }
            """, .json5)
        guard case .object(let members) = node.content else {
            Issue.record("no object")
            return
        }
        #expect(members.map(\.name) == ["bare", "quoted", "$d_1", "t", "inf", "esc"])
        guard case .array(let numbers) = members[1].value.content else {
            Issue.record("no array")
            return
        }
        #expect(numbers.map(\.number) == [1, 2, -0.5, 31, 1_000])
        #expect(members[5].namePosition == TextPosition(line: 3, column: 43))
        if case .string(let text) = members[5].value.content { #expect(text == "a\nAéb") }
    }

    @Test(
        "invalid JSON5 is refused with its place",
        arguments: [
            ("", 1, 1), ("{ a: 1 b: 2 }", 1, 8), ("{ a: }", 1, 6), ("[1\n, 'x", 2, 3), ("/* x", 1, 1),
            ("{ a: people }", 1, 6), ("{ a: 1,\n a: 2 }", 2, 2), ("{} x", 1, 4), ("[0x]", 1, 2),
        ])
    func errorsOfJSON5(text: String, line: Int, column: Int) throws {
        let error = try #require(throws: JSONError.self) { try JSONReader.node(text, .json5) }
        #expect(error.position == TextPosition(line: line, column: column), "\(error)")
    }

    @Test("nesting is bounded in JSON5, too")
    func nestingOfJSON5() {
        #expect(throws: JSONError.self) {
            try JSONReader.node(String(repeating: "[", count: 100_000), .json5)
        }
    }
}
