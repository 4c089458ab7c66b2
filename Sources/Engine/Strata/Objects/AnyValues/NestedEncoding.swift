import StrataStorage

/// The bytes of lists and maps inside values of any type: a type byte, then the encoding of the contents. Storage reads
/// them, too. The layout is permanent: docs/file-format-objects.md.
enum NestedEncoding {
    /// The maximum nesting depth.
    static var deepest: Int { NestedCollection.deepest }

    /// Whether a value is a map; nil if it is not a collection.
    static func isKeyed(_ type: UInt8?) -> Bool? {
        type == NestedCollection.mapType ? true : type == NestedCollection.listType ? false : nil
    }

    /// Whether a stored value is a map; nil if it is not a collection.
    static func isKeyed(_ value: _StoredValue) -> Bool? {
        if case .bytes(let bytes) = value { isKeyed(bytes.first) } else { nil }
    }

    static func encode(_ contents: StoredCollection, isKeyed: Bool) -> [UInt8] {
        [isKeyed ? NestedCollection.mapType : NestedCollection.listType] + contents.encoded(.nested(isKeyed: isKeyed))
    }

    /// Nil for bytes of another type, or not of the layout.
    static func contents(_ bytes: UnsafeRawBufferPointer) -> (isKeyed: Bool, contents: StoredCollection)? {
        guard let isKeyed = isKeyed(bytes.first),
            let contents = StoredCollection(
                UnsafeRawBufferPointer(rebasing: bytes.dropFirst()), .nested(isKeyed: isKeyed))
        else { return nil }
        return (isKeyed, contents)
    }

    // MARK: Values

    /// - Parameters:
    ///   - depth: how many collections enclose it; values nested too deep are left out.
    ///   - element: the bytes of an element.
    static func encode(
        _ value: AnyRealmValue, _ depth: Int, _ element: (AnyRealmValue, _ depth: Int) -> [UInt8]
    ) -> [UInt8]? {
        if depth >= deepest { return [] }
        switch value {
        case .list(let list):
            return encode(StoredCollection(values: list.map { .bytes(element($0, depth + 1)) }), isKeyed: false)
        case .dictionary(let map):
            var contents = StoredCollection()
            for (key, value) in map { contents.setValue(.bytes(element(value, depth + 1)), forKey: key) }
            return encode(contents, isKeyed: true)
        default: return nil
        }
    }

    /// Unmanaged collections with copies of all elements; nil for bytes of another type.
    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ depth: Int,
        _ element: (UnsafeRawBufferPointer, _ depth: Int) -> AnyRealmValue?
    ) -> AnyRealmValue? {
        guard depth < deepest, let (isKeyed, contents) = contents(bytes) else { return nil }
        var values: [AnyRealmValue] = []
        values.reserveCapacity(contents.values.count)
        for value in contents.values {
            guard case .bytes(let bytes) = value else {
                values.append(.none)
                continue
            }
            guard let made = bytes.withUnsafeBytes({ element($0, depth + 1) }) else { return nil }
            values.append(made)
        }
        if !isKeyed { return .fromArray(values) }
        return .fromDictionary(Dictionary(zip(contents.keys, values), uniquingKeysWith: { $1 }))
    }

    // MARK: Depth

    /// Whether `value` contains collections nested deeper than ``deepest``, as one that contains itself does.
    static func isTooDeep(_ value: AnyRealmValue, depth: Int = 0) -> Bool {
        switch value {
        case .list(let list): depth >= deepest || list.contains { isTooDeep($0, depth: depth + 1) }
        case .dictionary(let map): depth >= deepest || map.contains { isTooDeep($0.value, depth: depth + 1) }
        default: false
        }
    }

    static func tooDeep(_ name: String) -> RealmError {
        RealmError(.invalidInput, "\(name) would hold more than \(deepest) lists and dictionaries inside one another")
    }

    /// Whether collections in a stored value, nested in `outer` others, exceed the maximum depth. The walk stops at
    /// that depth, whatever the bytes of a damaged file say.
    static func isTooDeep(_ value: _StoredValue, in outer: Int) -> Bool {
        guard case .bytes(let bytes) = value, isKeyed(bytes.first) != nil else { return false }
        if outer >= deepest { return true }
        guard let (_, contents) = bytes.withUnsafeBytes({ contents($0) }) else { return false }
        return contents.values.contains { isTooDeep($0, in: outer + 1) }
    }

    // MARK: Changing

    /// The bytes with one of the collections changed; nil if there is none at the end of the path.
    /// - Parameter path: places in collections, from the outermost on.
    /// - Complexity: O(bytes).
    static func changed(
        _ bytes: UnsafeRawBufferPointer, _ path: ArraySlice<Int>, _ change: (inout StoredCollection) -> Void
    ) -> [UInt8]? {
        guard let (isKeyed, known) = contents(bytes) else { return nil }
        var contents = known
        guard let place = path.first else {
            change(&contents)
            return encode(contents, isKeyed: isKeyed)
        }
        guard contents.values.indices.contains(place), case .bytes(let inner) = contents.values[place],
            let made = inner.withUnsafeBytes({ changed($0, path.dropFirst(), change) })
        else { return nil }
        contents.values[place] = .bytes(made)
        return encode(contents, isKeyed: isKeyed)
    }
}
