/// What queries need to know of a collection whose elements have keys. For the library's own use.
public protocol _KeyedCollection: ThreadConfined {
    associatedtype Key: _MapKey
    associatedtype Value: RealmCollectionValue
}

extension Map: _KeyedCollection {}
