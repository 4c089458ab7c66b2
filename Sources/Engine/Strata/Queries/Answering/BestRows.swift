import StrataStorage

/// The rows that may be among the first of an order, of all those handed in so far: compared by one property, in the
/// order that ``RowSort`` has. Rows are handed in by ascending key.
struct BestRows {
    /// A row with its value of the property.
    private struct Row {
        /// Orders as the value, or as its first eight bytes, in the wanted direction.
        let word: UInt64
        /// Whether the row comes after those with the same word for which this is false: null and the lowest value
        /// share a word.
        let isSecond: Bool
        /// The whole value of text and data; else empty.
        let bytes: [UInt8]
        let key: Int64
    }

    private let most: Int
    private let ascending: Bool
    /// Whether other properties decide between rows with equal values; else the lower keys come first.
    private let keepsTies: Bool
    /// Inverts words for a descending order.
    private let flip: UInt64
    private var rows: [Row] = []
    private var capacity: Int
    /// The last of the best rows; nil until there are enough.
    private var last: Row?
    /// The word of `last`: rows with a higher word are not among the first.
    private var limit = UInt64.max
    /// Whether too many rows have the value of `last` to be kept: then the caller has to sort all rows.
    private(set) var isLost = false

    /// Beyond this number of kept rows, sorting all rows costs not much more.
    private static let mostKept = 1 << 16

    init(_ most: Int, ascending: Bool, keepsTies: Bool) {
        self.most = most
        self.ascending = ascending
        self.keepsTies = keepsTies
        flip = ascending ? 0 : .max
        capacity = 4 * most
        rows.reserveCapacity(capacity)
    }

    @inline(__always)
    mutating func add(_ value: Int64, _ key: Int64) {
        let word = (UInt64(bitPattern: value) ^ 1 << 63) ^ flip
        if word <= limit { offer(Row(word: word, isSecond: ascending, bytes: [], key: key)) }
    }

    @inline(__always)
    mutating func add(_ value: Double, _ key: Int64) {
        let word = value.orderedBits ^ flip
        if word <= limit { offer(Row(word: word, isSecond: ascending, bytes: [], key: key)) }
    }

    mutating func add(_ value: UnsafeRawBufferPointer, _ key: Int64) {
        let word = Self.word(value) ^ flip
        if word > limit { return }
        // Compares before the bytes are copied, since many texts start alike.
        if word == limit, let last, last.isSecond == ascending {
            let order = last.bytes.withUnsafeBytes { TextSearch.order(value, $0) }
            if ascending ? order > 0 : order < 0 { return }
            if order == 0 && !keepsTies { return }
        }
        offer(Row(word: word, isSecond: ascending, bytes: Array(value), key: key))
    }

    mutating func addNull(_ key: Int64) {
        if flip <= limit { offer(Row(word: flip, isSecond: !ascending, bytes: [], key: key)) }
    }

    /// The keys of the rows that may be among the first, ascending.
    mutating func keys() -> [Int64] {
        cut()
        return rows.map(\.key).sorted()
    }

    @inline(never)
    private mutating func offer(_ row: Row) {
        if let last {
            let order = Self.compare(row, last, ascending)
            if order > 0 || order == 0 && !keepsTies { return }
        }
        rows.append(row)
        if rows.count >= capacity { cut() }
    }

    /// Drops the rows that cannot be among the first any more.
    private mutating func cut() {
        if rows.count <= most { return }
        let ascending = ascending
        rows.sort { a, b in
            let order = Self.compare(a, b, ascending)
            return order == 0 ? a.key < b.key : order < 0
        }
        let last = rows[most - 1]
        var kept = most
        if keepsTies { while kept < rows.count, Self.compare(rows[kept], last, ascending) == 0 { kept += 1 } }
        rows.removeLast(rows.count - kept)
        self.last = last
        limit = last.word
        capacity = max(4 * most, 2 * kept)
        if kept > Self.mostKept { isLost = true }
    }

    /// Less than, equal to or greater than 0, as the first row comes before, with or after the second.
    private static func compare(_ a: Row, _ b: Row, _ ascending: Bool) -> Int {
        if a.word != b.word { return a.word < b.word ? -1 : 1 }
        if a.isSecond != b.isSecond { return a.isSecond ? 1 : -1 }
        if a.bytes.isEmpty && b.bytes.isEmpty { return 0 }
        let order = a.bytes.withUnsafeBytes { a in b.bytes.withUnsafeBytes { b in TextSearch.order(a, b) } }
        return ascending ? order : -order
    }

    /// The first eight bytes as a big-endian number, filled up with zeros.
    private static func word(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        if bytes.count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
        var word: UInt64 = 0
        for place in 0..<8 { word = word << 8 | (place < bytes.count ? UInt64(bytes[place]) : 0) }
        return word
    }
}
