/// Converts values of dictionaries, arrays and JSON to elements.
enum ElementConversion {
    static func element<Element: RealmCollectionValue>(_: Element.Type, _ value: Any) -> Element? {
        if let type = Element.self as? any _Persistable.Type, _flatten(value) == nil {
            return type._fromAny(nil) as? Element
        }
        if let same = value as? Element { return same }
        if let type = Element.self as? any _Persistable.Type {
            // Unwrapped before the cast, which would turn a refused value of an optional type into nil.
            guard let made = type._fromAny(value) else { return nil }
            return made as? Element
        }
        if let type = Element.self as? ObjectBase.Type { return type._wrappedFromAny(value) as? Element }
        return nil
    }

    /// As ``element(_:_:)``, for a list or a set: nil for a null object. Only a key of a map may have no object.
    static func member<Element: RealmCollectionValue>(_: Element.Type, _ value: Any) -> Element? {
        Element._elementShape.type == .object && _flatten(value) == nil ? nil : element(Element.self, value)
    }

    /// The elements of any sequence or collection that ends; nil for text, for a dictionary with text as keys, and for
    /// what is no sequence.
    static func elements(_ value: Any) -> [Any]? {
        if let collection = value as? any UntypedCollection { return collection.anyElements }
        if let array = value as? [Any] { return array }
        if value is String || value is [String: Any] || value is any EndlessSequence { return nil }
        return (value as? any Sequence).map { sequence in sequence.map { $0 as Any } }
    }

    /// The entries of a map or a dictionary with text as keys; nil for other values.
    static func entries(_ value: Any) -> [(String, Any)]? {
        if let map = value as? any UntypedCollection {
            return map.anyKeys.isEmpty && !map.anyElements.isEmpty ? nil : Array(zip(map.anyKeys, map.anyElements))
        }
        return (value as? [String: Any])?.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
