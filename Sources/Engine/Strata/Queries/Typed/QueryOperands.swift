#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension _QueryConstant {
    var expression: Predicate.Expression {
        switch kind {
        case .stored(let value, let type): return .value(.init(value, type))
        case .object(let object): return .object(object)
        case .members(let object): return .members(ObjectMembers(object))
        }
    }
}

extension _Scalar {
    public var _queryConstant: _QueryConstant { _QueryConstant(_stored, Self._scalarType) }
}

extension AnyRealmValue {
    public var _queryConstant: _QueryConstant {
        if case .object(let object) = self { return _QueryConstant(.object(object)) }
        // Marked as of any type, as no other constant is: a comparison with it is refused with a message.
        if listValue != nil || dictionaryValue != nil { return _QueryConstant(.bytes([]), .any) }
        let type = AnyEncoding.encode(self)?.first.flatMap(PropertyType.init(rawValue:))
        return _QueryConstant(AnyEncoding.plain(self), type)
    }
}

extension FailableCustomPersistable {
    /// A value that is stored as an embedded object is compared by the properties of that object.
    public var _queryConstant: _QueryConstant {
        let stored = persistableValue
        if let object = stored as? ObjectBase { return _QueryConstant(.members(object)) }
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

// MARK: What can be asked

/// Types whose values have an order in queries.
public protocol _QueryOrdered {}

/// Types that queries aggregate by minimum, maximum, sum and average.
public protocol _QueryNumeric: _QueryOrdered {}

/// Types that text operators apply to, by their bytes.
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

extension _Scalar {
    public var _queryValue: _StoredValue { _stored }
}

extension FailableCustomPersistable {
    public var _queryValue: _StoredValue { storedConstant ?? .null }
}

extension Optional: _QueryElement where Wrapped: _QueryElement {
    public var _queryValue: _StoredValue { self?._queryValue ?? .null }
}
