import StrataStorage

/// How given values get into the fields of a new object of a class. The table is made once per class, so that `create`
/// costs a look-up and a cast for each value.
///
/// Invariant: ``set(_:at:of:)`` either sets a field to what the property would be if the value were assigned to the
/// managed object, or leaves the field unchanged and returns that.
final class FieldSetters {
    enum Way: UInt8 {
        /// Fields whose memory is written directly; see ``FieldCode``.
        case int, optionalInt, double, optionalDouble, bool, string, optionalString
        /// Other plain properties: the property's type converts the value.
        case converted
        /// A collection of plain values.
        case plainCollection
        /// A value of any type, which may be an object.
        case any
        /// A link to an object.
        case link
        /// What is assigned once the object has its row: objects in collections, and custom types that are stored as
        /// objects.
        case owned
        /// Linking objects: they follow from the links of other objects, so a given value is ignored.
        case computed
        /// A property for which the file has no column.
        case missing
    }

    /// Contains no reference, so that a look-up retains and releases nothing.
    struct Setter {
        let way: Way
        let offset: Int
        let field: any PersistedField.Type
    }

    enum Outcome {
        case set
        /// The value is assigned once the object has its row.
        case later
        /// The value does not fit.
        case refused
    }

    /// In the order of the class's properties.
    private let setters: [Setter]
    private let names: NamePlaces
    private let positions: [String: Int]

    init(_ plan: ClassPlan, _ properties: [BoundProperty], _ positions: [String: Int]) {
        setters = zip(plan.fields, properties).map { field, property in
            Setter(way: Way(field, property), offset: field.offset, field: field.field)
        }
        names = NamePlaces(plan.fields.map(\.name))
        self.positions = positions
    }

    @inline(__always)
    subscript(place: Int) -> Setter { setters[place] }

    var count: Int { setters.count }

    // MARK: Names

    /// The place of a property by its name; nil if there is none.
    func place(of name: String) -> Int? {
        var name = name
        if let found = name.withUTF8({ names.place(of: UnsafeRawBufferPointer($0)) }) { return found }
        if names.isASCII, name.utf8.allSatisfy({ $0 < 0x80 }) { return nil }
        return positions[name]
    }

    /// The place of a property by its name in UTF-8; nil if there is none.
    func place(ofUTF8 name: UnsafeRawBufferPointer) -> Int? {
        if let found = names.place(of: name) { return found }
        if names.isASCII, name.allSatisfy({ $0 < 0x80 }) { return nil }
        return positions[String(decoding: name, as: UTF8.self)]
    }

    // MARK: Values

    /// Sets a field of an unmanaged object.
    @inline(__always)
    func set(_ value: Any, at place: Int, of object: ObjectBase) -> Outcome {
        let setter = setters[place]
        let field = object._field(setter.offset)
        func opened<Given>(_ value: Given) -> Bool { Self.setDirectly(value, setter.way, field) }
        if _openExistential(value, do: opened) { return .set }
        return Self.convert(value, setter, field)
    }

    /// Sets a field by writing its memory, if its type is that of the value. A comparison of types costs less than a
    /// cast.
    /// - Returns: false, without a change, for other fields and for values of another type.
    private static func setDirectly<Given>(_ value: Given, _ way: Way, _ field: UnsafeMutableRawPointer) -> Bool {
        switch way {
        case .int where Given.self == Int.self:
            field.assumingMemoryBound(to: Int?.self).pointee = known(value, as: Int.self)
        case .optionalInt where Given.self == Int.self:
            field.assumingMemoryBound(to: Int??.self).pointee = known(value, as: Int.self)
        case .double where Given.self == Double.self:
            field.assumingMemoryBound(to: Double?.self).pointee = known(value, as: Double.self)
        case .optionalDouble where Given.self == Double.self:
            field.assumingMemoryBound(to: Double??.self).pointee = known(value, as: Double.self)
        case .double where Given.self == Int.self:
            field.assumingMemoryBound(to: Double?.self).pointee = Double(known(value, as: Int.self))
        case .optionalDouble where Given.self == Int.self:
            field.assumingMemoryBound(to: Double??.self).pointee = Double(known(value, as: Int.self))
        case .bool where Given.self == Bool.self:
            field.assumingMemoryBound(to: Bool?.self).pointee = known(value, as: Bool.self)
        case .string where Given.self == String.self:
            field.assumingMemoryBound(to: String?.self).pointee = known(value, as: String.self)
        case .optionalString where Given.self == String.self:
            field.assumingMemoryBound(to: String??.self).pointee = known(value, as: String.self)
        default: return false
        }
        return true
    }

    /// A value whose type is known to be `Known`.
    @inline(__always)
    private static func known<Given, Known>(_ value: Given, as type: Known.Type) -> Known {
        withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: Known.self).pointee }
    }

    @inline(never)
    private static func convert(_ value: Any, _ setter: Setter, _ field: UnsafeMutableRawPointer) -> Outcome {
        switch setter.way {
        case .int, .optionalInt, .double, .optionalDouble, .bool, .string, .optionalString, .converted:
            return setter.field.setAny(field, value) ? .set : .refused
        case .plainCollection:
            // A `List`, `Map` or set of the program must not itself become the new object's collection.
            guard isPlainCollection(value) else { return .later }
            return setter.field.setAny(field, value) ? .set : .refused
        case .any:
            guard isPlain(value) || _flatten(value) == nil else { return .later }
            return setter.field.setAny(field, value) ? .set : .later
        case .link:
            if _flatten(value) != nil { return .later }
            return setter.field.setAny(field, nil) ? .set : .later
        case .owned: return .later
        case .computed: return .set
        case .missing: return .refused
        }
    }

    private static func isPlain(_ value: Any) -> Bool {
        let kind = type(of: value)
        return kind == String.self || kind == Int.self || kind == Double.self || kind == Bool.self || kind == Int64.self
    }

    private static func isPlainCollection(_ value: Any) -> Bool {
        let kind = type(of: value)
        return kind == [Any].self || kind == [String: Any].self || kind == [String].self || kind == [Int].self
            || kind == [Double].self
    }
}

extension FieldSetters.Way {
    init(_ field: PlanField, _ property: BoundProperty) {
        if !field.isStored {
            self = .computed
        } else if property.column == Int(ColumnSlot.none) {
            self = .missing
        } else if field.shape.type == .object {
            self = field.shape.collection == .none && field.shape.customType == nil ? .link : .owned
        } else if field.shape.type == .any {
            self = field.shape.collection == .none ? .any : .owned
        } else if field.shape.collection != .none {
            self = .plainCollection
        } else {
            self = Self.direct(FieldCode(field))
        }
    }

    private static func direct(_ code: FieldCode) -> Self {
        switch code {
        case .int: .int
        case .optionalInt: .optionalInt
        case .double: .double
        case .optionalDouble: .optionalDouble
        case .bool: .bool
        case .string: .string
        case .optionalString: .optionalString
        case .link, .collection, .other: .converted
        }
    }
}
