#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
    let expression: Predicate.Expression

    init(_ expression: Predicate.Expression) { self.expression = expression }

    init(_ stored: _StoredValue, _ type: PropertyType? = nil) { expression = .value(.init(stored, type)) }

    static var null: _QueryConstant { _QueryConstant(.null) }

    /// A value whose type is known to the program alone, such as a bound of a range.
    static func of<Value>(_ value: Value) -> _QueryConstant {
        guard let known = value as? any _HasPersistedType else {
            fatalError("no property can be compared with a value of type \(Value.self)")
        }
        return known._queryConstant
    }
}

extension _Scalar {
    public var _queryConstant: _QueryConstant { _QueryConstant(_stored, Self._scalarType) }
}

extension AnyRealmValue {
    public var _queryConstant: _QueryConstant {
        if case .object(let object) = self { return _QueryConstant(.object(object)) }
        let type = AnyEncoding.encode(self)?.first.flatMap(PropertyType.init(rawValue:))
        return _QueryConstant(AnyEncoding.plain(self), type)
    }
}

extension FailableCustomPersistable {
    /// One that is stored as an embedded object is compared by the properties of that object.
    public var _queryConstant: _QueryConstant {
        let stored = persistableValue
        if let object = stored as? ObjectBase { return _QueryConstant(.members(ObjectMembers(object))) }
        return stored._queryConstant
    }
}

extension ObjectBase {
    public typealias PersistedType = ObjectBase
    public var _queryConstant: _QueryConstant { _QueryConstant(.object(self)) }
}

extension Optional: _HasPersistedType where Wrapped: _HasPersistedType {
    public typealias PersistedType = Wrapped.PersistedType?
    public var _queryConstant: _QueryConstant { self?._queryConstant ?? .null }
}

extension List { public typealias PersistedType = List }
extension MutableSet { public typealias PersistedType = MutableSet }
extension Map { public typealias PersistedType = Map }
extension LinkingObjects { public typealias PersistedType = LinkingObjects }

/// An optional, whatever is in it.
public protocol OptionalProtocol: ExpressibleByNilLiteral {
    associatedtype Wrapped
}

extension Optional: OptionalProtocol {}

// MARK: What can be asked

/// Types whose values queries put in order.
public protocol _QueryOrdered {}

/// Types that queries take minimum, maximum, sum and average of.
public protocol _QueryNumeric: _QueryOrdered {}

/// Types that text operators work on, by their bytes.
public protocol _QueryBinary: _QueryOrdered {}

/// Text.
public protocol _QueryString: _QueryBinary {}

extension Int: _QueryNumeric {}
extension Int8: _QueryNumeric {}
extension Int16: _QueryNumeric {}
extension Int32: _QueryNumeric {}
extension Int64: _QueryNumeric {}
extension Float: _QueryNumeric {}
extension Double: _QueryNumeric {}
extension Decimal128: _QueryNumeric {}
extension Date: _QueryNumeric {}
extension AnyRealmValue: _QueryNumeric {}
extension Bool: _QueryOrdered {}
extension UUID: _QueryOrdered {}
extension ObjectId: _QueryOrdered {}
extension Data: _QueryBinary {}
extension String: _QueryString {}
extension Optional: _QueryOrdered where Wrapped: _QueryOrdered {}
extension Optional: _QueryNumeric where Wrapped: _QueryNumeric {}
extension Optional: _QueryBinary where Wrapped: _QueryBinary {}
extension Optional: _QueryString where Wrapped: _QueryString {}

/// Plain values of properties and collections, optional or not: what lists of values are asked for.
public protocol _QueryElement: _HasPersistedType {
    var _queryValue: _StoredValue { get }
}

extension _Scalar {
    public var _queryValue: _StoredValue { _stored }
}

extension FailableCustomPersistable {
    public var _queryValue: _StoredValue { storedConstant ?? .null }
}

extension Optional: _QueryElement where Wrapped: _QueryElement {
    public var _queryValue: _StoredValue { self?._queryValue ?? .null }
}
