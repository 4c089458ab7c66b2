#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Realm {
    /// As ``create(_:value:update:)``, from a JSON object.
    ///
    /// Dates are ISO 8601 text, data is base64, identifiers and decimals are text. Names that the class does not have
    /// are ignored. Objects and lists may be nested 500 deep.
    /// - Throws: ``Realm/Error`` with `invalidInput` if the text is no JSON object, or nested deeper. A value that a
    ///   property cannot hold fails the write.
    @discardableResult
    public func create<Element: Object>(
        _ type: Element.Type, json: Data, update: UpdatePolicy = .error
    ) throws -> Element {
        guard let entries = try JSONTree.value(of: json) as? [String: Any] else {
            throw Error(.invalidInput, "a \(type.className()) is made from a JSON object; for a list use createAll")
        }
        return create(type, value: entries, update: update)
    }

    /// Creates an object for each element of a JSON list, in its order.
    @discardableResult
    public func createAll<Element: Object>(
        _ type: Element.Type, json: Data, update: UpdatePolicy = .error
    ) throws -> [Element] {
        guard let elements = try JSONTree.value(of: json) as? [Any] else {
            throw Error(.invalidInput, "the JSON is no list")
        }
        return elements.map { create(type, value: $0, update: update) }
    }
}

/// JSON of any shape. Integers stay integers.
private enum JSONTree: Decodable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case text(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// Deeper JSON is refused: reading it takes stack for each level.
    private static let deepest = 500
    /// Deeper JSON is read on a thread with more stack.
    private static let deepestHere = 24

    /// A value for `create`.
    static func value(of json: Data) throws(Realm.Error) -> Any {
        let depth = Self.depth(of: json)
        if depth > deepest {
            throw Realm.Error(
                .invalidInput,
                "the JSON has \(depth) objects and lists inside one another, and at most \(deepest) are read; take it "
                    + "apart, or make it flat")
        }
        if depth <= deepestHere { return try parsed(json).get() }
        var result: Result<Any, Realm.Error>?
        guard RoomyThread.run({ result = parsed(json) }), let result else {
            throw Realm.Error(
                .addressSpaceExhausted,
                "JSON of \(depth) levels is read on a thread of its own, and the system gives none")
        }
        return try result.get()
    }

    private static func parsed(_ json: Data) -> Result<Any, Realm.Error> {
        do { return .success(try JSONDecoder().decode(JSONTree.self, from: json).value) } catch {
            return .failure(Realm.Error(.invalidInput, "the JSON cannot be read: \(error)"))
        }
    }

    /// Nesting depth of objects and lists; any number for text that is no JSON.
    private static func depth(of json: Data) -> Int {
        var (depth, most, isText, isEscaped) = (0, 0, false, false)
        for byte in json {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isText: isEscaped = true
            case UInt8(ascii: "\""): isText.toggle()
            case _ where isText: break
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                most = max(most, depth)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return most
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONTree].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONTree].self))
        }
    }

    private var value: Any {
        switch self {
        case .null: Any?.none as Any
        case .bool(let value): value
        case .integer(let value): value
        case .double(let value): value
        case .text(let value): value
        case .array(let elements): elements.map(\.value)
        case .object(let entries): entries.mapValues(\.value)
        }
    }
}
