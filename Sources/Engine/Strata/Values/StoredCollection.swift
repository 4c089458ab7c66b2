import StrataStorage

/// The content of a list's, a set's or a map's column. The layouts are permanent: docs/file-format-objects.md.
struct StoredCollection: Equatable {
    /// The keys of a map, ascending by their UTF-8 bytes, one per value. Empty for a list or a set.
    var keys: [String] = []
    /// The elements; for objects, links. Those of a set ascend by ``SetOrder``.
    var values: [_StoredValue] = []

    init(keys: [String] = [], values: [_StoredValue] = []) {
        self.keys = keys
        self.values = values
    }

    // MARK: Bytes

    /// Nil if the bytes are not of the layout of `tag`.
    /// - Complexity: O(values and their bytes).
    init?(_ bytes: UnsafeRawBufferPointer, _ tag: ColumnTag) {
        if bytes.isEmpty { return }
        let isMap = tag.collection == .map
        if tag.type == .object {
            guard let reader = LinkPayload.Reader(bytes) else { return nil }
            values = reader.links.map { $0 == LinkPayload.null ? .null : .link($0) }
            if !isMap { return }
            guard let keys = Self.keys(reader.extra) else { return nil }
            self.keys = keys
        } else if isMap {
            guard bytes.count >= 4 else { return nil }
            let size = Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
            guard size <= bytes.count - 4, let keys = Self.keys(UnsafeRawBufferPointer(rebasing: bytes[4..<4 + size])),
                let values = ListEncoding.decode(UnsafeRawBufferPointer(rebasing: bytes[(4 + size)...]))
            else { return nil }
            self.keys = keys
            self.values = values
        } else {
            guard let values = ListEncoding.decode(bytes) else { return nil }
            self.values = values
        }
        if isMap && keys.count != values.count { return nil }
        if tag.type == .decimal128 {
            for (place, value) in values.enumerated() where !value.isNull {
                guard let decimal = Decimal128._from(value) else { return nil }
                values[place] = .decimal(decimal)
            }
        }
    }

    private static func keys(_ bytes: UnsafeRawBufferPointer) -> [String]? {
        guard let values = ListEncoding.decode(bytes) else { return nil }
        var keys: [String] = []
        keys.reserveCapacity(values.count)
        for value in values {
            guard case .text(let key) = value else { return nil }
            keys.append(key)
        }
        return keys
    }

    /// No bytes if empty.
    /// - Complexity: O(values and their bytes).
    func encoded(_ tag: ColumnTag) -> [UInt8] {
        if values.isEmpty { return [] }
        if tag.type == .object {
            if tag.collection == .map {
                return LinkPayload.encode(values.map { $0.linkKey ?? LinkPayload.null }, extra: encodedKeys)
            }
            return LinkPayload.encode(values.compactMap(\.linkKey))
        }
        let encoded = ListEncoding.encode(values)
        if tag.collection != .map { return encoded }
        let keys = encodedKeys
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + keys.count + encoded.count)
        for place in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: keys.count >> (8 * place))) }
        return bytes + keys + encoded
    }

    private var encodedKeys: [UInt8] { ListEncoding.encode(keys.map { .text($0) }) }

    // MARK: Maps

    /// The place of a key, or the place to insert it.
    /// - Complexity: O(log keys).
    func place(ofKey key: String) -> (place: Int, isThere: Bool) {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].utf8.lexicographicallyPrecedes(key.utf8) { low = middle + 1 } else { high = middle }
        }
        return (low, low < keys.count && keys[low].utf8.elementsEqual(key.utf8))
    }

    func value(forKey key: String) -> _StoredValue? {
        let (place, isThere) = place(ofKey: key)
        return isThere ? values[place] : nil
    }

    mutating func setValue(_ value: _StoredValue, forKey key: String) {
        let (place, isThere) = place(ofKey: key)
        if isThere {
            values[place] = value
        } else {
            keys.insert(key, at: place)
            values.insert(value, at: place)
        }
    }

    mutating func removeValue(forKey key: String) {
        let (place, isThere) = place(ofKey: key)
        guard isThere else { return }
        keys.remove(at: place)
        values.remove(at: place)
    }

    // MARK: Sets

    /// Makes a set of the values: sorted, without duplicates.
    static func set(_ values: [_StoredValue]) -> StoredCollection {
        var sorted = values.map(SetOrder.normal)
        sorted.sort(by: SetOrder.precedes)
        var kept: [_StoredValue] = []
        kept.reserveCapacity(sorted.count)
        for value in sorted where kept.last.map({ SetOrder.precedes($0, value) }) ?? true { kept.append(value) }
        return StoredCollection(values: kept)
    }

    /// The place of a set's member, or the place to insert it.
    /// - Complexity: O(log values).
    func place(ofMember value: _StoredValue) -> (place: Int, isThere: Bool) {
        let value = SetOrder.normal(value)
        var (low, high) = (0, values.count)
        while low < high {
            let middle = (low + high) / 2
            if SetOrder.precedes(values[middle], value) { low = middle + 1 } else { high = middle }
        }
        return (low, low < values.count && !SetOrder.precedes(value, values[low]))
    }

    @discardableResult
    mutating func insertMember(_ value: _StoredValue) -> Bool {
        let (place, isThere) = place(ofMember: value)
        if !isThere { values.insert(SetOrder.normal(value), at: place) }
        return !isThere
    }
}

/// The order of members in a set's column: a total order of all values, as binary search requires.
enum SetOrder {
    /// Null first; NaN before all numbers; text and bytes by their bytes.
    static func precedes(_ a: _StoredValue, _ b: _StoredValue) -> Bool {
        if case .double(let a) = a, case .double(let b) = b {
            return a.isNaN ? !b.isNaN : !b.isNaN && a < b
        }
        return _StoredValue.precedes(a, b)
    }

    /// The one value that a set stores for all values that are the same member: one NaN, one zero.
    static func normal(_ value: _StoredValue) -> _StoredValue {
        guard case .double(let double) = value else { return value }
        return .double(double.isNaN ? .nan : double == 0 ? 0 : double)
    }
}

extension _StoredValue {
    /// The keys of the rows in a column of many links.
    var linkKeys: [Int64] {
        if case .bytes(let bytes) = self { return LinkPayload.keys(bytes) }
        return []
    }

    /// The key of the linked row.
    var linkKey: Int64? {
        if case .link(let key) = self { return key }
        return nil
    }
}
