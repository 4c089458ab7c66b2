/// A filter of a table's rows: tests on columns, and their combinations.
///
/// Columns are named by their position in the schema. Logic is two-valued: a test of a null fails, and its `not` holds.
package indirect enum RowFilter: Sendable, Equatable {
    case everything
    case nothing
    /// The row's key lies within the range.
    case key(ClosedRange<Int64>)
    /// An integer, or the key that a link leads to, lies within the range.
    case integer(Int, ClosedRange<Int64>)
    /// The row's key is one of these.
    case keys(IntegerSet)
    /// An integer, or the key that a link leads to, is one of these.
    case integers(Int, IntegerSet)
    /// Both zeros are equal; NaN is in no range.
    case double(Int, ClosedRange<Double>)
    /// A double has one of these bit patterns; see ``doubles(_:among:)``.
    case doubles(Int, IntegerSet)
    case bytes(Int, BytesTest)
    /// The matcher accepts a collection; null is an empty one. Not usable while the transaction has open collections.
    case collection(Int, CollectionMatcher)
    case null(Int)
    /// Holds if all parts do; also if there are none.
    case and([RowFilter])
    /// Holds if any part does.
    case or([RowFilter])
    case not(RowFilter)

    package enum Comparison: Sendable { case equal, less, lessOrEqual, greater, greaterOrEqual }

    /// Bytewise tests of text and data.
    package enum BytesTest: Sendable, Equatable {
        case equal([UInt8])
        case oneOf(BytesSet)
        case prefix([UInt8])
        /// Every value contains the empty part.
        case contains([UInt8])
        /// Compares the first byte that differs; a proper prefix is less.
        case ordered(Comparison, [UInt8])
        /// The matcher accepts the bytes.
        case matches(BytesMatcher)
    }

    /// A comparison with one number.
    package static func integer(_ column: Int, _ comparison: Comparison, _ value: Int64) -> RowFilter {
        guard let range = range(comparison, value) else { return .nothing }
        return .integer(column, range)
    }

    package static func key(_ comparison: Comparison, _ value: Int64) -> RowFilter {
        guard let range = range(comparison, value) else { return .nothing }
        return .key(range)
    }

    private static func range(_ comparison: Comparison, _ value: Int64) -> ClosedRange<Int64>? {
        switch comparison {
        case .equal: value...value
        case .less: value == .min ? nil : .min...(value - 1)
        case .lessOrEqual: least(value)...value
        case .greater: value == .max ? nil : (value + 1) ... .max
        case .greaterOrEqual: value ... .max
        }
    }

    /// The least integer below or equal to another one.
    private static func least(_ value: Int64) -> Int64 {
        #if Zoo
            if PlantedMistake.leastIntegerMissed.isPlanted { return min(Int64.min + 1, value) }
        #endif
        return .min
    }

    /// A comparison with one number, as in IEEE 754: no value compares with NaN.
    package static func double(_ column: Int, _ comparison: Comparison, _ value: Double) -> RowFilter {
        #if Zoo
            if value.isNaN, comparison == .lessOrEqual, PlantedMistake.nanMatches.isPlanted { return .everything }
        #endif
        if value.isNaN { return .nothing }
        switch comparison {
        case .equal: return .double(column, value...value)
        case .less: return value == -.infinity ? .nothing : .double(column, -.infinity...value.nextDown)
        case .lessOrEqual: return .double(column, -.infinity...value)
        case .greater: return value == .infinity ? .nothing : .double(column, value.nextUp ... .infinity)
        case .greaterOrEqual: return .double(column, value ... .infinity)
        }
    }

    /// Equality with one of several numbers: both zeros are equal, and NaN equals none.
    package static func doubles(_ column: Int, among values: [Double]) -> RowFilter {
        var patterns: [Int64] = []
        for value in values where !value.isNaN {
            patterns.append(Int64(bitPattern: value.bitPattern))
            if value == 0 { patterns.append(Int64(bitPattern: (-value).bitPattern)) }
        }
        return patterns.isEmpty ? .nothing : .doubles(column, IntegerSet(patterns))
    }

    /// - Throws: `misuse` for an unknown column, or one of another type.
    func check(_ columns: [ColumnDefinition]) throws(StorageError) {
        func require(_ column: Int, _ kind: SegmentKind?) throws(StorageError) {
            guard columns.indices.contains(column) else { throw .misuse(.noSuchColumn) }
            if let kind, SegmentKind(columns[column].type) != kind { throw .misuse(.wrongType) }
        }
        switch self {
        case .everything, .nothing, .key, .keys: break
        case .integer(let column, _), .integers(let column, _): try require(column, .integer)
        case .double(let column, _), .doubles(let column, _): try require(column, .double)
        case .bytes(let column, _):
            try require(column, .bytes)
            // Equal collections may have different bytes.
            if columns[column].collection != nil { throw .misuse(.wrongType) }
        case .collection(let column, _): try require(column, .bytes)
        case .null(let column): try require(column, nil)
        case .and(let parts), .or(let parts): for part in parts { try part.check(columns) }
        case .not(let part): try part.check(columns)
        }
    }

    /// Keys outside these bounds never pass; nil if no key can.
    var keyBounds: ClosedRange<Int64>? {
        switch self {
        case .nothing: return nil
        case .key(let range): return range
        case .and(let parts):
            var bounds = Int64.min ... .max
            for part in parts {
                guard let other = part.keyBounds, other.overlaps(bounds) else { return nil }
                bounds = bounds.clamped(to: other)
            }
            return bounds
        default: return .min ... .max
        }
    }

    /// Whether it reads collections.
    package var asksCollections: Bool {
        switch self {
        case .collection: true
        case .and(let parts), .or(let parts): parts.contains(where: \.asksCollections)
        case .not(let part): part.asksCollections
        default: false
        }
    }

    /// Nesting depth of the filter.
    var depth: Int {
        switch self {
        case .and(let parts), .or(let parts): 1 + (parts.map(\.depth).max() ?? 0)
        case .not(let part): 1 + part.depth
        default: 1
        }
    }
}

