import StrataStorage

/// A key of a ``Map``.
public protocol _MapKey: Hashable {
    var _mapKey: String { get }
    static func _from(mapKey: String) -> Self?
}

extension String: _MapKey {
    public var _mapKey: String { self }
    public static func _from(mapKey: String) -> String? { mapKey }
}

/// A map's key, compared bytewise: Swift treats canonically equivalent texts as equal.
private struct KeyBytes: Hashable {
    let text: String

    init(_ key: some _MapKey) {
        text = key._mapKey
    }

    static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// RealmSwift's name for an entry of a ``Map``.
public typealias SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue> = (key: Key, value: Value)

/// Values, or optional links to objects, by name.
///
///     final class Person: Object {
///         @Persisted var phones: Map<String, String>
///         @Persisted var dogs: Map<String, Dog?>
///     }
///
/// When an object is deleted, its key stays, with nil. A managed map is iterated in the order of its keys' UTF-8. It
/// holds no entries: it reads and writes its owner's column. A large map is a tree there: an entry is found, inserted
/// and removed in O(log count).
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: Sequence {
    public typealias Element = SingleMapEntry<Key, Value>

    private var unmanaged: [KeyBytes: Element] = [:]
    public private(set) var _column: _CollectionColumn?

    public init() {}

    public init(_column column: _CollectionColumn) { _column = column }

    /// Releases nested collections in a loop; the runtime would release them recursively.
    deinit {
        if Value.self == AnyRealmValue.self, !unmanaged.isEmpty { UnmanagedRelease.run(empty) }
    }

    /// Moves inner collections out of an unmanaged map in its deinit.
    func empty(into nested: inout UnmanagedRelease.Nested) {
        for element in unmanaged.values { if let value = element.value as? AnyRealmValue { nested.take(value) } }
        unmanaged.removeAll()
    }

    /// The owner of the property; nil while unmanaged.
    var owner: ObjectBase? { _column?.owner }
    public var realm: Realm? { _column?.owner.realm }
    /// Whether its owner or its Realm is invalid. An invalidated map is empty.
    public var isInvalidated: Bool { _column?.isInvalidated ?? false }
    /// Whether it belongs to an immutable version.
    public var isFrozen: Bool { _column?.owner.isFrozen ?? false }
    /// The source of its objects for queries.
    public var _source: ObjectSource? { _column?.source }

    // MARK: Reading

    public var count: Int { _column?.count ?? unmanaged.count }
    public var isEmpty: Bool { count == 0 }

    public var keys: [Key] { entries().map(\.key) }
    /// In the order of ``keys``.
    public var values: [Value] { entries().map(\.value) }

    private func entries() -> [Element] {
        guard let column = _column else {
            return unmanaged.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }.map(\.value)
        }
        let context = column.context
        let contents = column.contents
        return zip(contents.keys, contents.values).compactMap { key, value in
            Key._from(mapKey: key).map {
                (key: $0, value: column.decoded(value, context, at: .key(key)))
            }
        }
    }

    private func stored(_ context: _ElementContext) -> StoredCollection {
        let entries = entries()
        return StoredCollection(
            keys: entries.map(\.key._mapKey), values: entries.map { $0.value._encodeElement(context) })
    }

    /// The value of a key; nil if the map lacks it. Assigning nil removes the key.
    public subscript(key: Key) -> Value? {
        get {
            guard let column = _column else { return unmanaged[KeyBytes(key)]?.value }
            let context = column.context
            let name = key._mapKey
            return column.value(forKey: name).map { column.decoded($0, context, at: .key(name)) }
        }
        set {
            if let newValue { updateValue(newValue, forKey: key) } else { removeObject(for: key) }
        }
    }

    public subscript(key: Key, default fallback: @autoclosure () -> Value) -> Value {
        get { self[key] ?? fallback() }
        set { self[key] = newValue }
    }

    public func contains(key: Key) -> Bool {
        guard let column = _column else { return unmanaged[KeyBytes(key)] != nil }
        return column.read(false, pastDamage: { $0.contents.keys.contains(key._mapKey) }) {
            (contents) throws(StorageError) in
            try contents.place(ofKey: key._mapKey).isThere
        }
    }

    /// Whether there is an entry with that key and that value.
    public func contains(_ entry: Element) -> Bool {
        self[entry.key].map { ElementIdentity($0) == ElementIdentity(entry.value) } ?? false
    }

    /// The entries as pairs, in the map's order.
    public func asKeyValueSequence() -> AnySequence<Element> { AnySequence(self) }

