/// A collection whose elements have keys.
public protocol RealmKeyedCollection: Sequence {
    associatedtype Key: _MapKey
    associatedtype Value: RealmCollectionValue
}

extension Map: RealmKeyedCollection {}
