import Harness
import Measuring

/// Reads of single rows, with the places of their columns.
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

    /// Reads all rows from one version.
    @inlinable @inline(__always)
    package func read(
        from version: some KeyValueReader, _ buffer: KeyBuffer, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        try each(latency) { (key, digest) throws(EngineError) in try read(key, from: version, buffer, to: &digest) }
    }

    /// Calls `read` for each key, and times some of the calls.
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

    /// A missing row adds nothing.
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
