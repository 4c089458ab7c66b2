/// What lists, results and linking objects have in common.
public protocol RealmCollection: RandomAccessCollection where Element: RealmCollectionValue, Index == Int {
    /// The Realm that manages it; nil for an unmanaged list.
    var realm: Realm? { get }
    /// Whether its owner or its Realm is gone. An invalidated collection is empty.
    var isInvalidated: Bool { get }
    /// The objects behind it, as queries need them.
    var _source: ObjectSource? { get }
    static func _make(_ source: ObjectSource) -> Self?
}

extension RealmCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    public func index(after place: Int) -> Int { place + 1 }
    public func index(before place: Int) -> Int { place - 1 }
    /// Whether it belongs to an immutable version.
    public var isFrozen: Bool { _source?.instance.isFrozen ?? false }

    public var first: Element? { isEmpty ? nil : self[0] }
    public var last: Element? { isEmpty ? nil : self[count - 1] }

    /// The elements at several places.
    public func objects(at indexes: [Int]) -> [Element] { indexes.map { self[$0] } }
}

extension RealmCollection where Element: ObjectBase {
    /// The objects that match.
    ///
    ///     realm.objects(Person.self).where { $0.age >= 3 && $0.dogs.name == "Taro" }
    /// - Complexity: nothing until the results are looked at; then O(rows).
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        let predicate = isIncluded(Query(.path([]))).predicate
        return Results(requireSource().filtered(predicate))
    }

    /// The objects that match a format such as `"age > %@ AND name CONTAINS[c] 'ta'"`.
    ///
    /// Stops the program when the format cannot be read: it is written by the programmer, and the method cannot throw.
    public func filter(_ format: String, _ arguments: Any?...) -> Results<Element> {
        do throws(Realm.Error) {
            return Results(requireSource().filtered(try PredicateParser.parse(format, arguments)))
        } catch {
            fatalError(error.description)
        }
    }

    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// In the order of several properties, the first one deciding. Earlier orders break ties.
    public func sorted<Descriptors: Sequence<SortDescriptor>>(by descriptors: Descriptors) -> Results<Element> {
        Results(requireSource().sorted(Array(descriptors)))
    }

    public func sorted<Value>(by keyPath: KeyPath<Element, Value>, ascending: Bool = true) -> Results<Element> {
        sorted(byKeyPath: _name(for: keyPath), ascending: ascending)
    }

    /// The place of the object's row; nil when it is not in the collection.
    public func index(of object: Element) -> Int? {
        guard let source = _source, object._frame != nil, !object.isInvalidated else {
            return firstIndex { $0 === object }
        }
        return source.index(of: object._key)
    }

    /// The place of the first match.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        `where`(isIncluded).first.flatMap { index(of: $0) }
    }

    private func requireSource() -> ObjectSource {
        guard let source = _source else {
            fatalError("an unmanaged list cannot be queried; add its owner to a Realm first")
        }
        return source
    }
}

/// A key path's property names, for messages, sorts and queries.
public func _name<Root: ObjectBase, Value>(for keyPath: KeyPath<Root, Value>) -> String {
    KeyPathTrace.names(of: keyPath).joined(separator: ".")
}

/// An order by one property, or by one that links lead to.
public struct SortDescriptor: Hashable, Sendable {
    public let keyPath: String
    public let ascending: Bool

    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    public init<Root: ObjectBase, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool = true) {
        self.init(keyPath: _name(for: keyPath), ascending: ascending)
    }
}

extension SortDescriptor: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(keyPath: value) }
}
