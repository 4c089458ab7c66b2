/// What can be a property, or an element of a collection: known by the type that files keep in its place.
///
/// That is the type itself for plain values, objects and collections; the raw value of an enumeration; what a custom
/// type is stored as. Queries compare by it.
public protocol _HasPersistedType {
    associatedtype PersistedType
    /// The value as queries compare with it.
    var _queryConstant: _QueryConstant { get }
}

/// The name that generic code written for RealmSwift has for such types.
public typealias _RealmSchemaDiscoverable = _HasPersistedType

extension _HasPersistedType {
    /// Of collections, which a query asks for their elements.
    public var _queryConstant: _QueryConstant {
        fatalError("a query cannot compare a collection as a whole: '\(Self.self)'; ask for its elements")
    }
}

/// A value that a query compares with. For the library's own use.
public struct _QueryConstant {
    enum Kind {
        case stored(_StoredValue, PropertyType?)
        case object(ObjectBase)
        /// The persisted properties of an unmanaged object: what is stored of a custom type.
        case members(ObjectBase)
    }

    let kind: Kind

    init(_ kind: Kind) { self.kind = kind }
    init(_ stored: _StoredValue, _ type: PropertyType? = nil) { kind = .stored(stored, type) }

    static var null: _QueryConstant { _QueryConstant(.null) }

    /// A value whose type is known to the program alone, such as a bound of a range.
    static func of<Value>(_ value: Value) -> _QueryConstant {
        guard let known = value as? any _HasPersistedType else {
            fatalError("no property can be compared with a value of type \(Value.self)")
        }
        return known._queryConstant
    }
}

/// Plain values of properties and collections, optional or not: what lists of values are asked for.
public protocol _QueryElement: _HasPersistedType {
    var _queryValue: _StoredValue { get }
}

/// Types that `min` and `max` work on: what a value is kept as is one of them.
public protocol MinMaxType {}
/// Types that `sum` and `average` work on: what a value is kept as is one of them.
public protocol AddableType {}
/// Types whose values have an order of their own.
public protocol SortableType {}

extension Optional: MinMaxType where Wrapped: MinMaxType {}
extension Optional: AddableType where Wrapped: AddableType {}
extension Optional: SortableType where Wrapped: SortableType {}

/// An optional, whatever is in it.
public protocol OptionalProtocol: ExpressibleByNilLiteral {
    associatedtype Wrapped
}

extension Optional: OptionalProtocol {}
