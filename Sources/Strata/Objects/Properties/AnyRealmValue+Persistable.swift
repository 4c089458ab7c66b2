import StrataStorage

extension AnyRealmValue: _Scalar {
    public static var _scalarType: PropertyType { .any }
    /// An object has to be managed; until then it counts as none.
    public var _stored: _StoredValue { .bytes(AnyEncoding.encode(self) ?? []) }
    public static func _makeDefault() -> AnyRealmValue { .none }

    /// Objects need a Realm to be found in: see ``_decodeElement(_:_:)``.
    public static func _from(_ value: _StoredValue) -> AnyRealmValue? { decode(value, nil) }

    private static func decode(_ value: _StoredValue, _ instance: RealmInstance?) -> AnyRealmValue? {
        switch value {
        case .null: return AnyRealmValue.none
        case .bytes(let bytes): return bytes.withUnsafeBytes { AnyEncoding.decode($0) { instance?.object(of: $0) } }
        default: return nil
        }
    }

    public static func _load(_ object: ObjectBase, _ offset: Int) -> AnyRealmValue? {
        guard let bytes = object._withBytes(offset, { Array($0) }) else { return nil }
        return decode(.bytes(bytes), object._instance)
    }

    /// The value as a column of `instance` holds it; nil, and the write marked, when its object cannot be linked to.
    private func encoded(in instance: RealmInstance?) -> _StoredValue? {
        if case .object(let object) = self, let instance, instance.linkKey(of: object) == nil { return nil }
        return _stored
    }

    public static func _write(_ object: ObjectBase, _ offset: Int, _ value: AnyRealmValue) {
        if let stored = value.encoded(in: object._instance) { object._store(offset, stored) }
    }

    public static func _storeWrapped(_ value: AnyRealmValue, _ object: ObjectBase, _ offset: Int) {
        _write(object, offset, value)
    }

    public static func _encode(_ value: AnyRealmValue, _ encoder: _RowEncoder, _ column: Int) {
        if case .object(let object) = value, object._frame == nil {
            encoder.put(.bytes([]), column)
            return encoder.postpone(column) { value.encoded(in: $0) }
        }
        encoder.put(value.encoded(in: encoder.instance) ?? .bytes([]), column)
    }

    public static func _encodeWrapped(_ value: AnyRealmValue, _ encoder: _RowEncoder, _ column: Int) {
        _encode(value, encoder, column)
    }

    public static func _addTargets(_ value: AnyRealmValue, _ encoder: _RowEncoder) {
        if case .object(let object) = value { encoder.addTarget(object) }
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

    public func _mapObject(_ convert: (ObjectBase) -> ObjectBase) -> AnyRealmValue {
        guard case .object(let object) = self, let made = convert(object) as? Object else { return self }
        return .object(made)
    }

    public static func _fromAny(_ value: Any?) -> AnyRealmValue? { AnyRealmValue(any: value) }
    public static func _wrappedFromAny(_ value: Any) -> AnyRealmValue? { AnyRealmValue(any: value) }
    /// Whoever reads by name gets what is in it.
    public static func _toAny(_ value: AnyRealmValue) -> Any? { value.content }

    /// Values without an object alone: those need a Realm first.
    public static func _plain(_ value: AnyRealmValue) -> _StoredValue? {
        if case .object = value { return nil }
        return value._stored
    }

    public static func _wrappedPlain(_ value: AnyRealmValue) -> _StoredValue? { _plain(value) }
}

extension AnyRealmValue: Codable {
    /// From null, a boolean, a number or text.
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
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
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
        }
    }
}

extension RealmInstance {
    /// The object that a value leads to; nil when it was deleted, or its class is gone.
    func object(of link: AnyEncoding.Link) -> Object? {
        guard let schema = currentView?.schema, let position = schema.position(of: TableID(link.table)),
            let access = access(named: schema.tables[position].name, typed: true),
            let made = materialize(access, RowKey(link.key)), made._creation == link.creation
        else { return nil }
        return made as? Object
    }
}