/// A test of one column's values.
enum ColumnTest {
    case integers(ClosedRange<Int64>)
    case members(IntegerSet)
    case doubles(ClosedRange<Double>)
    /// By bit patterns.
    case doubleMembers(IntegerSet)
    case bytes(RowFilter.BytesTest)
    /// With the column's id.
    case collection(CollectionMatcher, UInt16)
    case null

    /// Whether a single value passes: for columns that a group lacks, and for values outside segments.
    func holds(_ cell: Cell) -> Bool {
        switch self {
        case .null: cell.isNull
        case .integers(let range): !cell.isNull && range.contains(cell.integerValue)
        case .members(let set): !cell.isNull && set.contains(cell.integerValue)
        case .doubles(let range): !cell.isNull && range.contains(cell.doubleValue)
        case .doubleMembers(let set):
            !cell.isNull && set.contains(Int64(bitPattern: cell.doubleValue.bitPattern))
        case .bytes(let test): !cell.isNull && test.holds(cell.bytesValue)
        // Needs the reader of the collection's tree: callers call the matcher themselves.
        case .collection: false
        }
    }
}

/// A test of collections by their cells. Compares equal by identity.
package final class CollectionMatcher: Sendable, Equatable {
    /// Tests a cell's bytes or descriptor, with the column's id.
    typealias Test =
        @Sendable (UnsafeRawBufferPointer, _ isLong: Bool, _ column: UInt16, PageReader) throws(StorageError) -> Bool
    let holds: Test

    /// - Parameter holds: called with the bytes of a value, or with the descriptor of a long one.
    init(_ holds: @escaping Test) { self.holds = holds }

    package static func == (a: CollectionMatcher, b: CollectionMatcher) -> Bool { a === b }
}

extension RowFilter.BytesTest {
    func holds(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .equal(let wanted): bytes.elementsEqual(wanted)
        case .oneOf(let set): set.contains(bytes)
        case .prefix(let wanted): bytes.starts(with: wanted)
        case .contains(let wanted): Self.contains(bytes, wanted)
        case .ordered(let comparison, let limit):
            Self.holds(comparison, limit.withUnsafeBytes { Self.order(bytes, $0) })
        case .matches(let matcher): matcher.holds(bytes)
        }
    }

    private static func contains(_ bytes: UnsafeRawBufferPointer, _ wanted: [UInt8]) -> Bool {
        guard let first = wanted.first else { return true }
        guard bytes.count >= wanted.count else { return false }
        for start in 0...lastStart(bytes.count - wanted.count) where bytes[start] == first {
            if wanted.indices.allSatisfy({ bytes[start + $0] == wanted[$0] }) { return true }
        }
        return false
    }

    private static func lastStart(_ last: Int) -> Int {
        #if Zoo
            if PlantedMistake.textEndUnsearched.isPlanted, last > 0 { return last - 1 }
        #endif
        return last
    }

    /// Negative, zero or positive if `a` precedes, equals or follows `b`.
    static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        for index in 0..<min(a.count, b.count) where a[index] != b[index] {
            return a[index] < b[index] ? -1 : 1
        }
        return a.count - b.count
    }

    private static func holds(_ comparison: RowFilter.Comparison, _ order: Int) -> Bool {
        switch comparison {
        case .equal: order == 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}
