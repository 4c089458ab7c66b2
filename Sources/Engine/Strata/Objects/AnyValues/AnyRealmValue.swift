import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The value of a property whose type is decided by each value.
///
///     final class Setting: Object { @Persisted var value: AnyRealmValue }
///     setting.value = .int(5)
///     setting.value = .object(person)
///
/// An object in it is stored by its identity: once it is deleted, the property reads `.none`. Inverses and delete rules
/// do not apply to such a property.
///
/// Lists and dictionaries hold values of any type, including lists and dictionaries, nested up to 100 deep:
///
///     setting.value = .fromDictionary(["sizes": .fromArray([.int(1), .int(2)])])
///     setting.value.dictionaryValue?["sizes"]?.listValue?.append(.int(3))
///
/// An assigned collection is copied: the property has its own. When another value replaces a collection, existing
/// references to it become invalidated.
public enum AnyRealmValue: Hashable {
    case none
    case int(Int)
    case bool(Bool)
    case float(Float)
    case double(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case objectId(ObjectId)
    case decimal128(Decimal128)
    case uuid(UUID)
    case object(Object)
    case dictionary(Map<String, AnyRealmValue>)
    case list(List<AnyRealmValue>)

    /// None.
    public init() { self = .none }

    public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var floatValue: Float? { if case .float(let value) = self { value } else { nil } }
    public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
    public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }
    public var objectIdValue: ObjectId? { if case .objectId(let value) = self { value } else { nil } }
    public var decimal128Value: Decimal128? { if case .decimal128(let value) = self { value } else { nil } }
    public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }

    public var dictionaryValue: Map<String, AnyRealmValue>? {
        if case .dictionary(let value) = self { value } else { nil }
    }
    public var listValue: List<AnyRealmValue>? { if case .list(let value) = self { value } else { nil } }

    /// A new unmanaged dictionary.
    public static func fromDictionary(_ dictionary: [String: AnyRealmValue]) -> AnyRealmValue {
        let map = Map<String, AnyRealmValue>()
        for (key, value) in dictionary { map[key] = value }
        return .dictionary(map)
    }

    /// A new unmanaged list.
    public static func fromArray(_ array: [AnyRealmValue]) -> AnyRealmValue { .list(List(array)) }

    /// The object, if it is one of that class.
    public func object<Element: Object>(_ type: Element.Type) -> Element? {
        if case .object(let object) = self { object as? Element } else { nil }
    }

    /// The object, read by the names of its properties, also if the program does not have its class. Nil for an
    /// unmanaged object.
    public var dynamicObject: DynamicObject? {
        if case .object(let object) = self { object._dynamicTwin } else { nil }
    }

    /// The value as its own type; nil for none.
    var content: Any? {
        switch self {
        case .none: nil
        case .int(let value): value
        case .bool(let value): value
        case .float(let value): value
        case .double(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .objectId(let value): value
        case .decimal128(let value): value
        case .uuid(let value): value
        case .object(let value): value
        case .dictionary(let value): value
        case .list(let value): value
        }
    }

    /// A value of one of the cases' types, or a sequence or dictionary of those; nil for others, and for collections
    /// nested too deep. A set is refused: there is no case for it, and as a list it would get an order, and could hold
    /// an element twice.
    /// - Parameter depth: how many collections enclose it.
    init?(any value: Any?, depth: Int = 0) {
        switch _flatten(value) {
        case nil: self = .none
        case let same as AnyRealmValue: self = same
        case let value as Bool where !(value as Any is any BinaryInteger): self = .bool(value)
        case let value as any BinaryInteger:
            guard let integer = Int(exactly: value) else { return nil }
            self = .int(integer)
        case let value as Float: self = .float(value)
        case let value as Double: self = .double(value)
        case let value as String: self = .string(value)
        case let value as Substring: self = .string(String(value))
        case let value as Data: self = .data(value)
        case let value as Date: self = .date(value)
        case let value as ObjectId: self = .objectId(value)
        case let value as Decimal128: self = .decimal128(value)
        case let value as UUID: self = .uuid(value)
        case let value as any PersistableEnum:
            guard let plain = AnyEncoding.value(value._stored) else { return nil }
            self = plain
        case let value?:
            if let made = Self.instance(value) {
                self = made
                return
            }
            guard depth < NestedEncoding.deepest, let made = Self.collection(value, depth + 1) else { return nil }
            self = made
        }
    }

    /// An object, a list or a map, if that is what the value is. A value of no class is not cast: see
    /// ``_instance(in:as:)``.
    private static func instance(_ value: Any) -> AnyRealmValue? {
        guard type(of: value) is AnyObject.Type else { return nil }
        switch value {
        case let object as Object: return .object(object)
        case let list as List<AnyRealmValue>: return .list(list)
        case let map as Map<String, AnyRealmValue>: return .dictionary(map)
        default: return nil
        }
    }

    private static func collection(_ value: Any, _ depth: Int) -> AnyRealmValue? {
        let kind = _instance(in: value, as: (any _ColumnCollection).self).map { type(of: $0)._kind }
        if kind == .set || value is any SetAlgebra { return nil }
        if kind == nil || kind == .map, let entries = ElementConversion.entries(value) {
            let map = Map<String, AnyRealmValue>()
            for (key, value) in entries {
                guard let value = AnyRealmValue(any: value, depth: depth) else { return nil }
                map[key] = value
            }
            return .dictionary(map)
        }
        guard let elements = ElementConversion.elements(value) else { return nil }
        var values: [AnyRealmValue] = []
        for element in elements {
            guard let element = AnyRealmValue(any: element, depth: depth) else { return nil }
            values.append(element)
        }
        return .fromArray(values)
    }

    /// A value hashes as its own type does. All lists share one hash, and so do all dictionaries.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .none: hasher.combine(0)
        case .int(let value): hasher.combine(value)
        case .bool(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .objectId(let value): hasher.combine(value)
        case .decimal128(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        case .dictionary: hasher.combine(1)
        case .list: hasher.combine(2)
        }
    }
}

