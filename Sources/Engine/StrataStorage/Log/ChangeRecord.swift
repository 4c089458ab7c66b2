/// Encoding of one commit's changes in the log. docs/file-format.md draws it; a test pins it.
///
/// A record: byte count u32 @0 (itself included), flags u32 @4, LSN u64 @8, then operations without padding. The
/// records of a batch follow one another. Operations hold results, so that replay only stores values:
///
///     columns   = 1, table, count, count x column id        columns of the rows of this table that follow
///     row       = 2, key minus the key of the row before, cells in the order of `columns`
///     set       = 3, table, key, column id, cell
///     delete    = 4, table, key
///     deleteAll = 5, table
///     schema    = 6, byte count, schema                      voids `columns`
///     nextKey   = 7, table, key
///     collection = 8, table, key, column id, cells, depth, depth x place   the collection of the next 9 to 12
///     insertElements = 9, place, count u32, elements
///     removeElements = 10, place, count u32
///     setElements = 11, place, count u32, values
///     moveElements = 12, place, count, place afterwards
///
/// Operation 8 says how many cells an element has: 1, or 2 in a map, key and value. Operation 11 has values alone.
/// Depth is 0 for a row's own collection; otherwise the places, from the outside in, lead to an inner collection, in
/// the state before the next operation. Operation 8 applies to the operations on elements that follow, until one of
/// another kind. Counts of 9 to 11 have four bytes. Their bit 31 marks an operation that the transaction did element by
/// element, each at the next place, or in 10 at the same place. The recorder extends such an operation by raising its
/// count. Replay repeats it element by element, too: a tree that takes a run at once may get other leaves.
///
/// Ids and counts are LEB128 (7 bits a byte, low ones first). Keys are zigzag (sign in bit 0) LEB128. A cell starts
/// with a tag: 0 null; 2 double, 8 bytes; 3 bytes, count as LEB128, bytes; 16 + n integer, the low n (0 to 8) bytes
/// of its zigzag form.
package enum ChangeRecord {
    /// Bytes before the operations.
    package static let headerSize = 16

    enum Operation: UInt8 {
        case columns = 1
        case row = 2
        case set = 3
        case delete = 4
        case deleteAll = 5
        case schema = 6
        case nextKey = 7
        case collection = 8
        case insertElements = 9
        case removeElements = 10
        case setElements = 11
        case moveElements = 12

        var isOfElements: Bool {
            switch self {
            case .insertElements, .removeElements, .setElements, .moveElements: true
            default: false
            }
        }
    }

    /// Set in the count of elements that were inserted, removed or set one after the other.
    static let eachBit: UInt32 = 1 << 31

    enum CellTag {
        static let null: UInt8 = 0
        static let double: UInt8 = 2
        static let bytes: UInt8 = 3
        static let integer: UInt8 = 16
    }

    @inline(__always)
    static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }

    @inline(__always)
    static func unzigzag(_ value: UInt64) -> Int64 { Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
}

/// One operation of a record, as ``ChangeReader`` returns it.
package enum Change {
    /// The cells are in ``ChangeReader/cells``, their columns in ``ChangeReader/columns``.
    case insert(TableID, RowKey)
    case set(TableID, RowKey, ColumnID, Cell)
    case delete(TableID, RowKey)
    case deleteAll(TableID)
    /// Encoded by ``SchemaCoding``.
    case schema(UnsafeRawBufferPointer)
    case nextKey(TableID, RowKey)
    /// The collection that the following operations on elements apply to, and its cells per element.
    case collection(TableID, RowKey, ColumnID, cells: Int, path: [Int])
    /// ``ChangeReader/element()`` returns the cells.
    case insertElements(at: Int, count: Int, isEach: Bool)
    case removeElements(at: Int, count: Int, isEach: Bool)
    /// ``ChangeReader/element()`` returns the cells, one for each element.
    case setElements(at: Int, count: Int, isEach: Bool)
    case moveElements(at: Int, count: Int, to: Int)
}
