import Testing

@testable import RunRecords

@Suite("JSON")
struct JSONTests {
    @Test("what is written reads back equal")
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

    @Test("numbers that JSON lacks become null")
    func notANumber() {
        #expect(JSONValue.array([.real(.nan), .real(.infinity)]).text == "[null,null]")
    }

    @Test("numbers above 2^53 are written as text, and read back")
    func largeUnsigned() throws {
        #expect(JSONValue.unsigned((1 << 53) - 1).text == "9007199254740991")
        #expect(JSONValue.unsigned(.max).text == "\"18446744073709551615\"")
        let reader = try JSONObjectReader(.object([JSONMember("n", .unsigned(.max))]), path: "root")
        #expect(try reader.unsigned("n") == .max)
    }

    @Test("escapes of other writers are understood")
    func escapes() throws {
        #expect(try JSONReader.read(#""\u0041\/\b\f\ud83d\ude00""#) == .string("A/\u{8}\u{C}\u{1F600}"))
    }

    @Test(
        "text that is no JSON is refused with its place",
        arguments: [
            ("", 1, 1), ("{", 1, 2), ("[1,\n 2 3]", 2, 4), (#"{"a" 1}"#, 1, 6), ("tru", 1, 1), ("[1] 2", 1, 5),
            (#""open"#, 1, 6), (#""\ud83d""#, 1, 8), ("[1.2.3]", 1, 2), ("{\"a\":1,}", 1, 8),
        ])
    func errors(text: String, line: Int, column: Int) throws {
        let error = try #require(throws: JSONError.self) { try JSONReader.read(text) }
        #expect(error.line == line)
        #expect(error.column == column)
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
}
