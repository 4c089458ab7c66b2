import Foundation
import Strata

enum CreatedMood: String, PersistableEnum { case calm, wild }

final class CreatedLeaf: Object {
    @Persisted var name = "leaf"
}

final class CreatedChild: EmbeddedObject {
    @Persisted var size = 3
}

/// A property of each kind that a value may be given for.
final class CreatedObject: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var small: Int8
    @Persisted var whole: Int = 7
    @Persisted var maybeWhole: Int?
    @Persisted var real: Double = 0.5
    @Persisted var maybeReal: Double?
    @Persisted var single: Float
    @Persisted var isOn: Bool
    @Persisted var maybeOn: Bool?
    @Persisted(indexed: true) var text = "declared"
    @Persisted var maybeText: String?
    @Persisted var day = Date(timeIntervalSince1970: 86_400)
    @Persisted var blob: Data
    @Persisted var code: UUID?
    @Persisted var price: Decimal128
    @Persisted var mood = CreatedMood.calm
    @Persisted var any: AnyRealmValue
    @Persisted var numbers: List<Int>
    @Persisted var words: MutableSet<String>
    @Persisted var named: Map<String, Double?>
    @Persisted var leaf: CreatedLeaf?
    @Persisted var leaves: List<CreatedLeaf>
    @Persisted var child: CreatedChild?
    @Persisted(originProperty: "next") var before: LinkingObjects<CreatedObject>
    @Persisted var next: CreatedObject?
}

/// A value as a program gives it, and what the property holds afterwards.
struct GivenValue {
    let value: Any
    /// The value in JSON; nil for a value or type that JSON cannot express.
    let json: String?
    /// The property's value afterwards, as text; nil if the property refuses the given value.
    let shown: String?
    /// The number of ``CreatedLeaf`` objects that are created for it.
    var leaves = 0

    init(_ value: Any, _ json: String?, _ shown: String?, leaves: Int = 0) {
        self.value = value
        self.json = json
        self.shown = shown
        self.leaves = leaves
    }

    private static var null: Any { Any?.none as Any }
    private static let id = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF")

    /// The values that a property is given, by its name.
    static var all: [String: [GivenValue]] {
        [
            "small": small, "whole": whole, "maybeWhole": maybeWhole, "real": real, "maybeReal": maybeReal,
            "single": single, "isOn": isOn, "maybeOn": maybeOn, "text": text, "maybeText": maybeText, "day": day,
            "blob": blob, "code": code, "price": price, "mood": mood, "any": any, "numbers": numbers, "words": words,
            "named": named, "leaf": leaf, "leaves": leaves, "child": child,
        ]
    }

    private static var small: [GivenValue] {
        [
            GivenValue(5, "5", "5"), GivenValue(Int8(-3), nil, "-3"), GivenValue(127.0, "1.27e2", "127"),
            GivenValue(300, "300", nil), GivenValue("5", "\"5\"", nil), GivenValue(null, "null", nil),
        ]
    }

    private static var whole: [GivenValue] {
        [
            GivenValue(41, "41", "41"), GivenValue(Int.min + 1, "-9223372036854775807", "-9223372036854775807"),
            GivenValue(6.0, "6.0", "6"), GivenValue(UInt16(9), nil, "9"), GivenValue(6.5, "6.5", nil),
            GivenValue(true, "true", nil), GivenValue(null, "null", nil), GivenValue([1], "[1]", nil),
        ]
    }

    private static var maybeWhole: [GivenValue] {
        [
            GivenValue(3, "3", "3"), GivenValue(null, "null", "nil"), GivenValue(Int?(8) as Any, nil, "8"),
            GivenValue(Int?.none as Any, nil, "nil"), GivenValue(2.0, "2e0", "2"), GivenValue("a", "\"a\"", nil),
        ]
    }

