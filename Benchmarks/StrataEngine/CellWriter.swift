import RunRecords
import StrataStorage

/// Turns the rows of a data set's table into cells, without copies of texts and without retains.
///
/// Valid only inside ``with(_:_:_:)``: it points into the columns.
struct CellWriter {
    private enum Source {
        case integer(UnsafePointer<Int64>)
        case real(UnsafePointer<Double>)
        case link(UnsafePointer<Int32>)
        /// The column's bytes, and the end of each row's.
        case bytes(UnsafeRawPointer, UnsafePointer<Int>)
    }

    private let sources: UnsafeMutableBufferPointer<Source>
    private let cells: UnsafeMutableBufferPointer<Cell>
    private let keys: UnsafePointer<Int64>?

    static func with(
        _ rows: Table, _ definition: TableDefinition, _ body: (CellWriter) throws(StorageError) -> Void
    ) throws(StorageError) {
        let keyName = String(decoding: definition.information, as: UTF8.self)
        var columns: [ColumnValues] = []
        for column in definition.columns {
            guard let values = rows.column(column.name)?.values else { throw .misuse(.noSuchColumn) }
            columns.append(values)
        }
        var keys: [Int64] = []
        if !keyName.isEmpty {
            guard case .integer(let values)? = rows.column(keyName)?.values else { throw .misuse(.noSuchColumn) }
            keys = values
        }
        try pin(columns[...], []) { sources throws(StorageError) in
            var failure: StorageError?
            keys.withUnsafeBufferPointer { keys in
                do throws(StorageError) {
                    try run(sources, keyName.isEmpty ? nil : keys.baseAddress, body)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        }
    }

    private static func run(
        _ sources: [Source], _ keys: UnsafePointer<Int64>?, _ body: (CellWriter) throws(StorageError) -> Void
    ) throws(StorageError) {
        let own = UnsafeMutableBufferPointer<Source>.allocate(capacity: sources.count)
        _ = own.initialize(from: sources)
        let cells = UnsafeMutableBufferPointer<Cell>.allocate(capacity: sources.count)
        cells.initialize(repeating: .null)
        defer {
            own.deallocate()
            cells.deallocate()
        }
        try body(CellWriter(sources: own, cells: cells, keys: keys))
    }

    /// Pins one column after the other, and runs the body inside all of these calls.
    private static func pin(
        _ columns: ArraySlice<ColumnValues>, _ sources: [Source],
        _ body: ([Source]) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let column = columns.first else { return try body(sources) }
        let rest = columns.dropFirst()
        switch column {
        case .integer(let values):
            try held(values) { base throws(StorageError) in try pin(rest, sources + [.integer(base)], body) }
        case .real(let values):
            try held(values) { base throws(StorageError) in try pin(rest, sources + [.real(base)], body) }
        case .link(_, let values):
            try held(values) { base throws(StorageError) in try pin(rest, sources + [.link(base)], body) }
        case .text(let text):
            try held(text.ends) { ends throws(StorageError) in
                try held(text.bytes) { bytes throws(StorageError) in
                    try pin(rest, sources + [.bytes(UnsafeRawPointer(bytes), ends)], body)
                }
            }
        case .links(_, let lists):
            var bytes: [UInt8] = []
            var ends: [Int] = []
            ends.reserveCapacity(lists.count)
            for row in 0..<lists.count {
                let links = lists[row]
                if !links.isEmpty { bytes += LinkPayload.encode(links.map { Int64($0) }) }
                ends.append(bytes.count)
            }
            try held(ends) { ends throws(StorageError) in
                try held(bytes) { bytes throws(StorageError) in
                    try pin(rest, sources + [.bytes(UnsafeRawPointer(bytes), ends)], body)
                }
            }
        }
    }

    /// Runs the body with the address of an array, also of an empty one.
    private static func held<Element>(
        _ values: [Element], _ body: (UnsafePointer<Element>) throws(StorageError) -> Void
    ) throws(StorageError) {
        let none = UnsafeMutablePointer<Element>.allocate(capacity: 1)
        defer { none.deallocate() }
        var failure: StorageError?
        values.withUnsafeBufferPointer { buffer in
            do throws(StorageError) { try body(buffer.baseAddress ?? UnsafePointer(none)) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// nil if keys are row indexes, so that the caller has to number the rows.
    func key(_ row: Int) -> Int64? { keys?[row] }

    @inline(__always)
    func insert(_ row: Int, at table: Int, as key: Int64, in transaction: WriteTransaction) throws(StorageError) {
        for index in 0..<sources.count {
            switch sources[index] {
            case .integer(let values): cells[index] = .integer(values[row])
            case .real(let values): cells[index] = .double(values[row])
            case .link(let values): cells[index] = values[row] < 0 ? .null : .integer(Int64(values[row]))
            case .bytes(let bytes, let ends):
                let start = row == 0 ? 0 : ends[row - 1]
                cells[index] = .bytes(UnsafeRawBufferPointer(start: bytes + start, count: ends[row] - start))
            }
        }
        try transaction.insert(table, key: RowKey(key), UnsafeBufferPointer(cells))
    }
}
