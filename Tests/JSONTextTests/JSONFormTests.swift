import Testing

@testable import JSONText

/// A record with a field of each kind.
private struct Sheet: JSONRecord, Equatable {
    var count = 0
    var seconds: Double?
    var mark = ""
    var file: String?
    var digest = ""
    var sums: [String: Int] = [:]
    var notes: [Note] = []

    static let blank = Sheet()
    static let fields: [JSONField<Sheet>] = [
        .constant("format", "sheet/1"), .member("count", \.count, in: .counts),
        .member("seconds", \.seconds, in: .seconds), .sparse("mark", \.mark), .member("file", \.file),
        .companion("digest", \.digest, of: \.file), .lenient("sums", \.sums), .texts("notes", \.notes),
    ]
}

private struct Note: NamedText, Equatable {
    var name: String
    var value: String
}

/// `JSONForm`, `JSONRecord` and `JSONField`.
@Suite struct JSONFormTests {
    private func refusal<Value: JSONForm>(_ text: String, as type: Value.Type) throws -> String {
        try #require(throws: JSONShapeError.self) {
            try Value(document: Array(text.utf8), named: "root")
        }.description
    }

    @Test("a number of 32 bits is read exactly, or refused")
    func narrowIntegers() throws {
        for number in [Int32.min, -1, 0, 11, .max] { #expect(try Int32(json: number.json) == number) }
        for text in ["2147483648", "-2147483649", "4294967307", "1.5", #""1""#, "null"] {
            #expect(
                try refusal(text, as: Int32.self) == "root: expected an integer from -2^31 to 2^31 - 1")
        }
    }

    @Test("values of another kind are refused, with the path of the value")
    func otherKinds() throws {
        #expect(try refusal("1", as: Bool.self) == "root: expected true or false")
        #expect(try refusal("1", as: String.self) == "root: expected a string")
        #expect(try refusal("1.5", as: Int.self) == "root: expected an integer")
        #expect(try refusal("-1", as: UInt64.self) == "root: expected a number from 0 to 2^64 - 1")
        #expect(try refusal(#""1""#, as: Double.self) == "root: expected a number")
        #expect(try refusal("[1,true]", as: [Int].self) == "root[1]: expected an integer")
        #expect(try refusal("{}", as: [Int].self) == "root: expected an array")
        #expect(
            try refusal(#"{"a":[{"b":""}]}"#, as: [String: [[String: Int]]].self)
                == "root.a[0].b: expected an integer")
        #expect(try refusal("[]", as: [String: Int].self) == "root: expected an object")
    }

    @Test("a name that is twice in a dictionary is refused, even with equal values")
    func duplicates() throws {
        #expect(
            try refusal(#"{"a":1,"b":2,"a":1}"#, as: [String: Int].self)
                == "root.a: expected one member of this name")
        let reader = try JSONObjectReader(try JSONReader.read(#"{"a":1,"a":1}"#), path: "root")
        let error = try #require(throws: JSONShapeError.self) { try reader.integer("a") }
        #expect(error.description == "root.a: expected one member of this name")
    }

    private static let whole =
        #"{"format":"sheet/1","count":2,"seconds":0.5,"mark":"m","file":"f","digest":"d","#
        + #""sums":{"a":1},"notes":{"z":"1","b":"2"}}"#

    @Test("a record is read, and written again in the order of its fields")
    func record() throws {
        let sheet = try Sheet(document: Array(Self.whole.utf8), named: "sheet")
        #expect(sheet.notes == [Note(name: "z", value: "1"), Note(name: "b", value: "2")])
        #expect(
            sheet.count == 2 && sheet.seconds == 0.5 && sheet.digest == "d" && sheet.sums == ["a": 1])
        #expect(sheet.json.text == Self.whole)
        #expect(Sheet().json.text == #"{"format":"sheet/1","count":0,"sums":{},"notes":{}}"#)
        #expect(try Sheet(json: Sheet().json) == Sheet())
    }

    @Test(
        "a wrong member of a record is refused with its path",
        arguments: [
            (#""count":2"#, #""count":-1"#, "count: expected a number from 0 to 1099511627776"),
            (
                #""count":2"#, #""count":9223372036854775807"#,
                "count: expected a number from 0 to 1099511627776"
            ),
            (#""count":2"#, #""count":null"#, "count: expected an integer"),
            (#""count":2"#, #""count":2,"count":2"#, "count: expected one member of this name"),
            (
                #""seconds":0.5"#, #""seconds":"nan""#,
                "seconds: expected a number from 0.0 to 1000000000.0"
            ),
            (
                #""seconds":0.5"#, #""seconds":"inf""#,
                "seconds: expected a number from 0.0 to 1000000000.0"
            ),
            (
                #""seconds":0.5"#, #""seconds":-0.5"#, "seconds: expected a number from 0.0 to 1000000000.0"
            ),
            (#""mark":"m""#, #""mark":1"#, "mark: expected a string"),
            (#""digest":"d","#, "", "digest: expected a string"),
            (#""a":1"#, #""a":1,"a":2"#, "sums.a: expected one member of this name"),
            (#""b":"2""#, #""b":"2","z":"3""#, "notes.z: expected one member of this name"),
            (#""notes":{"z":"1","b":"2"}"#, #""notes":[]"#, "notes: expected an object"),
            ("sheet/1", "sheet/2", "format: expected sheet/1"),
        ])
    func wrongMember(part: String, other: String, message: String) throws {
        let text = Self.whole.replacing(part, with: other)
        #expect(text != Self.whole)
        #expect(try refusal(text, as: Sheet.self) == "root." + message)
    }
}
