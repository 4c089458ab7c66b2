import Harness
import Measuring

/// Reads single rows by key, and adds some of their columns to a digest.
@usableFromInline
package struct PackedPoints {
    @usableFromInline let keys: [Int64]
    @usableFromInline let number: UInt8
    @usableFromInline let cells: [PackedCell]

    @usableFromInline
    package init(_ reads: PointReads, _ table: PackedTable) throws(EngineError) {
        keys = reads.keys
        number = table.number
        var cells: [PackedCell] = []
        for name in reads.columns { cells.append(PackedCell(try table.column(name), of: table)) }
        self.cells = cells
    }

    /// Looks up all keys in `version`.
    @inlinable @inline(__always)
    package func read(
        from version: some KeyValueReader, _ buffer: KeyBuffer, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        try each(latency) { (key, digest) throws(EngineError) in try read(key, from: version, buffer, to: &digest) }
    }

    /// Calls `read` for each key; with `latency`, times every 64th call.
    @inlinable @inline(__always)
    package func each(
        _ latency: LatencyRecorder?, _ read: (Int64, inout ReadDigest) throws(EngineError) -> Void
    ) throws(EngineError) -> ReadDigest {
        var digest = ReadDigest()
        for (index, key) in keys.enumerated() {
            if let latency {
                try latency.timeSampled(index) { () throws(EngineError) in try read(key, &digest) }
            } else {
                try read(key, &digest)
            }
        }
        return digest
    }

    /// Adds the columns of a row to the digest; adds nothing if the row is missing.
    @inlinable @inline(__always)
    package func read(
        _ key: Int64, from version: some KeyValueReader, _ buffer: KeyBuffer, to digest: inout ReadDigest
    ) throws(EngineError) {
        buffer.set(number, key)
        try version.get(buffer) { row throws(EngineError) in
            for cell in cells { try cell.add(key, row, to: &digest) }
        }
    }
}