    private static var real: [GivenValue] {
        [
            GivenValue(2.25, "2.25", "2.25"), GivenValue(4, "4", "4.0"), GivenValue(Float(0.5), nil, "0.5"),
            GivenValue(-0.0, "-0.0", "-0.0"), GivenValue(1e300, "1e300", "1e+300"), GivenValue(0.1, "0.1", "0.1"),
            GivenValue("1", "\"1\"", nil), GivenValue(false, "false", nil), GivenValue(null, "null", nil),
        ]
    }

    private static var maybeReal: [GivenValue] {
        [
            GivenValue(1.5, "1.5", "1.5"), GivenValue(9, "9", "9.0"), GivenValue(null, "null", "nil"),
            GivenValue(Double.nan, nil, "nan"), GivenValue([:] as [String: Any], "{}", nil),
        ]
    }

    private static var single: [GivenValue] {
        [
            GivenValue(0.5, "0.5", "0.5"), GivenValue(2, "2", "2.0"), GivenValue("x", "\"x\"", nil),
        ]
    }

    private static var isOn: [GivenValue] {
        [
            GivenValue(true, "true", "true"), GivenValue(1, "1", nil), GivenValue(null, "null", nil),
        ]
    }

    private static var maybeOn: [GivenValue] {
        [
            GivenValue(false, "false", "false"), GivenValue(null, "null", "nil"), GivenValue("yes", "\"yes\"", nil),
        ]
    }

    private static var text: [GivenValue] {
        [
            GivenValue("plain", "\"plain\"", "plain"), GivenValue("", "\"\"", ""),
            GivenValue("longer than a small string", "\"longer than a small string\"", "longer than a small string"),
            GivenValue("é\n\"😀", "\"\\u00e9\\n\\\"\\ud83d\\ude00\"", "é\n\"😀"),
            GivenValue(Substring("part"), nil, "part"), GivenValue(1, "1", nil), GivenValue(null, "null", nil),
        ]
    }

    private static var maybeText: [GivenValue] {
        [
            GivenValue("é", "\"é\"", "é"), GivenValue(null, "null", "nil"), GivenValue(["a"], "[\"a\"]", nil),
        ]
    }

    private static var day: [GivenValue] {
        [
            GivenValue(Date(timeIntervalSince1970: 0), "\"1970-01-01T00:00:00Z\"", "0.0"),
            GivenValue("1970-01-01T00:00:02Z", "\"1970-01-01T00:00:02Z\"", "2.0"), GivenValue("soon", "\"soon\"", nil),
            GivenValue(5, "5", nil),
        ]
    }

    private static var blob: [GivenValue] {
        [
            GivenValue(Data([1, 2]), "\"AQI=\"", "[1, 2]"), GivenValue("AQI=", "\"AQI=\"", "[1, 2]"),
            GivenValue("?", "\"?\"", nil),
        ]
    }

    private static var code: [GivenValue] {
        [
            GivenValue(id as Any, "\"6F9619FF-8B86-D011-B42D-00CF4FC964FF\"", "6F9619FF-8B86-D011-B42D-00CF4FC964FF"),
            GivenValue(null, "null", "nil"), GivenValue("6F96", "\"6F96\"", nil),
        ]
    }

    private static var price: [GivenValue] {
        [
            GivenValue("2.25", "\"2.25\"", "2.25"), GivenValue(3, "3", "3"), GivenValue("dear", "\"dear\"", nil),
        ]
    }

    private static var mood: [GivenValue] {
        [
            GivenValue("wild", "\"wild\"", "wild"), GivenValue(CreatedMood.wild, nil, "wild"),
            GivenValue("odd", "\"odd\"", nil),
        ]
    }

    private static var any: [GivenValue] {
        [
            GivenValue(1, "1", "int(1)"), GivenValue("t", "\"t\"", "string(t)"), GivenValue(2.5, "2.5", "double(2.5)"),
            GivenValue(true, "true", "bool(true)"), GivenValue(null, "null", "none"),
            GivenValue([1, "a"] as [Any], "[1,\"a\"]", "list(2)"),
        ]
    }

