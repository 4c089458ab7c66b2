/// The types of fields that ``_RowEncoder`` reads directly from the memory of an object that is added. A field of any
/// other type (`other`) is encoded by a call of its `PersistedField`.
enum FieldCode: UInt8 {
    case int, optionalInt, double, optionalDouble, bool, string, optionalString
    /// The field is a single word: a reference, or a small number for none. Its `PersistedField` is called for a
    /// reference.
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
    /// Whether the field is a single word: a collection, or a link. Not a value of a custom type that is stored as an
    /// object: it may take one word, too, and its word may be any number.
    var isReference: Bool {
        (field.isLink || shape.collection != .none) && field.valueSize == MemoryLayout<UInt>.size
    }
}

/// How a field of an added object becomes a cell of its row. It contains no reference, so the loop over a class's
/// fields retains and releases nothing.
struct FieldEncoding {
    let code: FieldCode
    let offset: Int32
    let column: Int32
    /// Position in the plan's fields.
    let field: Int32
}
