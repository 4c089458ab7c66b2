/// Finds what a class's fields are without searching all conformances of the program.
///
/// A cast to a protocol searches them once for each type, and each `Persisted<Value>` is another type. In the first
/// open of a process these searches would take longer than all else that a class's plan needs. The conformance of
/// ``Persisted`` depends on no value type, so all its types have one table of witnesses.
enum FieldTypes {
    /// A metatype of a protocol as the compiler passes it.
    private struct Words {
        let type: UnsafeRawPointer
        let witnesses: UnsafeRawPointer
    }

    /// The type as a field; nil for a field that is not persisted.
    static func field(_ type: Any.Type) -> (any PersistedField.Type)? {
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        guard let persisted, descriptor(metadata) == persisted.descriptor else {
            return type as? any PersistedField.Type
        }
        return unsafeBitCast(
            Words(type: metadata, witnesses: persisted.witnesses), to: (any PersistedField.Type).self)
    }

    /// The descriptor and the table of witnesses that all types `Persisted<Value>` share; nil if a trial shows that
    /// they do not, so that each is cast. Immutable: pointers to constants of the program.
    private nonisolated(unsafe) static let persisted: (descriptor: UnsafeRawPointer, witnesses: UnsafeRawPointer)? = {
        guard MemoryLayout<any PersistedField.Type>.size == MemoryLayout<Words>.size else { return nil }
        let some: [any PersistedField.Type] = [Persisted<Int>.self, Persisted<String?>.self, Persisted<Bool>.self]
        // Read from memory, because passing one of them to a function would pass the type without its witnesses.
        let words = some.withUnsafeBytes { Array($0.bindMemory(to: Words.self)) }
        guard let first = words.first, let shared = descriptor(first.type),
            words.allSatisfy({ $0.witnesses == first.witnesses && descriptor($0.type) == shared })
        else { return nil }
        return (shared, first.witnesses)
    }()

    /// The descriptor that all instances of a generic struct share; nil for types of other kinds.
    private static func descriptor(_ metadata: UnsafeRawPointer) -> UnsafeRawPointer? {
        let structKind = 0x200
        guard metadata.load(as: Int.self) == structKind else { return nil }
        return metadata.load(fromByteOffset: 8, as: UnsafeRawPointer?.self)
    }
}
