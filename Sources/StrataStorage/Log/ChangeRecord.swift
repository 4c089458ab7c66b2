/// The encoding of one commit's changes in the log. docs/file-format.md draws it; a test pins it.
///
/// A record: byte count u32 @0 (itself included), flags u32 @4, LSN u64 @8, then operations without padding. Records
/// of a batch stand one behind the other. Operations hold results, not intentions, so that applying one is a plain
/// store:
///
///     columns   = 1, table, count, count x column id        what later rows of this table consist of
///     row       = 2, key minus the key of the row before, cells in the order of `columns`
///     set       = 3, table, key, column id, cell
///     delete    = 4, table, key
///     deleteAll = 5, table
///     schema    = 6, byte count, schema                      voids `columns`
///     nextKey   = 7, table, key
///     collection = 8, table, key, column id, cells, depth, depth x place   what 9 to 12 apply to
///     insertElements = 9, place, count u32, elements
///     removeElements = 10, place, count u32
///     setElements = 11, place, count u32, values
///     moveElements = 12, place, count, place afterwards
///
/// An element is so many cells as 8 says: 1, or 2 in a map, key and value; 11 has values alone. Depth is 0 for a
/// row's own collection; places lead to one that stands in an element, from outside in, as they are at that moment.
/// What 8 says goes for all operations on elements that follow, until one of another kind comes. Counts of
/// 9 to 11 have four bytes. Bit 31 says that it was done for one element after the other, each at the next place, or
/// in 10 at the same one: such an operation is extended where it stands, and is done again in the same way, because a
/// tree that takes a run at once may have other leaves.
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

    /// Set in the number of elements that were inserted, removed or set one after the other.
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

/// One operation of a record, as ``ChangeReader`` hands it out.
package enum Change {
    /// The cells are in ``ChangeReader/cells``, their columns in ``ChangeReader/columns``.
    case insert(TableID, RowKey)
    case set(TableID, RowKey, ColumnID, Cell)
    case delete(TableID, RowKey)
    case deleteAll(TableID)
    /// Bytes for ``SchemaCoding``.
    case schema(UnsafeRawBufferPointer)
    case nextKey(TableID, RowKey)
    /// What the operations on elements that follow apply to, and how many cells an element has.
    case collection(TableID, RowKey, ColumnID, cells: Int, path: [Int])
    /// The cells come from ``ChangeReader/element()``.
    case insertElements(at: Int, count: Int, isEach: Bool)
    case removeElements(at: Int, count: Int, isEach: Bool)
    /// The cells, one for each element, come from ``ChangeReader/element()``.
    case setElements(at: Int, count: Int, isEach: Bool)
    case moveElements(at: Int, count: Int, to: Int)
}
