/// A type of a property, or of an element of a collection, with the type that files store for it (`PersistedType`).
///
/// The stored type is the type itself for plain values, objects and collections; the type of the raw value for an
/// enumeration; the type that a custom type converts to. Queries compare stored values.
public protocol _HasPersistedType {
    associatedtype PersistedType
    /// The value for comparison by queries.
    var _queryConstant: _QueryConstant { get }
}

/// RealmSwift's name for such types in generic code.
public typealias _RealmSchemaDiscoverable = _HasPersistedType

extension _HasPersistedType {
    /// The default, which only collections use: a query compares their elements instead.
    public var _queryConstant: _QueryConstant {
        fatalError("a query cannot compare a collection as a whole: '\(Self.self)'; ask for its elements")
    }
}

/// A value that a query compares with. For the library's own use.
public struct _QueryConstant {
    enum Kind {
        case stored(_StoredValue, PropertyType?)
        case object(ObjectBase)
        /// The persisted properties of an unmanaged object that stores a custom type.
        case members(ObjectBase)
    }

    let kind: Kind

    init(_ kind: Kind) { self.kind = kind }
    init(_ stored: _StoredValue, _ type: PropertyType? = nil) { kind = .stored(stored, type) }

    static var null: _QueryConstant { _QueryConstant(.null) }

    /// A value whose type is known only at run time, such as a bound of a range.
    static func of<Value>(_ value: Value) -> _QueryConstant {
        guard let known = value as? any _HasPersistedType else {
            fatalError("no property can be compared with a value of type \(Value.self)")
        }
        return known._queryConstant
    }
}

/// A plain value, optional or not, that a query looks for among the elements of a list.
public protocol _QueryElement: _HasPersistedType {
    var _queryValue: _StoredValue { get }
}

/// Types with `min` and `max`, decided by the stored type.
public protocol MinMaxType {}
/// Types with `sum` and `average`, decided by the stored type.
public protocol AddableType {}
/// Types with an order of their own.
public protocol SortableType {}

extension Optional: MinMaxType where Wrapped: MinMaxType {}
extension Optional: AddableType where Wrapped: AddableType {}
extension Optional: SortableType where Wrapped: SortableType {}

/// Any optional.
public protocol OptionalProtocol: ExpressibleByNilLiteral {
    associatedtype Wrapped
}

extension Optional: OptionalProtocol {}
