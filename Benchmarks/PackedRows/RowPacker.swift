import Harness
import RunRecords

/// Packs the rows of a data set's table, one at a time, into one buffer.
///
/// The columns are copied once into separate memory, and each becomes a step without references: a loop over arrays in
/// an enumeration counted references for every value, and took a third of LMDB's time for a row.
package final class RowPacker {
    /// The part of a column in a row.
    private struct Step {
        enum Kind { case word, bytes }

        var kind: Kind
        /// The offset of the word; or of the end of the bytes, -1 where the end of the row is theirs.
        var place: Int
        /// A word per row, or the end of each row's bytes.
        var words: UnsafePointer<UInt64>
        var bytes: UnsafePointer<UInt8>
    }

    package let table: PackedTable
    private let steps: UnsafeMutableBufferPointer<Step>
    private var owned: [UnsafeMutableRawPointer] = []
    private var keys: [Int64]?
    private var buffer: UnsafeMutableRawBufferPointer
    private let head: Int

    /// Throws: `refused` where the rows do not have the table's columns.
    package init(_ rows: Table, as table: PackedTable) throws(EngineError) {
        self.table = table
        head = table.headBytes
        buffer = .allocate(byteCount: max(4_096, table.headBytes), alignment: 8)
        let packed = table.columns.filter { !$0.isKey }
        steps = .allocate(capacity: packed.count)
        var count = 0
        for column in table.columns {
            guard let values = rows.column(column.name)?.values else {
                throw EngineError(.refused, "the rows of \(table.name) have no column \(column.name)")
            }
            if column.isKey, case .integer(let values) = values {
                keys = values
                continue
            }
            steps.initializeElement(at: count, to: try step(column, values))
            count += 1
        }
    }

    deinit {
        buffer.deallocate()
        steps.deallocate()
        for memory in owned { memory.deallocate() }
    }

    private func step(_ column: PackedColumn, _ values: ColumnValues) throws(EngineError) -> Step {
        let end = column.place < table.variableCount - 1 ? table.fixedBytes + column.place * 4 : -1
        switch (values, column.kind) {
        case (.integer(let values), .integer): return word(column, copy(values))
        case (.real(let values), .real): return word(column, copy(values))
        case (.link(_, let values), .link): return word(column, copy(values.map { Int64($0) }))
        case (.text(let text), .text):
            return Step(kind: .bytes, place: end, words: words(copy(text.ends)), bytes: bytes(copy(text.bytes)))
        case (.links(_, let lists), .links):
            let ends = copy(lists.ends.map { $0 * 4 })
            let targets = copy(lists.targets.map(\.littleEndian))
            return Step(kind: .bytes, place: end, words: words(ends), bytes: bytes(targets))
        default: throw EngineError(.refused, "column \(column.name) of \(table.name) is of another kind")
        }
    }

    private func word(_ column: PackedColumn, _ values: UnsafeMutableRawPointer) -> Step {
        Step(kind: .word, place: column.place, words: words(values), bytes: bytes(values))
    }

    private func words(_ memory: UnsafeMutableRawPointer) -> UnsafePointer<UInt64> {
        UnsafePointer(memory.assumingMemoryBound(to: UInt64.self))
    }

    private func bytes(_ memory: UnsafeMutableRawPointer) -> UnsafePointer<UInt8> {
        UnsafePointer(memory.assumingMemoryBound(to: UInt8.self))
    }

    private func copy<Element: BitwiseCopyable>(_ values: [Element]) -> UnsafeMutableRawPointer {
        values.withUnsafeBytes { source in
            let memory = UnsafeMutableRawPointer.allocate(byteCount: max(8, source.count), alignment: 8)
            if let start = source.baseAddress { memory.copyMemory(from: start, byteCount: source.count) }
            owned.append(memory)
            return memory
        }
    }

    /// nil where keys are row indexes, which the caller counts.
    package func key(_ row: Int) -> Int64? { keys?[row] }

    /// Valid until the next call.
    package func pack(_ row: Int) -> UnsafeRawBufferPointer {
        var end = head
        for step in steps {
            switch step.kind {
            case .word:
                buffer.storeBytes(of: step.words[row].littleEndian, toByteOffset: step.place, as: UInt64.self)
            case .bytes:
                let start = row == 0 ? 0 : Int(step.words[row - 1])
                let count = Int(step.words[row]) - start
                if end + count > buffer.count { makeRoom(end + count) }
                (buffer.baseAddress.map { $0 + end })?.copyMemory(from: step.bytes + start, byteCount: count)
                end += count
                if step.place >= 0 {
                    buffer.storeBytes(
                        of: UInt32(truncatingIfNeeded: end - head).littleEndian, toByteOffset: step.place,
                        as: UInt32.self)
                }
            }
        }
        return UnsafeRawBufferPointer(rebasing: buffer[..<end])
    }

    private func makeRoom(_ bytes: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes * 2, alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
        buffer.deallocate()
        buffer = larger
    }
}