extension AnyRealmValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .none: "none"
        case .int(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .float(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): value
        case .data(let value): "\(value)"
        case .date(let value): "\(value)"
        case .objectId(let value): "\(value)"
        case .decimal128(let value): "\(value)"
        case .uuid(let value): "\(value)"
        case .object(let value): value._shortDescription
        case .dictionary(let value): value.description
        case .list(let value): value.description
        }
    }
}

/// The bytes of a value of any type. The layout is permanent: docs/file-format-objects.md.
///
/// No bytes for none; else the type (1 byte, as ``PropertyType``) and the value, little-endian.
enum AnyEncoding {
    /// Identity of a managed object: its table, its row key, and the version that created it.
    struct Link: Equatable {
        var table: UInt32
        var key: Int64
        var creation: UInt64
    }

    /// - Parameters:
    ///   - depth: how many collections enclose it.
    ///   - isLinkable: whether an object can be linked to. It may add the object, or record why it cannot.
    /// - Returns: nil for an object that cannot be linked to; an element of a collection is encoded as none instead.
    static func encode(
        _ value: AnyRealmValue, depth: Int = 0, _ isLinkable: (Object) -> Bool = { $0._frame != nil }
    ) -> [UInt8]? {
        switch value {
        case .none: return []
        case .int(let value): return bytes(.int, UInt64(bitPattern: Int64(value)))
        case .bool(let value): return [PropertyType.bool.rawValue, value ? 1 : 0]
        case .float(let value): return bytes(.float, Double(value).bitPattern)
        case .double(let value): return bytes(.double, value.bitPattern)
        case .date(let value): return bytes(.date, value.timeIntervalSinceReferenceDate.bitPattern)
        case .string(let value): return [PropertyType.string.rawValue] + Array(value.utf8)
        case .data(let value): return [PropertyType.data.rawValue] + Array(value)
        case .objectId(let value): return [PropertyType.objectId.rawValue] + value.bytes
        case .decimal128(let value): return [PropertyType.decimal128.rawValue] + value.storedBytes
        case .uuid(let value):
            return [PropertyType.UUID.rawValue] + withUnsafeBytes(of: value.uuid) { Array($0) }
        case .object(let object):
            guard isLinkable(object), object._frame != nil else { return nil }
            var encoded = bytes(.object, UInt64(bitPattern: object._key))
            for place in 0..<8 { encoded.append(UInt8(truncatingIfNeeded: object._creation >> UInt64(8 * place))) }
            let table = object._access.tableID.rawValue
            for place in 0..<4 { encoded.append(UInt8(truncatingIfNeeded: table >> UInt32(8 * place))) }
            return encoded
        case .dictionary, .list:
            return NestedEncoding.encode(value, depth) { encode($0, depth: $1, isLinkable) ?? [] }
        }
    }