    /// Iterates over the present entries.
    public func makeIterator() -> AnyIterator<Element> {
        guard let column = _column else { return AnyIterator(entries().makeIterator()) }
        let walk = ElementWalk(column)
        let context = column.context
        return AnyIterator {
            while let (name, value) = walk.nextEntry() {
                guard let key = Key._from(mapKey: name) else { continue }
                return (key, walk.decoded(value, context))
            }
            return nil
        }
    }

    // MARK: Writing

    /// Changes the dictionary while unmanaged, else the entries in the column.
    private func change(_ unmanagedChange: (inout [KeyBytes: Element]) -> Void, _ body: (ElementEditor) -> Void) {
        guard let column = _column else { return unmanagedChange(&unmanaged) }
        if let editor = ElementEditor(column) { body(editor) }
    }

    /// - Returns: the previous value.
    @discardableResult
    public func updateValue(_ value: Value, forKey key: Key) -> Value? {
        let known = self[key]
        change(
            { $0[KeyBytes(key)] = (key, value) },
            { editor in editor.setValue(value._encodeElement(editor.context), forKey: key._mapKey) })
        return known
    }

    public func removeObject(for key: Key) {
        change({ $0[KeyBytes(key)] = nil }, { editor in editor.removeValue(forKey: key._mapKey) })
    }

    public func removeValue(forKey key: Key) { removeObject(for: key) }

    public func removeAll() {
        change({ $0.removeAll() }, { editor in editor.remove(0..<editor.count) })
    }

    /// Removes every matching entry, in one change.
    public func removeAll(where matches: (Element) throws -> Bool) rethrows {
        let gone = try filter(matches).map(\.key)
        if gone.isEmpty { return }
        change(
            { entries in for key in gone { entries[KeyBytes(key)] = nil } },
            { editor in for key in gone { editor.removeValue(forKey: key._mapKey) } })
    }

    /// Inserts entries in one change; `combine` chooses between the present and the new value of a key.
    public func merge<Entries: Sequence>(
        _ other: Entries, uniquingKeysWith combine: (Value, Value) throws -> Value
    ) rethrows where Entries.Element == (key: Key, value: Value) {
        var merged: [KeyBytes: Element] = [:]
        for (key, value) in other {
            let name = KeyBytes(key)
            if let known = merged[name]?.value ?? self[key] {
                merged[name] = (key, try combine(known, value))
            } else {
                merged[name] = (key, value)
            }
        }
        let entries = merged.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
        change(
            { for (name, entry) in entries { $0[name] = entry } },
            { editor in
                for (name, entry) in entries {
                    editor.setValue(entry.value._encodeElement(editor.context), forKey: name.text)
                }
            })
    }
}

extension Map: _ColumnCollection {
    public static var _elementType: _PropertyShape { Value._elementShape }
    public static var _kind: _PropertyCollection { .map }
    public var _unmanagedObjects: [ObjectBase] { entries().flatMap { $0.value._elementObjects } }

    public func _encoded(_ context: _ElementContext, _ shape: _PropertyShape) -> [UInt8] {
        let contents = _column?.contents ?? stored(context)
        return contents.encoded(ColumnTag(shape, isPrimary: false))
    }

    public func _assign(_ other: Map) {
        let entries = Array(other)
        change(
            { $0 = Dictionary(entries.map { (KeyBytes($0.key), $0) }, uniquingKeysWith: { $1 }) },
            { editor in
                var contents = StoredCollection()
                for (key, value) in entries {
                    contents.setValue(value._encodeElement(editor.context), forKey: key._mapKey)
                }
                editor.assign(contents)
            })
    }

    public static func _plainElement(_ value: Any?) -> _StoredValue? {
        ElementConversion.element(Value.self, value as Any)?._encodeElement(.unmanaged)
    }

    public func _mapObjects(_ convert: (ObjectBase) -> ObjectBase) -> Map {
        let made = Map()
        for (key, value) in entries() { made.unmanaged[KeyBytes(key)] = (key, value._mapObject(convert)) }
        return made
    }

    public func _bind(_ column: _CollectionColumn) {
        _column = column
        unmanaged.removeAll()
    }

    public func _fill(_ value: Any) -> Bool {
        guard let entries = ElementConversion.entries(value) else { return false }
        for (key, value) in entries {
            guard let key = Key._from(mapKey: key), let value = ElementConversion.element(Value.self, value) else {
                return false
            }
            unmanaged[KeyBytes(key)] = (key, value)
        }
        return true
    }
}

extension Map: ExpressibleByDictionaryLiteral {
    public convenience init(dictionaryLiteral elements: (Key, Value)...) {
        self.init()
        for (key, value) in elements { unmanaged[KeyBytes(key)] = (key, value) }
    }
}

extension Map: UntypedCollection {
    var anyElements: [Any] { values.map { $0 as Any } }
    var anyKeys: [String] { keys.map(\._mapKey) }
}
