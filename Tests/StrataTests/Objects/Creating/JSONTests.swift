import Foundation
import Testing

@testable import Strata

private final class JSONNote: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text: String
    @Persisted var real: Double
    @Persisted var any: AnyRealmValue
}

/// The JSON parser: the values that it reads, the texts that it refuses, and the places that its errors name.
@Suite struct JSONTests {
    private func realm() throws -> Realm { try makeRealm([JSONNote.self]) }

    /// The value of a JSON text, read by Strata's parser.
    private static func value(_ text: String) throws -> Any {
        try JSONInput.read(Data(text.utf8)) { cursor, _ in cursor.value() }
    }

    private static func fault(_ json: Data) -> String? {
        do {
            _ = try JSONInput.read(json) { cursor, _ in cursor.value() }
            return nil
        } catch {
            return (error as? Realm.Error)?.message ?? "another error"
        }
    }

    @Test(
        "an error names the line and the column of the fault",
        arguments: [
            ("", 1, 1, "found the end"), ("{} x", 1, 4, "more text"), ("[1,]", 1, 4, "a value"),
            ("[1 2]", 1, 4, "a comma or ]"), ("{\"a\":1,}", 1, 8, "a name"), ("{\"a\" 1}", 1, 6, "a colon"),
            ("{a:1}", 1, 2, "a name"), ("{\"a\":1", 1, 7, "a comma or }"), ("[\n  tru]", 2, 3, "quotes"),
            ("[\n\n 01]", 3, 2, "begins with 0"), ("[1.]", 1, 2, "number"), ("[-]", 1, 2, "number"),
            ("[.5]", 1, 2, "a value"), ("[1e]", 1, 2, "number"), ("[1e400]", 1, 2, "too large"),
            ("[\"a\nb\"]", 1, 4, "control"), ("[\"a]", 1, 2, "without an end"), ("[\"\\x\"]", 1, 3, "escape"),
            ("[\"\\ud83d\"]", 1, 3, "surrogate"), ("[\"\\udc00\"]", 1, 3, "surrogate"), ("[\"\\u12\"]", 1, 3, "four"),
            ("[\"\\ud83d\\u0041\"]", 1, 3, "surrogate"), ("]", 1, 1, "a value"), ("[}", 1, 2, "a value"),
            ("{\"a\":{}]", 1, 8, "a comma or }"), ("/**/1", 1, 1, "a value"), ("nul", 1, 1, "quotes"),
        ])
    func faults(text: String, line: Int, column: Int, part: String) {
        let message = Self.fault(Data(text.utf8)) ?? "none"
        #expect(message.contains("line \(line), column \(column): ") && message.contains(part), "\(text): \(message)")
    }

