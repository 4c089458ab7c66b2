#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Realm {
    /// As ``create(_:value:update:)``, from a JSON object.
    ///
    /// Dates are ISO 8601 text, data is base64, identifiers and decimals are text. Names that the class does not have
    /// are passed over.
    /// - Throws: ``Realm/Error`` with `invalidInput` when the text is no JSON object. A value that a property cannot
    ///   hold fails the write.
    @discardableResult
    public func create<Element: Object>(
        _ type: Element.Type, json: Data, update: UpdatePolicy = .error
    ) throws -> Element {
        guard case .object(let entries) = try JSONTree.parse(json) else {
            throw Error(.invalidInput, "a \(type.className()) is made from a JSON object; for a list use createAll")
        }
        return create(type, value: entries.mapValues(\.value), update: update)
    }

    /// An object for each element of a JSON list, in its order.
    @discardableResult
    public func createAll<Element: Object>(
        _ type: Element.Type, json: Data, update: UpdatePolicy = .error
    ) throws -> [Element] {
        guard case .array(let elements) = try JSONTree.parse(json) else {
            throw Error(.invalidInput, "the JSON is no list")
        }
        return elements.map { create(type, value: $0.value, update: update) }
    }
}

/// JSON of any shape. Whole numbers stay whole.
private enum JSONTree: Decodable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case text(String)
    case array([JSONTree])
    case object([String: JSONTree])

    static func parse(_ json: Data) throws(Realm.Error) -> JSONTree {
        do { return try JSONDecoder().decode(JSONTree.self, from: json) } catch {
            throw Realm.Error(.invalidInput, "the JSON cannot be read: \(error)")
        }
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

    /// As `create` takes it.
    var value: Any {
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
