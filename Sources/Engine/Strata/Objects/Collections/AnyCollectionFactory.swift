#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Makes the list, set or map of a property by its tag, for classes that only the file declares.
enum AnyCollectionFactory {
    static func make(_ column: _CollectionColumn, _ tag: ColumnTag) -> Any? {
        switch tag.type {
        case .object:
            switch tag.collection {
            case .list: return List<DynamicObject>(_column: column)
            case .set: return MutableSet<DynamicObject>(_column: column)
            case .map: return Map<String, DynamicObject?>(_column: column)
            case .none: return nil
            }
        case .int: return make(Int.self, column, tag)
        case .bool: return make(Bool.self, column, tag)
        case .string: return make(String.self, column, tag)
        case .double: return make(Double.self, column, tag)
        case .float: return make(Float.self, column, tag)
        case .date: return make(Date.self, column, tag)
        case .data: return make(Data.self, column, tag)
        case .UUID: return make(UUID.self, column, tag)
        case .objectId: return make(ObjectId.self, column, tag)
        case .decimal128: return make(Decimal128.self, column, tag)
        case .any: return make(AnyRealmValue.self, column, tag)
        case .linkingObjects: return nil
        }
    }

    private static func make<Element: _Scalar>(
        _: Element.Type, _ column: _CollectionColumn, _ tag: ColumnTag
    ) -> Any? {
        tag.isOptional ? make(of: Element?.self, column, tag) : make(of: Element.self, column, tag)
    }

    private static func make<Element: RealmCollectionValue>(
        of _: Element.Type, _ column: _CollectionColumn, _ tag: ColumnTag
    ) -> Any? {
        switch tag.collection {
        case .list: return List<Element>(_column: column)
        case .set: return MutableSet<Element>(_column: column)
        case .map: return Map<String, Element>(_column: column)
        case .none: return nil
        }
    }
}
