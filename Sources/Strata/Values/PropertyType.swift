/// What a property holds, by the names that Realm uses. Raw values are stored in files and stay for ever.
public enum PropertyType: UInt8, Sendable {
    case int = 0
    case bool = 1
    case string = 2
    case data = 3
    case date = 4
    case float = 5
    case double = 6
    case object = 7
    case linkingObjects = 8
    case any = 9
    case objectId = 10
    case decimal128 = 11
    case UUID = 12

    /// As schemas print it.
    var shownName: String {
        switch self {
        case .any: "mixed"
        case .objectId: "object id"
        case .UUID: "uuid"
        default: "\(self)"
        }
    }
}

/// How many values a property holds. Raw values are stored in files and stay for ever.
public enum _PropertyCollection: UInt8, Sendable {
    case none = 0
    case list = 1
    case set = 2
    case map = 3
}

/// A property's type, without its name.
public struct _PropertyShape: Sendable {
    public var type: PropertyType
    public var collection: _PropertyCollection
    /// Whether the value, or an element of the collection, may be absent.
    public var isOptional: Bool
    /// The class that links lead to.
    public var objectType: ObjectBase.Type?
    /// The program's own type, where every value, or element of the collection, has to be one. A type never changes.
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

    /// The same with an absent value allowed.
    public var optional: Self {
        var copy = self
        copy.isOptional = true
        copy.customType = nil
        return copy
    }
}

/// What happens to the objects that a property leads to when its owner is deleted.
public enum DeleteRule: UInt8, Sendable {
    /// They stay; nothing leads to them from here any more.
    case nullify = 0
    /// They are deleted with the owner, and so are theirs.
    case cascade = 1
    /// Those to which nothing else leads are deleted with the owner.
    case cascadeIfLast = 2
    /// The owner is not deleted while the property leads to anything: the write transaction fails.
    case deny = 3
}
