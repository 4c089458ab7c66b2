import Dispatch

/// A collection whose elements have keys, for generic code over maps.
public protocol RealmKeyedCollection: _KeyedCollection, Sequence, CustomStringConvertible {
    var count: Int { get }
    var isEmpty: Bool { get }
    var isFrozen: Bool { get }
    var keys: [Key] { get }
    var values: [Value] { get }
    subscript(key: Key) -> Value? { get set }

    @discardableResult
    func updateValue(_ value: Value, forKey key: Key) -> Value?
    func removeObject(for key: Key)
    func removeAll()
    func value(forKey key: String) -> Any?
    func setValue(_ value: Any?, forKey key: String)

    func filter(_ format: String, argumentArray: [Any?]?) -> Results<Value>
    func sorted(byKeyPath keyPath: String, ascending: Bool) -> Results<Value>
    func sorted<Descriptors: Sequence<SortDescriptor>>(by descriptors: Descriptors) -> Results<Value>
    func min<Number: _HasPersistedType>(ofProperty property: String) -> Number? where Number.PersistedType: MinMaxType
    func max<Number: _HasPersistedType>(ofProperty property: String) -> Number? where Number.PersistedType: MinMaxType
    func sum<Number: _HasPersistedType>(ofProperty property: String) -> Number where Number.PersistedType: AddableType
    func average<Number: _HasPersistedType>(ofProperty property: String) -> Number?
    where Number.PersistedType: AddableType

    func observe(
        keyPaths: [String]?, on queue: DispatchQueue?, _ block: @escaping (RealmMapChange<Self>) -> Void
    ) -> NotificationToken
    func freeze() -> Self
    func thaw() -> Self?
}

extension RealmKeyedCollection {
    /// As ``observe(keyPaths:on:_:)``, for generic code.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths, on: queue, block)
    }

    /// As ``filter(_:argumentArray:)``, for generic code.
    public func filter(_ format: String, _ arguments: Any?...) -> Results<Value> {
        filter(format, argumentArray: arguments)
    }
}

extension Map: RealmKeyedCollection {}

/// A change of a map.
public enum RealmMapChange<Collection: RealmKeyedCollection> {
    /// The first notification.
    case initial(Collection)
    /// Keys in order: deleted ones, new ones, and those whose value was replaced or changed.
    case update(
        Collection, deletions: [Collection.Key], insertions: [Collection.Key], modifications: [Collection.Key])
    case error(any Error)
}
