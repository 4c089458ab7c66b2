/// Rows of a scan: some thousand at a time, decoded by column, in key order.
///
/// Valid during the call of the body.
package struct RowBatch {
    let rows: RowSet
    let wanted: [Int]

    package var count: Int { rows.count }

    @inline(__always)
    package func key(_ row: Int) -> RowKey { RowKey(rows.key(row)) }

    package var keys: UnsafePointer<Int64> {
        UnsafeRawPointer(rows.columns[RowSet.keyColumn].words).assumingMemoryBound(to: Int64.self)
    }

    /// Values of the `index`-th wanted column; undefined for nulls.
    package func integers(_ index: Int) -> UnsafePointer<Int64> {
        UnsafeRawPointer(rows.columns[wanted[index]].words).assumingMemoryBound(to: Int64.self)
    }

    package func doubles(_ index: Int) -> UnsafePointer<Double> {
        UnsafeRawPointer(rows.columns[wanted[index]].words).assumingMemoryBound(to: Double.self)
    }

    @inline(__always)
    package func isNull(_ index: Int, _ row: Int) -> Bool { rows.columns[wanted[index]].isNull(row) }

    /// Whether a value of the `index`-th wanted column may be null.
    package func mayHaveNulls(_ index: Int) -> Bool { rows.columns[wanted[index]].hasFlags }

    /// Whether a collection is a tree, for a ``CollectionReader``: its bytes are a descriptor.
    package func isTree(_ index: Int, _ row: Int) -> Bool { rows.columns[wanted[index]].isTree(row) }

    @inline(__always)
    package func bytes(_ index: Int, _ row: Int) -> UnsafeRawBufferPointer { rows.columns[wanted[index]].bytes(row) }
}
