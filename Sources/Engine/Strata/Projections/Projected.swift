/// A property of a ``Projection``: a property of the object behind it, or a value that a key path derives from one.
///
///     @Projected(\Person.firstName) var firstName
///     @Projected(\Person.address?.city) var homeCity
///     @Projected(\Person.friends.projectTo.firstName) var friendNames: ProjectedCollection<String>
@propertyWrapper
public struct Projected<Root: ObjectBase, Value> {
    fileprivate let keyPath: KeyPath<Root, Value>

    public init(_ projectedKeyPath: KeyPath<Root, Value>) { keyPath = projectedKeyPath }

    /// Unavailable: a property of a projection is read through the static subscript.
    @available(*, unavailable, message: "@Projected works in subclasses of Projection only")
    public var wrappedValue: Value {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    /// Assigning writes to the object, if the key path ends at a writable property.
    public static subscript<Owner: Projection<Root>>(
        _enclosingInstance projection: Owner,
        wrapped _: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        get { projection.rootObject[keyPath: projection[keyPath: storage].keyPath] }
        set {
            guard let keyPath = projection[keyPath: storage].keyPath as? ReferenceWritableKeyPath<Root, Value> else {
                fatalError("a property that follows from others cannot be written: change what it is projected from")
            }
            projection.rootObject[keyPath: keyPath] = newValue
        }
    }
}

/// A projected property of unknown types.
protocol ProjectedField {
    /// The key path, from the projected class.
    var anyKeyPath: AnyKeyPath { get }
    var holdsCollection: Bool { get }
}

extension Projected: ProjectedField {
    var anyKeyPath: AnyKeyPath { keyPath }
    var holdsCollection: Bool { Value.self is any ProjectedElements.Type }
}
