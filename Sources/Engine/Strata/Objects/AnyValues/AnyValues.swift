#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension _StoredValue {
    /// A value of any Swift type in the form of a column of `type`; nil if it does not convert to that type. Text
    /// converts to a date (ISO 8601), data (base64), a UUID, an ObjectId and a decimal.
    init?(any value: Any, as type: PropertyType) {
        if let made = Self(content: value, as: type) {
            self = made
            return
        }
        // An enumeration counts as its raw value, a value of a custom persistable type as what that type stores.
        let content: Any? =
            if let enumeration = value as? any PersistableEnum { enumeration.rawValue } else {
                (value as? any FailableCustomPersistable)?.persistableValue
            }
        guard let content, let made = Self(any: content, as: type) else { return nil }
        self = made
    }

    private init?(content value: Any, as type: PropertyType) {
        switch type {
        case .int:
            guard let integer = Self.integer(value) else { return nil }
            self = .integer(integer)
        case .bool:
            if let bool = value as? Bool { self = .integer(bool ? 1 : 0) } else { return nil }
        case .float, .double:
            guard let double = Self.double(value) else { return nil }
            self = .double(type == .float ? Double(Float(double)) : double)
        case .string:
            if let text = value as? String {
                self = .text(text)
            } else if let text = value as? Substring {
                self = .text(String(text))
            } else {
                return nil
            }
        case .date:
            guard let date = value as? Date ?? (value as? String).flatMap(Self.date) else { return nil }
            self = .double(date.timeIntervalSinceReferenceDate)
        case .data:
            if let data = value as? Data {
                self = .bytes(Array(data))
            } else if let bytes = value as? [UInt8] {
                self = .bytes(bytes)
            } else if let data = (value as? String).flatMap({ Data(base64Encoded: $0) }) {
                self = .bytes(Array(data))
            } else {
                return nil
            }
        case .UUID:
            guard let uuid = value as? UUID ?? (value as? String).flatMap({ UUID(uuidString: $0) }) else { return nil }
            self = uuid._stored
        case .objectId:
            guard let id = value as? ObjectId ?? (value as? String).flatMap({ ObjectId(text: $0) }) else { return nil }
            self = id._stored
        case .decimal128:
            guard let decimal = Self.decimal(value) else { return nil }
            self = .decimal(decimal)
        case .any:
            guard let any = AnyRealmValue(any: value) else { return nil }
            self = any._stored
        case .object, .linkingObjects: return nil
        }
    }

    /// A value whose own type determines its storage: an operand of a query.
    init?(constant value: Any?) {
        guard let value = _flatten(value) else {
            self = .null
            return
        }
        if let any = value as? AnyRealmValue {
            self = AnyEncoding.plain(any)
        } else if let custom = value as? any FailableCustomPersistable, let stored = custom.storedConstant {
            self = stored
        } else if let scalar = value as? any _Scalar {
            self = scalar._stored
        } else if let integer = Self.integer(value) {
            self = .integer(integer)
        } else if let double = Self.double(value) {
            self = .double(double)
        } else if let text = value as? Substring {
            self = .text(String(text))
        } else {
            return nil
        }
    }

    private static func decimal(_ value: Any) -> Decimal128? {
        isBool(value) ? nil : Decimal128.converted(value)
    }

    /// ISO 8601, the form of dates in JSON.
    private static func date(_ text: String) -> Date? {
        for style in [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)] {
            do { return try style.parse(text) } catch { continue }
        }
        return nil
    }

    private static func integer(_ value: Any) -> Int64? {
        if type(of: value) == Int.self, let integer = value as? Int { return Int64(integer) }
        if let integer = value as? any BinaryInteger { return Int64(exactly: integer) }
        if isBool(value) { return nil }
        // Foundation's numbers convert to each type that represents them exactly.
        return (value as? Int).map { Int64($0) } ?? (value as? Double).flatMap { Int64(exactly: $0) }
    }

    /// A cast would also accept Foundation's numbers 0 and 1 as booleans.
    private static func isBool(_ value: Any) -> Bool { type(of: value) == Bool.self }

    private static func double(_ value: Any) -> Double? {
        if type(of: value) == Double.self, let double = value as? Double { return double }
        if let double = value as? any BinaryFloatingPoint { return Double(double) }
        if isBool(value) { return nil }
        return (value as? any BinaryInteger).map { Double($0) } ?? value as? Double
    }

    /// The value as the Swift type of dynamic access; nil for null.
    func any(as type: PropertyType) -> Any? {
        switch (type, self) {
        case (_, .null): return nil
        case (.bool, .integer(let value)): return value != 0
        case (.int, .integer(let value)): return Int(value)
        case (.float, .double(let value)): return Float(value)
        case (.double, .double(let value)): return value
        case (.date, .double(let value)): return Date(timeIntervalSinceReferenceDate: value)
        case (.string, .text(let value)): return value
        case (.string, .bytes(let value)): return String(decoding: value, as: UTF8.self)
        case (.data, .bytes(let value)): return Data(value)
        case (.UUID, _): return UUID._from(self)
        case (.objectId, _): return ObjectId._from(self)
        case (.decimal128, _): return Decimal128._from(self)
        default: return nil
        }
    }
}

/// Sequences that must not be iterated to the end.
protocol EndlessSequence {}

extension PartialRangeFrom: EndlessSequence {}

/// The object in a value of any type.
func _object(in value: Any?) -> ObjectBase? { _instance(in: value, as: ObjectBase.self) }
