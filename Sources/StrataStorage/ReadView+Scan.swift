/// Rows handed out by a scan: some thousand at a time, decoded column by column, in key order.
///
/// Valid during the call that hands it out.
package struct RowBatch {
    let rows: RowSet
    let wanted: [Int]

    package var count: Int { rows.count }

    @inline(__always)
    package func key(_ row: Int) -> RowKey { RowKey(rows.key(row)) }

    package var keys: UnsafePointer<Int64> {
        UnsafeRawPointer(rows.columns[RowSet.keyColumn].words).assumingMemoryBound(to: Int64.self)
    }

    /// Values of the `index`-th wanted column. Null rows hold anything.
    package func integers(_ index: Int) -> UnsafePointer<Int64> {
        UnsafeRawPointer(rows.columns[wanted[index]].words).assumingMemoryBound(to: Int64.self)
    }

    package func doubles(_ index: Int) -> UnsafePointer<Double> {
        UnsafeRawPointer(rows.columns[wanted[index]].words).assumingMemoryBound(to: Double.self)
    }

    @inline(__always)
    package func isNull(_ index: Int, _ row: Int) -> Bool { rows.columns[wanted[index]].isNull(row) }

    /// Whether any row may be null.
    package func mayHaveNulls(_ index: Int) -> Bool { rows.columns[wanted[index]].hasFlags }

    @inline(__always)
    package func bytes(_ index: Int, _ row: Int) -> UnsafeRawBufferPointer { rows.columns[wanted[index]].bytes(row) }
}

extension ReadView {
    /// Hands out all rows from `from` on, in key order, until `body` returns false.
    ///
    /// `body` must not write to the table.
    package func scan(
        _ table: Int, columns: [Int], from: RowKey? = nil, _ body: (RowBatch) throws(StorageError) -> Bool
    ) throws(StorageError) {
        try prepareRows(table)
        let layout = state.layouts[table]
        let wanted = columns.map { $0 + RowSet.firstUserColumn }
        let rows = RowSet(layout)
        try forEachGroup(table, from: from?.rawValue ?? .min) { (group) throws(StorageError) in
            try decode(group, into: rows, layout, wanted, from: from)
            return rows.count == 0 ? true : try body(RowBatch(rows: rows, wanted: wanted))
        }
    }

    /// Fills `rows` with the wanted columns of a group's live rows, from the key `from` on.
    func decode(
        _ group: Group, into rows: RowSet, _ layout: TableLayout, _ wanted: [Int], from: RowKey?
    ) throws(StorageError) {
        rows.removeAll()
        try group.decode(into: rows, layout, wanted: wanted, reader)
        try resolveLong(rows, wanted)
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

    /// Puts the bytes of long values in the place of their descriptors.
    private func resolveLong(_ rows: RowSet, _ wanted: [Int]) throws(StorageError) {
        for column in wanted where rows.columns[column].kind == .bytes && rows.columns[column].hasFlags {
            let buffer = rows.columns[column]
            for row in 0..<buffer.count where buffer.isLong(row) {
                buffer.resolve(row, try long(buffer.bytes(row)))
            }
        }
    }

    /// All keys of a table in order. O(rows).
    package func keys(_ table: Int) throws(StorageError) -> [Int64] {
        var all: [Int64] = []
        all.reserveCapacity(min(try rowCount(table), 1 << 24))
        try scan(table, columns: []) { (batch) throws(StorageError) in
            all.append(contentsOf: UnsafeBufferPointer(start: batch.keys, count: batch.count))
            return true
        }
        return all
    }

    /// The first keys of a table, ascending; fewer than `count` when there are no more, and a batch more than asked at
    /// most.
    func keys(_ table: Int, atMost count: Int) throws(StorageError) -> [Int64] {
        var first: [Int64] = []
        try scan(table, columns: []) { (batch) throws(StorageError) in
            first.append(contentsOf: UnsafeBufferPointer(start: batch.keys, count: batch.count))
            return first.count < count
        }
        return first
    }
}

extension ColumnBuffer {
    /// Replaces a descriptor by the bytes that it leads to.
    func resolve(_ row: Int, _ bytes: UnsafeRawBufferPointer) {
        words[row] = UInt64(UInt(bitPattern: bytes.baseAddress))
        lengths[row] = UInt32(truncatingIfNeeded: bytes.count)
        flags[row] = 0
    }
}
