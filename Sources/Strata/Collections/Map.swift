import StrataStorage

/// What a ``Map`` may have as keys.
public protocol _MapKey: Hashable {
    var _mapKey: String { get }
    static func _from(mapKey: String) -> Self?
}

extension String: _MapKey {
    public var _mapKey: String { self }
    public static func _from(mapKey: String) -> String? { mapKey }
}

/// A key of a map, which is told from others by its bytes: Swift takes two spellings of one character for the same.
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

/// An entry of a ``Map``, by the name that RealmSwift has for it.
public typealias SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue> = (key: Key, value: Value)

/// Values, or optional links to objects, by name.
///
///     final class Person: Object {
///         @Persisted var phones: Map<String, String>
///         @Persisted var dogs: Map<String, Dog?>
///     }
///
/// An object that is deleted leaves nil under its key. A managed map is walked in the order of its keys' UTF-8. It
/// holds nothing: it reads and writes its owner's column, where a large map is a tree: an entry is found, comes and
/// goes in O(log count).
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: Sequence {
    public typealias Element = SingleMapEntry<Key, Value>

    private var unmanaged: [KeyBytes: Element] = [:]
    public private(set) var _column: _CollectionColumn?

    public init() {}

    public init(_column column: _CollectionColumn) { _column = column }

    /// As that of ``List``.
    deinit {
        if Value.self == AnyRealmValue.self, !unmanaged.isEmpty { UnmanagedRelease.run(empty) }
    }

    /// Moves the lists and maps out that stand in an unmanaged map at its end.
    func empty(into nested: inout UnmanagedRelease.Nested) {
        for element in unmanaged.values { if let value = element.value as? AnyRealmValue { nested.take(value) } }
        unmanaged.removeAll()
    }

    /// Whose property it is; nil while unmanaged.
    var owner: ObjectBase? { _column?.owner }
    public var realm: Realm? { _column?.owner.realm }
    /// Whether its owner or its Realm is gone. An invalidated map is empty.
    public var isInvalidated: Bool { _column?.isInvalidated ?? false }
    /// Whether it belongs to an immutable version.
    public var isFrozen: Bool { _column?.owner.isFrozen ?? false }
    /// The objects behind it, as queries need them.
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

    /// What the column holds.
    func storedContents() -> StoredCollection {
        if let column = _column { return column.contents }
        return stored(.unmanaged)
    }

    private func stored(_ context: _ElementContext) -> StoredCollection {
        let entries = entries()
        return StoredCollection(
            keys: entries.map(\.key._mapKey), values: entries.map { $0.value._encodeElement(context) })
    }

    /// The value of a key; nil when the map does not have it. Assigning nil removes the key.
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

    /// Whether an entry with that key and that value is there.
    public func contains(_ entry: Element) -> Bool {
        self[entry.key].map { ElementIdentity($0) == ElementIdentity(entry.value) } ?? false
    }

    /// The entries as pairs, as the map itself walks them.
    public func asKeyValueSequence() -> AnySequence<Element> { AnySequence(self) }

    /// Walks the entries of this moment.
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

    /// Changes the dictionary while unmanaged, else the entries in their column.
    private func change(_ unmanagedChange: (inout [KeyBytes: Element]) -> Void, _ body: (ElementEditor) -> Void) {
        guard let column = _column else { return unmanagedChange(&unmanaged) }
        if let editor = ElementEditor(column) { body(editor) }
    }

    /// - Returns: the value of before.
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

    /// Removes every entry that matches, in one change.
    public func removeAll(where matches: (Element) throws -> Bool) rethrows {
        let gone = try filter(matches).map(\.key)
        if gone.isEmpty { return }
        change(
            { entries in for key in gone { entries[KeyBytes(key)] = nil } },
            { editor in for key in gone { editor.removeValue(forKey: key._mapKey) } })
    }

    /// Takes entries over in one change; `combine` decides between the known and the new value of a key.
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
