#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A value whose description includes the objects that it leads to, down to a depth.
protocol Describing {
    func described(_ depth: Int) -> String
}

/// Makes the descriptions of objects and collections, in RealmSwift's format: nested down to a depth, so that cycles
/// end.
enum Description {
    static let depth = 5
    static let shownElements = 100
    private static let shownBytes = 24
    private static let tooDeep = "<Maximum depth exceeded>"

    /// A value of any kind.
    static func text(_ value: Any?, _ depth: Int) -> String {
        switch _flatten(value) {
        case nil: "(null)"
        case let nested as any Describing: depth == 0 ? tooDeep : nested.described(depth)
        case let any as AnyRealmValue: any.text(depth)
        case let bool as Bool: bool ? "1" : "0"
        case let data as Data: text(data)
        case let enumeration as any PersistableEnum: "\(enumeration.rawValue)"
        case let other?: "\(other)"
        }
    }

    private static func text(_ data: Data) -> String {
        let bytes = data.prefix(shownBytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "<\(bytes)\(data.count > shownBytes ? "..." : "") - \(data.count) total bytes>"
    }

    static func indented(_ text: String) -> String { text.replacing("\n", with: "\n\t") }

    /// The description of a collection with its elements, or a map with its entries.
    /// - Parameter identity: the object whose address identifies the collection while it lives.
    static func collection(
        _ name: String, of element: _PropertyShape, identity: AnyObject?, count: Int, lines: some Sequence<String>
    ) -> String {
        let type = element.type == .object ? element.objectType?.className() ?? "object" : "\(element.type)"
        let address = identity.map { " <0x\(String(UInt(bitPattern: ObjectIdentifier($0)), radix: 16))>" } ?? ""
        let skipped = count > shownElements ? "\n\t... \(count - shownElements) objects skipped." : ""
        let shown = lines.prefix(shownElements).map { "\t" + indented($0) }.joined(separator: ",\n")
        return "\(name)\(type)>\(address) (\n\(shown)\(skipped)\n)"
    }

    /// The description of a list, a set or results.
    static func elements<Elements: Collection>(
        _ name: String, _ elements: Elements, identity: AnyObject?, depth: Int
    ) -> String where Elements.Element: RealmCollectionValue {
        let lines = elements.prefix(shownElements).enumerated().map { "[\($0.offset)] \(text($0.element, depth - 1))" }
        return collection(
            "\(name)<", of: Elements.Element._elementShape, identity: identity, count: elements.count, lines: lines)
    }
}

extension AnyRealmValue {
    fileprivate func text(_ depth: Int) -> String {
        switch self {
        case .none: "(null)"
        case .object(let object): Description.text(object, depth)
        case .list(let list): Description.text(list, depth)
        case .dictionary(let map): Description.text(map, depth)
        case .bool(let value): Description.text(value, depth)
        case .data(let value): Description.text(value, depth)
        default: description
        }
    }
}

extension ObjectBase: Describing {
    func described(_ depth: Int) -> String {
        if _frame != nil, isInvalidated { return _shortDescription }
        let name = _frame == nil ? type(of: self).className() : _access.name
        let lines = _propertyNames.map { property in
            "\t\(property) = \(Description.indented(Description.text(_dynamicValue(property), depth - 1)));\n"
        }
        return "\(name) {\n\(lines.joined())}"
    }

    /// Class and key, for messages.
    var _shortDescription: String {
        guard _frame != nil else { return "\(type(of: self).className()) (unmanaged)" }
        let access = _access
        if isInvalidated { return "\(access.name) (deleted, key \(_key))" }
        guard let primary = access.primary, primary.column >= 0 else { return "\(access.name) \(_key)" }
        return "\(access.name) \(_dynamicValue(primary.name).map { "\($0)" } ?? "nil")"
    }

    /// Every property except inverses.
    var _propertyNames: [String] {
        _frame == nil
            ? ClassPlan.plan(for: type(of: self)).fields.filter(\.isStored).map(\.name)
            : _access.properties.filter { !$0.isLinkingObjects }.map(\.name)
    }
}