    private static var numbers: [GivenValue] {
        [
            GivenValue([1, 2, 2], "[1,2,2]", "[1, 2, 2]"), GivenValue([] as [Any], "[]", "[]"),
            GivenValue([1.0, Int8(2)] as [Any], nil, "[1, 2]"), GivenValue(null, "null", "[]"),
            GivenValue([1, "x"] as [Any], "[1,\"x\"]", nil), GivenValue([null] as [Any], "[null]", nil),
            GivenValue(List([4, 5]), nil, "[4, 5]"), GivenValue("12", "\"12\"", nil),
        ]
    }

    private static var words: [GivenValue] {
        [
            GivenValue(["b", "a", "b"], "[\"b\",\"a\",\"b\"]", "[\"a\", \"b\"]"), GivenValue([1], "[1]", nil),
        ]
    }

    private static var named: [GivenValue] {
        [
            GivenValue(["a": 1, "b": 2.5] as [String: Any], "{\"a\":1,\"b\":2.5}", "a=1.0 b=2.5"),
            GivenValue(["a": null] as [String: Any], "{\"a\":null}", "a=nil"),
            GivenValue(["a": "x"], "{\"a\":\"x\"}", nil),
            GivenValue([1], "[1]", nil),
        ]
    }

    private static var leaf: [GivenValue] {
        [
            GivenValue(["name": "one"] as [String: Any], "{\"name\":\"one\",\"other\":[{}]}", "one", leaves: 1),
            GivenValue([:] as [String: Any], "{}", "leaf", leaves: 1), GivenValue(null, "null", "nil"),
            GivenValue(["two"], "[\"two\"]", "two", leaves: 1), GivenValue(5, "5", nil),
            GivenValue(["name": 5] as [String: Any], "{\"name\":5}", nil),
        ]
    }

    private static var leaves: [GivenValue] {
        [
            GivenValue(
                [["name": "a"] as [String: Any], [:] as [String: Any]] as [Any], "[{\"name\":\"a\"},{}]", "a leaf",
                leaves: 2),
            GivenValue([] as [Any], "[]", ""), GivenValue([null] as [Any], "[null]", nil), GivenValue(5, "5", nil),
        ]
    }

    private static var child: [GivenValue] {
        [
            GivenValue(["size": 5] as [String: Any], "{\"size\":5}", "5"), GivenValue(null, "null", "nil"),
            GivenValue(["size": "x"] as [String: Any], "{\"size\":\"x\"}", nil),
        ]
    }
}

extension CreatedObject {
    /// What the properties hold, by name.
    var shown: [String: String] {
        func shown<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "nil" }
        let any: String =
            switch self.any {
            case .none: "none"
            case .int(let value): "int(\(value))"
            case .string(let value): "string(\(value))"
            case .double(let value): "double(\(value))"
            case .bool(let value): "bool(\(value))"
            case .list(let list): "list(\(list.count))"
            default: "other"
            }
        return [
            "small": "\(small)", "whole": "\(whole)", "maybeWhole": shown(maybeWhole), "real": "\(real)",
            "maybeReal": shown(maybeReal), "single": "\(single)", "isOn": "\(isOn)", "maybeOn": shown(maybeOn),
            "text": text, "maybeText": shown(maybeText), "day": "\(day.timeIntervalSince1970)",
            "blob": "\(Array(blob))",
            "code": shown(code), "price": "\(price)", "mood": mood.rawValue, "any": any, "numbers": "\(Array(numbers))",
            "words": "\(Array(words).sorted())",
            "named": named.map { "\($0.key)=\(shown($0.value))" }.sorted().joined(separator: " "),
            "leaf": shown(leaf?.name), "leaves": leaves.map(\.name).joined(separator: " "), "child": shown(child?.size),
        ]
    }

    static let declared = CreatedObject().shown
}