    /// The link of a value; nil if it is not a link.
    static func link(_ bytes: UnsafeRawBufferPointer) -> Link? {
        guard bytes.count == 21, bytes[0] == PropertyType.object.rawValue else { return nil }
        return Link(
            table: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 17, as: UInt32.self)),
            key: Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: Int64.self)),
            creation: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 9, as: UInt64.self)))
    }

    private static func bytes(_ type: PropertyType, _ bits: UInt64) -> [UInt8] {
        [type.rawValue] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
    }

    /// Nil if the bytes are not of the layout. Collections are unmanaged copies.
    /// - Parameter find: the object of a link; a link without an object is `.none`.
    static func decode(
        _ bytes: UnsafeRawBufferPointer, depth: Int = 0, find: (Link) -> Object? = { _ in nil }
    ) -> AnyRealmValue? {
        guard let kind = bytes.first else { return AnyRealmValue.none }
        if NestedEncoding.isKeyed(kind) != nil {
            return NestedEncoding.decode(bytes, depth) { decode($0, depth: $1, find: find) }
        }
        guard let type = PropertyType(rawValue: kind) else { return nil }
        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        func bits(_ offset: Int = 0) -> UInt64 {
            UInt64(littleEndian: rest.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        switch type {
        case .int where rest.count == 8: return .int(Int(Int64(bitPattern: bits())))
        case .bool where rest.count == 1: return .bool(rest[0] != 0)
        case .float where rest.count == 8: return .float(Float(Double(bitPattern: bits())))
        case .double where rest.count == 8: return .double(Double(bitPattern: bits()))
        case .date where rest.count == 8:
            return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits())))
        case .string: return .string(String(decoding: rest, as: UTF8.self))
        case .data: return .data(Data(rest))
        case .objectId: return ObjectId(bytes: Array(rest)).map { .objectId($0) }
        case .decimal128 where rest.count == 16: return Decimal128(bytes: rest).map { .decimal128($0) }
        case .UUID where rest.count == 16: return .uuid(UUID(uuid: rest.loadUnaligned(as: uuid_t.self)))
        case .object:
            guard let link = link(bytes) else { return nil }
            return find(link).map { .object($0) } ?? AnyRealmValue.none
        default: return nil
        }
    }

    /// The value as a column of its own type holds it; nil if the bytes are not of the layout. ``AnyComparable`` makes
    /// of it what queries compare.
    static func plain(_ bytes: UnsafeRawBufferPointer) -> _StoredValue? {
        if let link = link(bytes) { return .link(link.key) }
        return decode(bytes).map(plain)
    }

    static func plain(_ value: AnyRealmValue) -> _StoredValue {
        switch value {
        case .none: .null
        case .int(let value): value._stored
        case .bool(let value): value._stored
        case .float(let value): value._stored
        case .double(let value): value._stored
        case .string(let value): value._stored
        case .data(let value): value._stored
        case .date(let value): value._stored
        case .objectId(let value): value._stored
        case .decimal128(let value): value._stored
        case .uuid(let value): value._stored
        case .object(let object): object._frame == nil ? .null : .link(object._key)
        case .dictionary, .list: .bytes(encode(value) ?? [])
        }
    }

    /// The value of an enumeration's raw value.
    static func value(_ stored: _StoredValue) -> AnyRealmValue? {
        switch stored {
        case .integer(let value): .int(Int(value))
        case .double(let value): .double(value)
        case .text(let value): .string(value)
        default: nil
        }
    }
}
