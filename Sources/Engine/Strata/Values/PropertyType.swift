/// The type of a property's values, by Realm's names. Raw values are stored in files and permanent.
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

/// The kind of a property's collection. Raw values are stored in files and permanent.
public enum _PropertyCollection: UInt8, Sendable {
    case none = 0
    case list = 1
    case set = 2
    case map = 3
}

/// What the deletion of an object does to the objects that its property links to.
public enum DeleteRule: UInt8, Sendable {
    /// Only the links are removed.
    case nullify = 0
    /// The linked objects are deleted with the owner, and their own delete rules apply.
    case cascade = 1
    /// Those of the linked objects that no other object links to are deleted with the owner.
    case cascadeIfLast = 2
    /// The owner cannot be deleted while the property links to an object: the write transaction fails.
    case deny = 3
}
