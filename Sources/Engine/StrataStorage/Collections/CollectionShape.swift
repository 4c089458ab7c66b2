/// Kind of a collection.
enum CollectionForm: UInt8, Sendable {
    case list = 0
    /// Its elements ascend strictly.
    case set = 1
    /// Its keys ascend strictly; each has a value.
    case map = 2
}

/// Owner and types of a collection, which all nodes of its tree have in common and name.
struct CollectionShape: Sendable {
    var form: CollectionForm
    /// Encoding of the values. Keys of a map are bytes.
    var kind: SegmentKind
    var table: UInt32
    /// Column and row of the collection. Each node names them, so that a reader can verify it, and a salvage can assign
    /// a leaf whose tree is lost.
    var column: UInt16
    var owner: Int64
    /// Whether a reader accepts nodes of any row.
    var isAnyones = false
    /// Number of collections around it: 0 for a row's own.
    var depth = 0
    /// Maps an element of a set, or a key of a map, to its order key: an integer that never descends where elements
    /// ascend.
    var orderKey: @Sendable (Cell) -> Int64 = CollectionShape.naturalKey

    /// Flags that all nodes have.
    var nodeFlags: Int { depth == 0 ? 0 : CollectionLeaf.isNested }

    /// The shape of an inner collection.
    /// - Parameter root: named in the error for too deep nesting.
    func nested(isKeyed: Bool, in root: NodeReference = .null) throws(StorageError) -> CollectionShape {
        if depth >= NestedCollection.deepest { throw CollectionTree.damaged(root) }
        return CollectionShape(
            form: isKeyed ? .map : .list, kind: .bytes, table: table, column: column, owner: owner,
            isAnyones: isAnyones, depth: depth + 1)
    }

    /// Integers as they are, doubles as ordered integers with NaN first, the first eight bytes of other values; null is
    /// first.
    static func naturalKey(_ cell: Cell) -> Int64 {
        switch cell.kind {
        case .null: .min
        case .integer: cell.integerValue
        case .double: cell.doubleValue.isNaN ? .min + 1 : IndexKey.ordered(cell.doubleValue)
        case .bytes: IndexKey.prefix(cell.bytesValue)
        }
    }
}

/// A buffer of elements: values, and for a map the key of each.
///
/// Concurrency: confined to its owner.
package final class CollectionElements {
    let values: ColumnBuffer
    /// Nil except for a map.
    let keys: ColumnBuffer?

    init(_ shape: CollectionShape) {
        values = ColumnBuffer(shape.kind)
        keys = shape.form == .map ? ColumnBuffer(.bytes) : nil
    }

    /// For the collections of a column.
    package init(_ column: CollectionColumn) {
        values = ColumnBuffer(column.kind)
        keys = column.isKeyed ? ColumnBuffer(.bytes) : nil
    }

    /// An empty buffer for the same collections.
    init(like other: CollectionElements) {
        values = ColumnBuffer(other.values.kind)
        keys = other.keys.map { ColumnBuffer($0.kind) }
    }

    @inline(__always) package var count: Int { values.count }

    /// Appends a copy of an element of a list or a set, or a value for a map's key that stays. It must have the kind of
    /// the column.
    @inline(__always)
    package func append(_ value: Cell) { values.append(value) }

    package func append(key: Cell, _ value: Cell) {
        keys?.append(key)
        values.append(value)
    }

    /// Whether a cell has the kind of the values.
    func takes(_ value: Cell) -> Bool {
        switch value.kind {
        case .null: true
        case .integer: values.kind == .integer
        case .double: values.kind == .double
        case .bytes: values.kind == .bytes
        }
    }

    /// Whether these can be elements of a column's collections.
    /// - Parameter onlyValues: for a map, its keys stay.
    func suits(_ column: CollectionColumn, onlyValues: Bool) -> Bool {
        let keyCount = column.isKeyed && !onlyValues ? values.count : 0
        return values.kind == column.kind && (keys?.count ?? 0) == keyCount
    }

    var hasNulls: Bool { values.hasFlags && (0..<values.count).contains { values.isNull($0) } }

    /// Whether any value is this integer, in a column of integers.
    func hasInteger(_ wanted: Int64) -> Bool {
        (0..<values.count).contains { values.integer($0) == wanted && !values.isNull($0) }
    }

    /// Appends elements of another buffer of the same shape; their bytes are borrowed.
    func append(_ other: CollectionElements, _ range: Range<Int>) {
        values.append(other.values, range)
        if let keys, let others = other.keys { keys.append(others, range) }
    }

    /// Appends all elements of a leaf; their bytes are borrowed.
    func append(_ leaf: CollectionLeaf) {
        if let keys, let segment = leaf.keys { segment.decode(into: keys) }
        leaf.values.decode(into: values)
    }

    func removeAll() {
        values.removeAll()
        keys?.removeAll()
    }
}

/// Computes the bytes that elements take in a leaf.
struct CollectionMeasure {
    private var keys: SegmentMeasure?
    private var values: SegmentMeasure

    init(_ elements: CollectionElements) {
        keys = elements.keys.map { SegmentMeasure($0.kind) }
        values = SegmentMeasure(elements.values.kind)
    }

    @inline(__always)
    mutating func add(_ elements: CollectionElements, _ index: Int) {
        values.add(elements.values, index)
        if let column = elements.keys { keys?.add(column, index) }
    }

    /// Bytes of the segments.
    @inline(__always) var size: Int { values.size + (keys.map { aligned8($0.size) } ?? 0) }
}

/// Computes the bytes that a segment of some values takes as ``SegmentPlan`` writes it in a roomy frame, without
/// exceptions.
struct SegmentMeasure {
    private let kind: SegmentKind
    private var rows = 0
    private var flags: UInt8 = 0
    private var low = Int64.max
    private var high = Int64.min
    private var total = 0
    private var first = 0
    private var isEqual = true

    init(_ kind: SegmentKind) { self.kind = kind }

    @inline(__always)
    mutating func add(_ column: ColumnBuffer, _ row: Int) {
        if column.hasFlags { flags |= column.flags[row] }
        switch kind {
        case .integer:
            if !column.isNull(row) {
                let value = column.integer(row)
                low = min(low, value)
                high = max(high, value)
            }
        case .double: break
        case .bytes:
            let length = Int(column.lengths[row])
            if rows == 0 { first = length }
            isEqual = isEqual && length == first
            total += length
        }
        rows += 1
    }

    @inline(__always)
    var size: Int {
        let bits = flags & ColumnBuffer.Flag.null != 0 ? Segment.bitBytes(rows) : 0
        switch kind {
        case .integer:
            let span = low > high ? 0 : UInt64(bitPattern: high) &- UInt64(bitPattern: low)
            return Segment.integersOffset + aligned8(rows * max(1, SegmentPlan.width(of: span))) + bits
        case .double: return Segment.headSize + 8 * rows + bits
        case .bytes:
            let long = flags & ColumnBuffer.Flag.long != 0 ? Segment.bitBytes(rows) : 0
            return Segment.headSize + bits + long + total + (isEqual ? 0 : 2 * (rows + 1))
        }
    }
}
