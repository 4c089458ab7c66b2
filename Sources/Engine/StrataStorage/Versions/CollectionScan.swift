import CStrataShim

/// Decoded adjacent elements: those of a leaf, or all of a collection that is stored in its row.
///
/// Valid during the call of the body.
package struct ElementBatch {
    fileprivate let elements: CollectionElements
    fileprivate let reader: PageReader
    /// Index of the first requested element in the buffer.
    fileprivate let start: Int
    /// The place of the first element.
    package let first: Int
    package let count: Int

    /// Elements of a column of integers, or keys of rows; undefined for nulls.
    package var integers: UnsafePointer<Int64> {
        UnsafeRawPointer(elements.values.words + start).assumingMemoryBound(to: Int64.self)
    }

    /// Elements of a column of doubles; undefined for nulls.
    package var doubles: UnsafePointer<Double> {
        UnsafeRawPointer(elements.values.words + start).assumingMemoryBound(to: Double.self)
    }

    package var hasNulls: Bool { elements.values.hasFlags }

    @inline(__always)
    package func isNull(_ index: Int) -> Bool { elements.values.isNull(start + index) }

    /// Text or data; empty for null.
    /// - Throws: `corrupt` if a long element's node does not verify.
    package func bytes(_ index: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        try bytes(elements.values, start + index)
    }

    /// A map's key; empty for others.
    /// - Throws: as ``bytes(_:)``.
    package func key(_ index: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        guard let keys = elements.keys else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return try bytes(keys, start + index)
    }

    private func bytes(_ column: ColumnBuffer, _ row: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        column.isLong(row) ? try reader.long(column.bytes(row)) : column.bytes(row)
    }
}

extension CollectionReader {
    /// Calls `body`, which must not change the collection, with all elements from a place on, in order and decoded,
    /// until it returns false.
    /// - Throws: `corrupt`; errors of `body`.
    /// - Complexity: O(count), by the same decoders as rows.
    package func forEachBatch(
        from place: Int = 0, _ body: (ElementBatch) throws(StorageError) -> Bool
    ) throws(StorageError) {
        let elements = CollectionElements(shape)
        try forEachPart(from: place) { (part) throws(StorageError) in
            elements.removeAll()
            elements.append(borrowing: part)
            try reader.confirm()
            let start = max(place - part.first, 0)
            return try body(
                ElementBatch(
                    elements: elements, reader: reader, start: start, first: part.first + start,
                    count: part.count - start))
        }
    }

    /// Sum, count and extremes of the non-null elements of a column of integers.
    /// - Throws: `misuse(.wrongType)`; `corrupt`.
    /// - Complexity: O(count), over packed values.
    package func integerTotals() throws(StorageError) -> IntegerTotals {
        guard shape.kind == .integer else { throw .misuse(.wrongType) }
        var (sums, extremes) = (IntegerTotals(), IntegerTotals())
        try addAll(&sums, .sum)
        try addAll(&extremes, .extremes)
        sums.least = extremes.least
        sums.most = extremes.most
        return sums
    }

    /// As ``integerTotals()``, for a column of doubles; extremes skip NaN.
    package func doubleTotals() throws(StorageError) -> DoubleTotals {
        guard shape.kind == .double else { throw .misuse(.wrongType) }
        var (sums, extremes) = (DoubleTotals(), DoubleTotals())
        try addAll(&sums, .sum)
        try addAll(&extremes, .extremes)
        sums.least = extremes.least
        sums.most = extremes.most
        return sums
    }

    private func addAll<Totals: ColumnTotals>(_ totals: inout Totals, _ part: AggregatePart) throws(StorageError) {
        var sums = totals
        try withBits { (bits) throws(StorageError) in
            try forEachPart { (elements) throws(StorageError) in
                switch elements.source {
                case .leaf(let leaf, _):
                    let values = leaf.values
                    bits.update(repeating: 0, count: Selection.words(values.rows))
                    strata_bits_fill(bits, 0, values.rows)
                    if let nulls = values.nulls { strata_bits_clear(bits, 0, nulls, values.rows) }
                    sums.add(values, bits, part)
                case .payload(let payload):
                    for place in 0..<payload.count { sums.add(cell: payload.value(place), 1) }
                }
                return true
            }
        }
        try reader.confirm()
        totals = sums
    }

    /// The first place at or after `place` with an element equal to a value, which may be null; doubles compare as
    /// numbers, text and data bytewise.
    /// - Throws: `corrupt`.
    /// - Complexity: O(count), on packed values; leaves whose base and width exclude an integer are skipped.
    package func firstPlace(of wanted: Cell, from place: Int = 0) throws(StorageError) -> Int? {
        guard let test = ColumnTest(equalTo: wanted, shape.kind) else { return nil }
        var found: Int?
        try withBits { (bits) throws(StorageError) in
            try forEachPart(from: place) { (part) throws(StorageError) in
                switch part.source {
                case .leaf(let leaf, _):
                    let words = Selection.words(leaf.count)
                    bits.update(repeating: 0, count: words)
                    try leaf.values.select(test, bits, at: 0, reader)
                    let from = max(place - part.first, 0)
                    for word in (from >> 6)..<words {
                        let rest = word == from >> 6 ? bits[word] & ~0 << UInt64(from & 63) : bits[word]
                        if rest == 0 { continue }
                        found = part.first + 64 * word + rest.trailingZeroBitCount
                        break
                    }
                case .payload(let payload):
                    found = (max(place, 0)..<payload.count).first { test.holds(payload.value($0)) }
                }
                return found == nil
            }
        }
        try reader.confirm()
        return found
    }

    /// A bitmap for the elements of a leaf, with a spare word.
    private func withBits(
        _ body: (UnsafeMutablePointer<UInt64>) throws(StorageError) -> Void
    ) throws(StorageError) {
        let bits = UnsafeMutablePointer<UInt64>.allocate(capacity: Selection.words(CollectionLeaf.maxElements) + 1)
        defer { bits.deallocate() }
        try body(bits)
    }
}

extension ColumnTest {
    /// Nil if no value of the kind can be equal.
    fileprivate init?(equalTo cell: Cell, _ kind: SegmentKind) {
        switch (cell.kind, kind) {
        case (.null, _): self = .null
        case (.integer, .integer): self = .integers(cell.integerValue...cell.integerValue)
        case (.double, .double):
            if cell.doubleValue.isNaN { return nil }
            self = .doubles(cell.doubleValue...cell.doubleValue)
        case (.bytes, .bytes): self = .bytes(.equal(Array(cell.bytesValue)))
        default: return nil
        }
    }
}
