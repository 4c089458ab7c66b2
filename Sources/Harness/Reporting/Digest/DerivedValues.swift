/// Values that follow from a digest. Each is worked out at its first use, since few reports need all of them, and then
/// kept: several parts of a report use the same.
final class DerivedValues {
    private var values: [String: Any] = [:]

    func value<Value>(_ name: String, _ make: () -> Value) -> Value {
        if let value = values[name] as? Value { return value }
        let value = make()
        values[name] = value
        return value
    }
}

extension RunDigest {
    /// The value of a property of the digest, worked out once.
    func once<Value>(_ property: String = #function, _ make: () -> Value) -> Value { derived.value(property, make) }
}
