/// Field types that a new row reads directly from an object's memory; others are encoded by their own code.
enum FieldCode: UInt8 {
    case int, optionalInt, double, optionalDouble, bool, string, optionalString
    /// A single word that is a reference or empty.
    case link, collection
    case other

    init(_ field: PlanField) {
        switch ObjectIdentifier(field.field) {
        case ObjectIdentifier(Persisted<Int>.self): self = .int
        case ObjectIdentifier(Persisted<Int?>.self): self = .optionalInt
        case ObjectIdentifier(Persisted<Double>.self): self = .double
        case ObjectIdentifier(Persisted<Double?>.self): self = .optionalDouble
        case ObjectIdentifier(Persisted<Bool>.self): self = .bool
        case ObjectIdentifier(Persisted<String>.self): self = .string
        case ObjectIdentifier(Persisted<String?>.self): self = .optionalString
        default: self = field.isReference ? (field.shape.collection == .none ? .link : .collection) : .other
        }
    }
}

extension PlanField {
    /// Whether the field is a single word: a collection, or a link.
    var isReference: Bool {
        let isLink = shape.type == .object && shape.collection == .none
        return (isLink || shape.collection != .none) && field.valueSize == MemoryLayout<UInt>.size
    }
}

/// Encoding of a class's field. Trivial, so that the loop over a class's fields counts no references.
struct FieldEncoding {
    let code: FieldCode
    let offset: Int32
    let column: Int32
    /// Position in the plan's fields.
    let field: Int32
}
