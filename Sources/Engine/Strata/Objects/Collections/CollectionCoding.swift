extension RealmCollectionValue {
    /// The element in encodable form: a managed object is replaced by a detached copy.
    var encodable: Self {
        _mapObject { $0._frame == nil ? $0 : $0.detached() }
    }
}

extension RealmCollection {
    /// The elements in encodable form.
    /// - Throws: `invalidDatabase` if an element, or its value, cannot be read. Objects that are known to be lost are
    ///   skipped, as in every iteration.
    func encodableElements() throws -> [Element] {
        let instance = _source?.instance ?? _values?.source.column.owner._instance
        guard let instance else { return map(\.encodable) }
        return try instance.failures.collecting { map(\.encodable) }
    }
}

extension List: Decodable where Element: Decodable {
    public convenience init(from decoder: any Decoder) throws { self.init(try [Element](from: decoder)) }
}

extension List: Encodable where Element: Encodable {
    public func encode(to encoder: any Encoder) throws { try encodableElements().encode(to: encoder) }
}

extension MutableSet: Decodable where Element: Decodable {
    public convenience init(from decoder: any Decoder) throws { self.init(try [Element](from: decoder)) }
}

extension MutableSet: Encodable where Element: Encodable {
    public func encode(to encoder: any Encoder) throws { try encodableElements().encode(to: encoder) }
}

extension Map: Decodable where Value: Decodable {
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        for (text, value) in try decoder.singleValueContainer().decode([String: Value].self) {
            guard let key = Key._from(mapKey: text) else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(
                        codingPath: decoder.codingPath, debugDescription: "'\(text)' is not a \(Key.self)"))
            }
            self[key] = value
        }
    }
}

extension Map: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        func encodable() -> [(String, Value)] { map { ($0.key._mapKey, $0.value.encodable) } }
        let entries = try _column?.owner._instance?.failures.collecting(encodable) ?? encodable()
        // An encoder does not convert the keys of a dictionary that is encoded as a single value.
        var container = encoder.singleValueContainer()
        try container.encode(Dictionary(entries, uniquingKeysWith: { $1 }))
    }
}

extension Results: Encodable where Element: Encodable {
    public func encode(to encoder: any Encoder) throws { try encodableElements().encode(to: encoder) }
}

extension LinkingObjects: Encodable where Element: Encodable {
    public func encode(to encoder: any Encoder) throws { try encodableElements().encode(to: encoder) }
}
