import StrataStorage

extension AnyRealmValue: _Scalar {
    public static var _scalarType: PropertyType { .any }
    /// The value as a column stores it without a Realm: null for an unmanaged object, which has no identity yet, and
    /// for collections that are nested too deep.
    public var _stored: _StoredValue {
        .bytes(NestedEncoding.isTooDeep(self) ? [] : AnyEncoding.encode(self) ?? [])
    }
    public static func _makeDefault() -> AnyRealmValue { .none }

    /// A link becomes `.none` here, because its object is found in a Realm only: see ``_decodeElement(_:_:)``.
    public static func _from(_ value: _StoredValue) -> AnyRealmValue? { decode(value, nil) }

    private static func decode(_ value: _StoredValue, _ instance: RealmInstance?) -> AnyRealmValue? {
        switch value {
        case .null: return AnyRealmValue.none
        case .bytes(let bytes):
            return bytes.withUnsafeBytes { AnyEncoding.decode($0, find: { instance?.object(of: $0) }) }
        default: return nil
        }
    }

    public static func _load(_ object: ObjectBase, _ offset: Int) -> AnyRealmValue? {
        guard let bytes = object._withBytes(offset, beginning(of:)) else { return nil }
        if let isKeyed = NestedEncoding.isKeyed(bytes.first) {
            return own(isKeyed, object, object._access.position(ofOffset: offset))
        }
        return decode(.bytes(bytes), object._instance)
    }

    /// A copy of a stored value; of a collection the first byte alone, which says whether it is a list or a map.
    static func beginning(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        NestedEncoding.isKeyed(bytes.first) == nil ? Array(bytes) : Array(bytes.prefix(1))
    }

    /// The value as a column of `instance` stores it; unmanaged objects in it are added. Nil, with the write failed, if
    /// an object cannot be linked to, or collections are nested too deep.
    func encoded(in instance: RealmInstance?) -> _StoredValue? {
        guard let instance else { return _stored }
        if NestedEncoding.isTooDeep(self) {
            instance.fail(NestedEncoding.tooDeep("a value of any type"))
            return nil
        }
        var isRight = true
        let bytes = AnyEncoding.encode(self) { object in
            if instance.linkKey(of: object) == nil { isRight = false }
            return isRight
        }
        return isRight ? .bytes(bytes ?? []) : nil
    }

    /// Whether it contains an unmanaged object, which must be added before the value can be encoded.
    private var waits: Bool { _elementObjects.contains { $0._frame == nil } }

    public static func _write(_ object: ObjectBase, _ offset: Int, _ value: AnyRealmValue) {
        if let stored = value.encoded(in: object._instance) { object._store(offset, stored) }
    }

    public static func _storeWrapped(_ value: AnyRealmValue, _ object: ObjectBase, _ offset: Int) {
        _write(object, offset, value)
    }

    public static func _encode(_ value: AnyRealmValue, _ encoder: _RowEncoder, _ column: Int) {
        if value.waits {
            encoder.put(.bytes([]), column)
            return encoder.postpone(column) { value.encoded(in: $0) }
        }
        encoder.put(value.encoded(in: encoder.instance) ?? .bytes([]), column)
    }

    public static func _encodeWrapped(_ value: AnyRealmValue, _ encoder: _RowEncoder, _ column: Int) {
        _encode(value, encoder, column)
    }

    public static func _addTargets(_ value: AnyRealmValue, _ encoder: _RowEncoder) {
        for object in value._elementObjects { encoder.addTarget(object) }
    }

    public static func _addWrapped(_ value: AnyRealmValue, _ encoder: _RowEncoder) { _addTargets(value, encoder) }

    public static func _bind(_ value: inout AnyRealmValue?, _ object: ObjectBase, _ offset: Int) { value = nil }
    public static var _releasesWhenManaged: Bool { true }

    public static func _decodeElement(_ value: _StoredValue, _ context: _ElementContext) -> AnyRealmValue? {
        decode(value, context.instance)
    }

