/// A property's type, without its name.
public struct _PropertyShape: Sendable {
    public var type: PropertyType
    public var collection: _PropertyCollection
    /// Whether the value, or an element of the collection, may be null.
    public var isOptional: Bool
    /// The class of linked objects.
    public var objectType: ObjectBase.Type?
    /// The program's own type of the values or elements, if it declares one. Unsafe but immutable: a metatype has no
    /// state that threads could race for.
    nonisolated(unsafe) var customType: (any FailableCustomPersistable.Type)?

    public init(
        _ type: PropertyType, collection: _PropertyCollection = .none, isOptional: Bool = false,
        objectType: ObjectBase.Type? = nil
    ) {
        self.type = type
        self.collection = collection
        self.isOptional = isOptional
        self.objectType = objectType
    }

    /// A copy of the shape that allows null.
    public var optional: Self {
        var copy = self
        copy.isOptional = true
        copy.customType = nil
        return copy
    }
}

extension ColumnTag {
    init(_ shape: _PropertyShape, isPrimary: Bool) {
        self.init(type: shape.type, collection: shape.collection, isOptional: shape.isOptional, isPrimary: isPrimary)
    }
}
