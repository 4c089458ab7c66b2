import Platform

/// Adjacent elements of a collection in one version, decoded. Their bytes are borrowed from the version.
struct ElementStretch {
    private let elements: CollectionElements
    private let collection: CollectionReader
    private var reader: PageReader { collection.reader }
    /// Index of the first element in the buffer.
    private let start: Int
    let count: Int

    /// - Complexity: O(elements of the leaves involved).
    init(_ collection: CollectionReader, _ range: Range<Int>) throws(StorageError) {
        let elements = CollectionElements(collection.shape)
        var first: Int?
        if !range.isEmpty {
            try collection.forEachPart(from: range.lowerBound) { (part) throws(StorageError) in
                if first == nil { first = part.first }
                elements.append(borrowing: part)
                return part.end < range.upperBound
            }
        }
        self.elements = elements
        self.collection = collection
        start = range.lowerBound - (first ?? range.lowerBound)
        count = range.count
    }

    /// The column that orders a set or a map.
    private var ordering: ColumnBuffer { elements.keys ?? elements.values }

    /// Whether an element, or a map's value, equals one of another stretch.
    @inline(__always)
    func hasSameValue(_ index: Int, as other: ElementStretch, _ place: Int) throws(StorageError) -> Bool {
        let (mine, others) = (elements.values, other.elements.values)
        if mine.kind != .bytes && !mine.hasFlags && !others.hasFlags {
            return mine.words[start + index] == others.words[other.start + place]
        }
        return try isSame(mine, at: start + index, as: other, in: others, at: other.start + place)
    }

    private func isSame(
        _ mine: ColumnBuffer, at index: Int, as other: ElementStretch, in others: ColumnBuffer, at place: Int
    ) throws(StorageError) -> Bool {
        if mine.isNull(index) || others.isNull(place) { return mine.isNull(index) && others.isNull(place) }
        if mine.kind != .bytes { return mine.words[index] == others.words[place] }
        if mine.isLong(index), others.isLong(place), Self.equal(mine.bytes(index), others.bytes(place)) { return true }
        if mine === elements.values, collection.column.takesNested,
            let inner = try nested(index), let otherInner = try other.nested(place)
        {
            return try CollectionComparison(earlier: inner, later: otherInner).isEqual()
        }
        if Self.isTree(mine, index) || Self.isTree(others, place) { return false }
        return Self.equal(try bytes(mine, index), try other.bytes(others, place))
    }

    private static func isTree(_ column: ColumnBuffer, _ row: Int) -> Bool {
        column.isLong(row) && column.bytes(row).baseAddress.map { LongValue($0).isTree } ?? false
    }

    /// The inner collection in an element; nil for another value.
    private func nested(_ row: Int) throws(StorageError) -> CollectionReader? {
        let values = elements.values
        if Self.isTree(values, row), let base = values.bytes(row).baseAddress {
            return try collection.nested(LongValue(base))
        }
        return try collection.nested(try bytes(values, row))
    }

    private func bytes(_ column: ColumnBuffer, _ row: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        column.isLong(row) ? try reader.long(column.bytes(row)) : column.bytes(row)
    }

    private static func equal(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        guard let first = a.baseAddress, let second = b.baseAddress else { return true }
        return memcmp(first, second, a.count) == 0
    }

    /// Whether both have the same elements, and keys, in the same order.
    func isEqual(to other: ElementStretch) throws(StorageError) -> Bool {
        guard elements.values.kind == other.elements.values.kind, count == other.count else { return false }
        for index in 0..<count {
            if try !hasSameValue(index, as: other, index) { return false }
            if let keys = elements.keys, let others = other.elements.keys,
                try !isSame(keys, at: start + index, as: other, in: others, at: other.start + index)
            {
                return false
            }
        }
        return true
    }

    /// A set's element, or a map's key.
    func ordered(_ index: Int) throws(StorageError) -> Cell {
        let row = start + index
        if ordering.isNull(row) { return .null }
        switch ordering.kind {
        case .integer: return .integer(ordering.integer(row))
        case .double: return Cell(kind: .double, bits: ordering.words[row])
        case .bytes: return .bytes(try bytes(ordering, row))
        }
    }

    private static let nullToken: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// A hash that is equal for equal elements, and rarely for others; all inner collections have one.
    func token(_ index: Int) throws(StorageError) -> UInt64 {
        let row = start + index
        let values = elements.values
        if values.isNull(row) { return Self.nullToken }
        if values.kind != .bytes { return values.words[row] }
        // Equal inner collections may have different bytes.
        if collection.column.takesNested, try nested(row) != nil { return 2 }
        let bytes = try bytes(values, row)
        return bytes.baseAddress.map { NodeHash.make($0, bytes.count) } ?? 1
    }
}

extension CollectionElements {
    /// Appends the elements of a part; their bytes are borrowed.
    func append(borrowing part: CollectionPart) {
        switch part.source {
        case .leaf(let leaf, _): append(leaf)
        case .payload(let payload): append(borrowing: payload)
        }
    }
}