    public func _encodeElement(_ context: _ElementContext) -> _StoredValue {
        encoded(in: context.instance) ?? .bytes([])
    }

    public var _elementObject: ObjectBase? { if case .object(let object) = self { object } else { nil } }

    /// All objects, including those in unmanaged collections; none if collections are nested too deep.
    public var _elementObjects: [ObjectBase] {
        if NestedEncoding.isTooDeep(self) { return [] }
        switch self {
        case .object(let object): return [object]
        case .list(let list): return list._column == nil ? list._unmanagedObjects : []
        case .dictionary(let map): return map._column == nil ? map._unmanagedObjects : []
        default: return []
        }
    }

    /// The same value with its objects replaced; its collections are copied to unmanaged ones. A value whose
    /// collections are nested too deep, such as a list that contains itself, is returned unchanged.
    public func _mapObject(_ convert: (ObjectBase) -> ObjectBase) -> AnyRealmValue {
        NestedEncoding.isTooDeep(self) ? self : mapped(convert)
    }

    private func mapped(_ convert: (ObjectBase) -> ObjectBase) -> AnyRealmValue {
        switch self {
        case .object(let object): return (convert(object) as? Object).map { .object($0) } ?? self
        case .list(let list): return .fromArray(list.map { $0.mapped(convert) })
        case .dictionary(let map):
            return .fromDictionary(Dictionary(map.map { ($0.key, $0.value.mapped(convert)) }, uniquingKeysWith: { $1 }))
        default: return self
        }
    }

    public static func _fromAny(_ value: Any?) -> AnyRealmValue? { AnyRealmValue(any: value) }
    public static func _wrappedFromAny(_ value: Any) -> AnyRealmValue? { AnyRealmValue(any: value) }
    /// Access by name returns the content.
    public static func _toAny(_ value: AnyRealmValue) -> Any? { value.content }

    /// Nil for an object, and for a collection that contains an unmanaged object: these can be stored in a Realm only.
    public static func _plain(_ value: AnyRealmValue) -> _StoredValue? {
        if case .object = value { return nil }
        return value.waits ? nil : value._stored
    }

    public static func _wrappedPlain(_ value: AnyRealmValue) -> _StoredValue? { _plain(value) }
}

extension AnyRealmValue: Codable {
    /// Deepest decoded nesting: each level takes stack.
    private static var mostDecoded: Int { NestedEncoding.deepest }

    /// From null, a boolean, a number, text, a list of such values, or a dictionary of them.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .none
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if decoder.codingPath.count > Self.mostDecoded {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "more than \(Self.mostDecoded) lists and dictionaries inside one another")
        } else if let values = try? container.decode([AnyRealmValue].self) {
            self = .fromArray(values)
        } else {
            self = .fromDictionary(try container.decode([String: AnyRealmValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        if NestedEncoding.isTooDeep(self) {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath, debugDescription: NestedEncoding.tooDeep("the value").message))
        }
        var container = encoder.singleValueContainer()
        switch self {
        case .none: try container.encodeNil()
        case .int(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .float(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .objectId(let value): try container.encode(value)
        case .decimal128(let value): try container.encode(value)
        case .uuid(let value): try container.encode(value)
        case .object(let object):
            guard let value = object as? any Encodable else {
                throw EncodingError.invalidValue(
                    object,
                    EncodingError.Context(
                        codingPath: encoder.codingPath, debugDescription: "\(type(of: object)) is not Encodable"))
            }
            try container.encode(value)
        case .list(let list): try container.encode(list)
        case .dictionary(let map): try container.encode(map)
        }
    }
}

extension RealmInstance {
    /// The object of a link; nil if it was deleted or cannot be read, or the file lacks its class.
    func object(of link: AnyEncoding.Link) -> Object? {
        guard let schema = currentView?.schema, let position = schema.position(of: TableID(link.table)),
            let access = access(named: schema.tables[position].name, typed: !isMigration),
            let made = materialize(access, RowKey(link.key)), made._creation == link.creation
        else { return nil }
        return made as? Object
    }
}
