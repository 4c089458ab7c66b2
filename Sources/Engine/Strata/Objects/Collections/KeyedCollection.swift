/// A collection whose elements have keys, for queries. For the library's own use.
public protocol _KeyedCollection: ThreadConfined {
    associatedtype Key: _MapKey
    associatedtype Value: RealmCollectionValue
}

extension Map: _KeyedCollection {}
