/// Decodes the live rows of one group after another, in the columns that are wanted.
struct GroupDecoder {
    /// Rows of the last group; columns that are not wanted are empty.
    let rows: RowSet
    private let layout: TableLayout
    private let wanted: [Int]
    private let reader: PageReader
    /// Set for a walk over a whole version.
    private let met: MetNodes?

    /// - Parameter wanted: columns, counted from the first system column; the key is always decoded.
    init(_ layout: TableLayout, wanted: [Int], reader: PageReader, met: MetNodes? = nil) {
        self.met = met
        rows = RowSet(layout)
        self.layout = layout
        self.wanted = wanted
        self.reader = reader
    }

    /// Fills ``rows`` with a group's live rows from the key `from` on.
    func decode(_ group: Group, from: RowKey? = nil) throws(StorageError) {
        try met?.meet(group.base)
        rows.removeAll()
        try group.decode(into: rows, layout, wanted: wanted, reader)
        try resolveLong()
        try reader.confirm()
        guard let from, rows.count > 0, rows.key(0) < from.rawValue else { return }
        let skipped = rows.lowerBound(from.rawValue)
        let bits = [UInt64](unsafeUninitializedCapacity: rows.count / 64 + 1) { buffer, count in
            for word in buffer.indices { buffer[word] = 0 }
            for row in 0..<skipped { buffer[row >> 6] |= 1 << UInt64(row & 63) }
            count = buffer.count
        }
        bits.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            for column in Set(wanted).union([RowSet.keyColumn]) { rows.columns[column].removeRows(marked: base) }
        }
    }

    /// Replaces the descriptors of long values by their bytes, except for trees.
    private func resolveLong() throws(StorageError) {
        for column in wanted where rows.columns[column].kind == .bytes && rows.columns[column].hasFlags {
            let buffer = rows.columns[column]
            for row in 0..<buffer.count where buffer.isLong(row) {
                if layout.isCollection[column], buffer.isTree(row) { continue }
                buffer.resolve(row, try reader.long(buffer.bytes(row)))
            }
        }
    }
}

extension ColumnBuffer {
    /// Whether a long value is a tree of elements.
    func isTree(_ row: Int) -> Bool {
        guard isLong(row), let base = bytes(row).baseAddress else { return false }
        return LongValue(base).isTree
    }

    /// Replaces a descriptor by the bytes of its value.
    func resolve(_ row: Int, _ bytes: UnsafeRawBufferPointer) {
        words[row] = UInt64(UInt(bitPattern: bytes.baseAddress))
        lengths[row] = UInt32(truncatingIfNeeded: bytes.count)
        flags[row] = 0
    }
}