    @Test(
        "bytes that are no UTF-8 are refused",
        arguments: [
            [0x80], [0xC0, 0x80], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xFF],
        ] as [[UInt8]])
    func badBytes(bytes: [UInt8]) {
        let text = Data([0x5B, 0x22] + bytes + [0x22, 0x5D])
        #expect(Self.fault(text)?.contains("line 1, column 3: bytes that are no UTF-8") == true)
        let good = String(decoding: "é€😀\u{7FF}\u{800}\u{FFFF}\u{10FFFF}".utf8, as: UTF8.self)
        #expect(Self.fault(Data("[\"\(good)\"]".utf8)) == nil)
    }

    @Test(
        "numbers equal those that the standard library reads, bit by bit",
        arguments: [
            "0", "-0", "-0.0", "0.3", "0.7", "1", "-1", "9223372036854775807", "-9223372036854775808",
            "9223372036854775808",
            "18446744073709551615", "0.1", "1.5", "-2.75e3", "1e22", "1e23", "9007199254740993", "9007199254740993.0",
            "123456789012345678.5", "0.000001", "4.9e-324", "1.7976931348623157e308", "2.2250738585072011e-308",
            "0.30000000000000004", "1e-22", "3.14159265358979323846264338327950288", "100e-2",
            "7.0", "8.5e1", "1E2", "1e+2", "0e5", "0.0e-5",
        ])
    func numbers(text: String) throws {
        let value = try Self.value(text)
        if let whole = Int(text) {
            #expect(value as? Int == whole)
            return
        }
        let wanted = try #require(Double(text))
        if let double = value as? Double {
            #expect(double.bitPattern == wanted.bitPattern, "\(text): \(double)")
        } else {
            #expect((value as? Int).map { Double($0) } == wanted, "\(text): \(value)")
        }
        let realm = try realm()
        try realm.write { try realm.create(JSONNote.self, json: Data("{\"real\": \(text)}".utf8)) }
        #expect(realm.objects(JSONNote.self).first?.real.bitPattern == wanted.bitPattern)
    }

    @Test("escapes in texts and in names are decoded")
    func escapes() throws {
        let text = "{\"\\u0061\\n\": \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83D\\uDE00 é€😀\", \"\": \"\"}"
        let value = try #require(try Self.value(text) as? [String: Any])
        #expect(value["a\n"] as? String == "\"\\/\u{8}\u{C}\n\r\té€😀 é€😀" && value[""] as? String == "")
        let realm = try realm()
        try realm.write { try realm.create(JSONNote.self, json: Data("{\"t\\u0065xt\": \"\\u0000\"}".utf8)) }
        #expect(realm.objects(JSONNote.self).first?.text == "\u{0}")
    }

    @Test("of two members with one name the first counts, in an object and in a value")
    func twice() throws {
        let realm = try realm()
        let text = #"{"id": 1, "text": "a", "any": {"k": 1, "k": 2}, "text": "b", "id": 2}"#
        for policy in [Realm.UpdatePolicy.error, .modified] {
            try realm.write { try realm.create(JSONNote.self, json: Data(text.utf8), update: policy) }
            #expect(realm.objects(JSONNote.self).map(\.id) == [1] && realm.objects(JSONNote.self).first?.text == "a")
            guard case .dictionary(let map)? = realm.objects(JSONNote.self).first?.any else {
                Issue.record("no dictionary")
                return
            }
            #expect(map["k"] == AnyRealmValue.int(1))
        }
    }

    @Test("a list with a fault in its last line creates nothing; the error of an invalid value names its place")
    func places() throws {
        let realm = try realm()
        try realm.write {
            let error = #expect(throws: Realm.Error.self) {
                try realm.createAll(JSONNote.self, json: Data("[{\"id\": 1},\n {\"id\": 2},\n {\"id\": }]".utf8))
            }
            #expect(error?.code == .invalidInput && error?.message.contains("line 3, column 9") == true)
        }
        #expect(realm.isEmpty)
        for (text, place) in [
            ("[{\"id\": 1},\n {\"text\": \"a\", \"id\": \"x\"}]", "line 2, column 22"),
            ("[{\"id\": 1, \"any\": [1,\n2]}, {\"id\": 1}]", "line 2, column 6"), ("[\n\n5]", "line 3, column 1"),
            ("[{\"id\": 1}, {\"id\": 2,\n\n   \"real\": [1]}]", "line 3, column 12"),
        ] {
            let error = #expect(throws: Realm.Error.self) {
                try realm.write { try realm.createAll(JSONNote.self, json: Data(text.utf8)) }
            }
            #expect(error?.message.contains("at \(place) of the JSON") == true, "\(error?.message ?? "")")
        }
        #expect(realm.isEmpty)
        try realm.write {
            #expect(throws: Realm.Error.self) { try realm.create(JSONNote.self, json: Data("[]".utf8)) }
            #expect(throws: Realm.Error.self) { try realm.createAll(JSONNote.self, json: Data("{}".utf8)) }
            let none = try realm.createAll(JSONNote.self, json: Data(" [ ] ".utf8))
            #expect(none.isEmpty)
        }
    }

    @Test("text in UTF-16 and UTF-32, and with a byte order mark, is read")
    func encodings() throws {
        let text = "{\"text\": \"é😀\"}"
        var utf16 = Data(), utf32 = Data()
        for unit in text.utf16 { utf16 += [UInt8(unit >> 8), UInt8(unit & 0xFF)] }
        for scalar in text.unicodeScalars {
            utf32 += (0..<4).map { UInt8(truncatingIfNeeded: scalar.value >> (24 - 8 * $0)) }
        }
        func swapped(_ data: Data, _ size: Int) -> Data {
            Data(stride(from: 0, to: data.count, by: size).flatMap { data[$0..<$0 + size].reversed() })
        }
        let texts = [
            Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8), utf16, swapped(utf16, 2), utf32, swapped(utf32, 4),
            Data([0xFE, 0xFF]) + utf16, Data([0xFF, 0xFE]) + swapped(utf16, 2),
        ]
        let realm = try realm()
        for (id, json) in texts.enumerated() {
            try realm.write {
                realm.deleteAll()
                let made = try realm.create(JSONNote.self, json: json)
                #expect(made.text == "é😀", "\(id)")
            }
        }
        #expect(Self.fault(utf16.dropLast())?.contains("UTF-16") == true)
        #expect(Self.fault(Data([0x7B, 0, 0, 0xD8, 0x7D, 0]))?.contains("UTF-16") == true)
    }
}

