import Harness
import RunRecords

/// Packs the rows of a data set's table, one at a time, into one buffer.
///
/// It reads each column by a pointer into the table's own memory, which costs no retain, no release and no copy. A loop
/// over arrays in an enumeration retained and released for every value: a third of LMDB's time for a row.
@usableFromInline
package final class RowPacker {
    /// How to pack the values of one column.
    private struct Step {
        enum Kind { case word, link, text, links }

        let kind: Kind
        /// An offset in the row. Of a word or a link: where it is stored. Of a text or a list: where the end of its
        /// bytes is stored; -1 for the last column of these, which ends with the row.
        let place: Int
        let column: PinnedColumn
    }

    private let steps: UnsafeMutableBufferPointer<Step>
    private let keys: PinnedColumn?
    private var buffer: UnsafeMutableRawBufferPointer
    private let head: Int

    /// Runs the body with a packer of these rows. The packer is valid until the body returns.
    ///
    /// Throws: `refused` where the rows do not have the table's columns.
    @usableFromInline
    package static func with<Output>(
        _ rows: Table, as table: PackedTable, _ body: (RowPacker) throws(EngineError) -> Output
    ) throws(EngineError) -> Output {
        try rows.withPinnedColumns { pinned throws(EngineError) in
            try body(try RowPacker(rows, pinned, as: table))
        }
    }

    private init(_ rows: Table, _ pinned: [PinnedColumn], as table: PackedTable) throws(EngineError) {
        var steps: [Step] = []
        var keys: PinnedColumn?
        for column in table.columns {
            guard let index = rows.columnIndex(column.name) else {
                throw EngineError(.refused, "the rows of \(table.name) have no column \(column.name)")
            }
            if column.isKey, pinned[index].kind == .integer {
                keys = pinned[index]
                continue
            }
            steps.append(try Self.step(column, pinned[index], of: table))
        }
        self.keys = keys
        head = table.headBytes
        buffer = .allocate(byteCount: max(4_096, table.headBytes), alignment: 8)
        self.steps = .allocate(capacity: steps.count)
        _ = self.steps.initialize(from: steps)
    }

    deinit {
        buffer.deallocate()
        steps.deallocate()
    }

    private static func step(
        _ column: PackedColumn, _ values: PinnedColumn, of table: PackedTable
    ) throws(EngineError) -> Step {
        let end = column.place < table.variableCount - 1 ? table.fixedBytes + column.place * 4 : -1
        switch (values.kind, column.kind) {
        case (.integer, .integer), (.real, .real): return Step(kind: .word, place: column.place, column: values)
        case (.link, .link): return Step(kind: .link, place: column.place, column: values)
        case (.text, .text): return Step(kind: .text, place: end, column: values)
        case (.links, .links): return Step(kind: .links, place: end, column: values)
        default: throw EngineError(.refused, "column \(column.name) of \(table.name) is of another kind")
        }
    }

    /// The row's key; nil where keys are row indexes, so that the caller has to number the rows.
    @usableFromInline
    package func key(_ row: Int) -> Int64? { keys?.integer(row) }

    /// The packed row, valid until the next call.
    @usableFromInline
    package func pack(_ row: Int) -> UnsafeRawBufferPointer {
        var end = head
        for step in steps {
            switch step.kind {
            case .word: store(UInt64(bitPattern: step.column.integer(row)), at: step.place)
            case .link: store(UInt64(bitPattern: Int64(step.column.link(row))), at: step.place)
            case .text: append(step, row, bytesPerElement: 1, &end)
            case .links: append(step, row, bytesPerElement: 4, &end)
            }
        }
        return UnsafeRawBufferPointer(rebasing: buffer[..<end])
    }

    @inline(__always)
    private func store(_ word: UInt64, at place: Int) {
        buffer.storeBytes(of: word.littleEndian, toByteOffset: place, as: UInt64.self)
    }

    /// Appends the bytes of a text or a list, and stores where they end.
    @inline(__always)
    private func append(_ step: Step, _ row: Int, bytesPerElement: Int, _ end: inout Int) {
        let part = step.column.part(row)
        let count = (part.end - part.start) * bytesPerElement
        if count > 0, let parts = step.column.parts {
            if end + count > buffer.count { makeRoom(end + count) }
            // Copies row indexes in this machine's byte order: little-endian on every supported machine.
            (buffer.baseAddress.map { $0 + end })?
                .copyMemory(from: parts + part.start * bytesPerElement, byteCount: count)
            end += count
        }
        guard step.place >= 0 else { return }
        buffer.storeBytes(
            of: UInt32(truncatingIfNeeded: end - head).littleEndian, toByteOffset: step.place, as: UInt32.self)
    }

    private func makeRoom(_ bytes: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes * 2, alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
        buffer.deallocate()
        buffer = larger
    }
}
