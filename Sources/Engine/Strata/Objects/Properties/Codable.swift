/// Classes may adopt `Codable`; the compiler synthesizes the rest:
///
///     final class Dog: Object, Codable { @Persisted var name = "" }
///     let dog = try JSONDecoder().decode(Dog.self, from: json)
///     try realm.write { realm.add(dog) }
///     let data = try JSONEncoder().encode(dog.detached())
///
/// A wrapper that is encoded does not know its object, so a managed object cannot be encoded itself: encode a detached
/// copy. Collections and results make a copy of each element themselves.
extension Persisted: Decodable where Value: Decodable {
    /// Decodes through a container, which applies the decoder's strategies for dates, data and keys.
    public init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
    }
}

extension Persisted: Encodable where Value: Encodable {
    /// - Throws: `EncodingError` for a managed object.
    public func encode(to encoder: any Encoder) throws {
        guard options & PersistedOptions.managed == 0 else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "a managed object is encoded by a copy of its values: encode object.detached()"))
        }
        var container = encoder.singleValueContainer()
        try container.encode(value ?? Value._makeInitial())
    }
}

extension KeyedDecodingContainer {
    /// A missing key leaves an optional property nil.
    public func decode<Value>(_ type: Persisted<Value>.Type, forKey key: Key) throws -> Persisted<Value>
    where Value: Decodable & ExpressibleByNilLiteral {
        Persisted(wrappedValue: try decodeIfPresent(Value.self, forKey: key) ?? nil)
    }

    /// A missing key leaves a collection empty.
    public func decode<Value>(_ type: Persisted<Value>.Type, forKey key: Key) throws -> Persisted<Value>
    where Value: Decodable & _ColumnCollection {
        Persisted(wrappedValue: try decodeIfPresent(Value.self, forKey: key) ?? Value())
    }
}