/// Random JSON texts, unchanged and with some bytes changed, compared with Foundation's parser.
@Suite struct JSONAgreementTests {
    private static func text(_ dice: inout Dice, _ depth: Int) -> String {
        func space() -> String { dice.pick(["", "", "", " ", "\n", "\t "]) }
        func name() -> String { dice.pick(["\"a\"", "\"\"", "\"é\"", "\"a\\n\"", "\"\\u0062\""]) }
        switch dice.roll(depth > 3 ? 6 : 9) {
        case 0: return "null"
        case 1: return dice.pick(["true", "false"])
        case 2: return "\(dice.roll(2_000) - 1_000)"
        case 3: return dice.pick(["0.5", "-1.25", "1e3", "12.75e-2", "3E+2", "-0.5", "123456789.125"])
        case 4, 5: return dice.pick(["\"\"", "\"text\"", "\"é\\\"\\\\\\u00e9\"", "\"😀\\ud83d\\ude00\"", "\"a b\""])
        case 6, 7:
            let elements = (0..<dice.roll(4)).map { _ in space() + text(&dice, depth + 1) + space() }
            return "[" + space() + elements.joined(separator: ",") + space() + "]"
        default:
            var names: [String] = []
            while names.count < dice.roll(4) {
                let next = name()
                if names.contains(next) { break }
                names.append(next)
            }
            let members = names.map { "\(space())\($0)\(space()):\(space())\(text(&dice, depth + 1))\(space())" }
            return "{" + space() + members.joined(separator: ",") + space() + "}"
        }
    }

    /// A value in the form of ``Tree/shown``.
    private static func plain(_ value: Any) -> String {
        switch value {
        case let list as [Any]: return "[" + list.map(plain).joined(separator: ",") + "]"
        case let object as [String: Any]:
            let members = object.sorted { $0.key < $1.key }.map { "\($0.key):\(plain($0.value))" }
            return "{" + members.joined(separator: ",") + "}"
        case let text as String: return "\"\(text)\""
        case let flag as Bool: return "\(flag)"
        case let number as Int: return "\(Double(number))"
        case let number as Double: return "\(number)"
        default: return "null"
        }
    }

    @Test("values equal those that Foundation reads", arguments: [11, 12] as [UInt64])
    func values(seed: UInt64) throws {
        var dice = Dice(state: seed)
        for turn in 0..<300 {
            let text = Self.text(&dice, 0)
            let own = try JSONInput.read(Data(text.utf8)) { cursor, _ in cursor.value() }
            let other = try JSONDecoder().decode(Tree.self, from: Data(text.utf8))
            #expect(Self.plain(own) == other.shown, "seed \(seed), turn \(turn): \(text)")
            // A skipped value ends at the same place as one that is read.
            let ends = try JSONInput.read(Data("[\(text) , 7]".utf8)) { cursor, _ in
                _ = cursor.kind()
                cursor.enter()
                _ = cursor.hasElement()
                cursor.skip()
                return cursor.hasElement() ? cursor.value() as? Int : nil
            }
            #expect(ends == 7, "\(text)")
        }
    }

    @Test("a text that was changed is refused where Foundation refuses it", arguments: [21, 22] as [UInt64])
    func changed(seed: UInt64) {
        var dice = Dice(state: seed)
        for _ in 0..<600 {
            var bytes = Array(Self.text(&dice, 0).utf8)
            for _ in 0...dice.roll(3) where !bytes.isEmpty {
                let place = dice.roll(bytes.count)
                switch dice.roll(3) {
                case 0: bytes.remove(at: place)
                case 1: bytes[place] = dice.pick(Array("{}[]\",:0-.e\\utn \u{1}".utf8) + [0xC3, 0x80])
                default: bytes.insert(dice.pick(Array("{}[]\",:01-.eE+\\/\u{7F}".utf8)), at: place)
                }
            }
            let isRight = (try? JSONDecoder().decode(Tree.self, from: Data(bytes))) != nil
            let taken = try? JSONInput.read(Data(bytes)) { cursor, _ -> String in Self.plain(cursor.value()) }
            let text = String(decoding: bytes, as: UTF8.self)
            // Foundation accepts a comma behind the last element or member.
            if isRight, text.contains(/,[ \n\t]*[\]}]/) { continue }
            #expect((taken != nil) == isRight, "\(text)")
        }
    }

    /// A JSON value as Foundation's decoder reads it.
    private enum Tree: Decodable {
        case value(String)
        case list([Tree])
        case object([String: Tree])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .value("null")
            } else if let flag = try? container.decode(Bool.self) {
                self = .value("\(flag)")
            } else if let number = try? container.decode(Double.self) {
                self = .value("\(number)")
            } else if let text = try? container.decode(String.self) {
                self = .value("\"\(text)\"")
            } else if let list = try? container.decode([Tree].self) {
                self = .list(list)
            } else {
                self = .object(try container.decode([String: Tree].self))
            }
        }

        var shown: String {
            switch self {
            case .value(let text): text
            case .list(let list): "[" + list.map(\.shown).joined(separator: ",") + "]"
            case .object(let members):
                "{" + members.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.shown)" }.joined(separator: ",")
                    + "}"
            }
        }
    }
}
