import Harness
import RunRecords

/// Packs the rows of a data set's table, one after the other, into one buffer.
package final class RowPacker {
    private enum Source {
        case words([UInt64])
        case text(TextColumn)
        case links(LinkListColumn)
    }

    package let table: PackedTable
    private var sources: [(column: PackedColumn, source: Source)] = []
    private var keys: [Int64]?
    private var buffer: UnsafeMutableRawBufferPointer

    /// Throws: `refused` where the rows do not have the table's columns.
    package init(_ rows: Table, as table: PackedTable) throws(EngineError) {
        self.table = table
        buffer = .allocate(byteCount: max(4_096, table.headBytes), alignment: 8)
        for column in table.columns {
            guard let values = rows.column(column.name)?.values else {
                throw EngineError(.refused, "the rows of \(table.name) have no column \(column.name)")
            }
            switch (values, column.kind) {
            case (.integer(let values), .integer):
                if column.isKey { keys = values } else { add(column, .words(values.map { UInt64(bitPattern: $0) })) }
            case (.real(let values), .real): add(column, .words(values.map(\.bitPattern)))
            case (.link(_, let values), .link): add(column, .words(values.map { UInt64(bitPattern: Int64($0)) }))
            case (.text(let values), .text): add(column, .text(values))
            case (.links(_, let values), .links): add(column, .links(values))
            default: throw EngineError(.refused, "column \(column.name) of \(table.name) is of another kind")
            }
        }
    }

    private func add(_ column: PackedColumn, _ source: Source) { sources.append((column, source)) }

    deinit { buffer.deallocate() }

    /// nil where keys are row indexes, which the caller counts.
    package func key(_ row: Int) -> Int64? { keys?[row] }

    /// Valid until the next call.
    package func pack(_ row: Int) -> UnsafeRawBufferPointer {
        let head = table.headBytes
        var end = head
        for (column, source) in sources {
            switch source {
            case .words(let words):
                buffer.storeBytes(of: words[row].littleEndian, toByteOffset: column.place, as: UInt64.self)
                continue
            case .text(let text):
                let range = text.range(row)
                makeRoom(end + range.count)
                text.bytes.withUnsafeBytes { bytes in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[end...]).copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: bytes[range]))
                }
                end += range.count
            case .links(let lists):
                let targets = lists[row]
                makeRoom(end + targets.count * 4)
                for target in targets {
                    buffer.storeBytes(of: target.littleEndian, toByteOffset: end, as: Int32.self)
                    end += 4
                }
            }
            if column.place < table.variableCount - 1 {
                buffer.storeBytes(
                    of: UInt32(truncatingIfNeeded: end - head).littleEndian,
                    toByteOffset: table.fixedBytes + column.place * 4, as: UInt32.self)
            }
        }
        return UnsafeRawBufferPointer(rebasing: buffer[..<end])
    }

    private func makeRoom(_ bytes: Int) {
        guard bytes > buffer.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes * 2, alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
        buffer.deallocate()
        buffer = larger
    }
}
