import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The integer types: all are stored as 64 bits.
public protocol _PersistableInteger: _Scalar, FixedWidthInteger {}

extension _PersistableInteger {
    public static var _scalarType: PropertyType { .int }
    @inlinable public var _stored: _StoredValue { .integer(Int64(truncatingIfNeeded: self)) }
    public static func _makeDefault() -> Self { 0 }

    @inlinable
    public static func _from(_ value: _StoredValue) -> Self? {
        switch value {
        case .integer(let integer): return Self(exactly: integer)
        case .double(let double): return Self(exactly: double)
        default: return nil
        }
    }

    @inlinable @inline(__always)
    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? {
        guard let value = object._loadInteger(offset) else { return nil }
        return Self(truncatingIfNeeded: value)
    }
}

extension Int: _PersistableInteger {}
extension Int8: _PersistableInteger {}
extension Int16: _PersistableInteger {}
extension Int32: _PersistableInteger {}
extension Int64: _PersistableInteger {}

extension Bool: _Scalar {
    public static var _scalarType: PropertyType { .bool }
    public var _stored: _StoredValue { .integer(self ? 1 : 0) }
    public static func _makeDefault() -> Self { false }

    public static func _from(_ value: _StoredValue) -> Self? {
        if case .integer(let integer) = value { return integer != 0 }
        return nil
    }

    @inlinable @inline(__always)
    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? {
        object._loadInteger(offset).map { $0 != 0 }
    }
}

extension Double: _Scalar {
    public static var _scalarType: PropertyType { .double }
    public var _stored: _StoredValue { .double(self) }
    public static func _makeDefault() -> Self { 0 }
    public static func _from(_ value: _StoredValue) -> Self? { value.number }

    @inlinable @inline(__always)
    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? { object._loadDouble(offset) }
}

extension Float: _Scalar {
    public static var _scalarType: PropertyType { .float }
    public var _stored: _StoredValue { .double(Double(self)) }
    public static func _makeDefault() -> Self { 0 }
    public static func _from(_ value: _StoredValue) -> Self? { value.number.map { Float($0) } }

    @inlinable @inline(__always)
    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? {
        object._loadDouble(offset).map { Float($0) }
    }
}

extension Date: _Scalar {
    public static var _scalarType: PropertyType { .date }
    public var _stored: _StoredValue { .double(timeIntervalSinceReferenceDate) }
    public static func _makeDefault() -> Self { Date(timeIntervalSince1970: 0) }
    public static func _makeInitial() -> Self { Date() }

    public static func _from(_ value: _StoredValue) -> Self? {
        value.number.map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? {
        object._loadDouble(offset).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
}

extension String: _Scalar {
    public static var _scalarType: PropertyType { .string }
    public var _stored: _StoredValue { .text(self) }
    public static func _makeDefault() -> Self { "" }

    public static func _from(_ value: _StoredValue) -> Self? {
        switch value {
        case .text(let text): return text
        case .bytes(let bytes): return String(decoding: bytes, as: UTF8.self)
        default: return nil
        }
    }

    @inlinable @inline(__always)
    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? { object._loadString(offset) }
}

extension Data: _Scalar {
    public static var _scalarType: PropertyType { .data }
    public var _stored: _StoredValue { .bytes(Array(self)) }
    public static func _makeDefault() -> Self { Data() }

    public static func _from(_ value: _StoredValue) -> Self? {
        if case .bytes(let bytes) = value { return Data(bytes) }
        return nil
    }

    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? {
        object._withBytes(offset) { Data($0) }
    }
}

extension UUID: _Scalar {
    public static var _scalarType: PropertyType { .UUID }
    public static func _makeDefault() -> Self { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    public static func _makeInitial() -> Self { UUID() }
    public var _stored: _StoredValue { .bytes(withUnsafeBytes(of: uuid) { Array($0) }) }

    public static func _from(_ value: _StoredValue) -> Self? {
        guard case .bytes(let bytes) = value, bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? {
        object._withBytes(offset) { $0.count == 16 ? UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) : nil } ?? nil
    }
}

extension ObjectId: _Scalar {
    public static var _scalarType: PropertyType { .objectId }
    public var _stored: _StoredValue { .bytes(bytes) }
    public static func _makeDefault() -> Self { ObjectId() }
    public static func _makeInitial() -> Self { ObjectId.generate() }

    public static func _from(_ value: _StoredValue) -> Self? {
        if case .bytes(let bytes) = value { return ObjectId(bytes: bytes) }
        return nil
    }

    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? {
        object._withBytes(offset) { ObjectId(bytes: Array($0)) } ?? nil
    }
}

/// An enumeration that is stored as its raw value.
///
///     enum Gender: String, PersistableEnum { case female, male }
///     final class Person: Object { @Persisted var gender = Gender.female }
///
/// Cases are ordered by their raw values.
public protocol PersistableEnum: RawRepresentable, CaseIterable, RealmOptionalType, _Scalar, MinMaxType, Comparable
where RawValue: _Scalar & Comparable {
    associatedtype PersistedType = RawValue
}

/// The earlier name of ``PersistableEnum`` for enumerations of integers.
public typealias RealmEnum = PersistableEnum

extension PersistableEnum {
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    public static var _scalarType: PropertyType { RawValue._scalarType }
    public var _stored: _StoredValue { rawValue._stored }
    public static func _from(_ value: _StoredValue) -> Self? { RawValue._from(value).flatMap { Self(rawValue: $0) } }

    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? {
        RawValue._load(object, offset).flatMap { Self(rawValue: $0) }
    }

    public static func _makeDefault() -> Self {
        guard let first = allCases.first else { fatalError("\(Self.self) has no case to start from") }
        return first
    }
}

extension Decimal128: _Scalar {
    public static var _scalarType: PropertyType { .decimal128 }
    public var _stored: _StoredValue { .decimal(self) }
    public static func _makeDefault() -> Decimal128 { Decimal128() }

    public static func _from(_ value: _StoredValue) -> Decimal128? {
        switch value {
        case .decimal(let decimal): return decimal
        case .integer(let integer): return Decimal128(integer)
        case .double(let double): return Decimal128(double)
        case .bytes(let bytes): return bytes.withUnsafeBytes { Decimal128(bytes: $0) }
        default: return nil
        }
    }

    public static func _load(_ object: ObjectBase, _ offset: Int) -> Decimal128? {
        object._withBytes(offset) { Decimal128(bytes: $0) } ?? nil
    }
}
