/// The values of one column as plain memory. A loop over arrays in an enumeration counts references for every value,
/// which took a tenth of SQLite's time for a row, and more of LMDB's.
package struct PinnedColumn {
    package enum Kind: Sendable { case integer, real, text, link, links }

    package let kind: Kind
    /// Integers and reals: 8 bytes a row. Texts and lists of links: where each row's part of `parts` ends, an `Int` a
    /// row, which counts bytes of a text and elements of a list. Links: an `Int32` a row.
    package let rows: UnsafeRawPointer
    /// UTF-8 of the texts, or `Int32` row indexes of the lists; nil for other kinds.
    package let parts: UnsafeRawPointer?

    @inline(__always)
    package func integer(_ row: Int) -> Int64 { rows.load(fromByteOffset: row &* 8, as: Int64.self) }
    @inline(__always)
    package func real(_ row: Int) -> Double { rows.load(fromByteOffset: row &* 8, as: Double.self) }
    /// Negative: no link.
    @inline(__always)
    package func link(_ row: Int) -> Int32 { rows.load(fromByteOffset: row &* 4, as: Int32.self) }

    /// Of a text or a list: where the row's part begins and ends.
    @inline(__always)
    package func part(_ row: Int) -> (start: Int, end: Int) {
        (
            row == 0 ? 0 : rows.load(fromByteOffset: (row &- 1) &* 8, as: Int.self),
            rows.load(fromByteOffset: row &* 8, as: Int.self)
        )
    }
}

extension Table {
    /// Runs the body with the table's columns, in their order, as memory that is valid until it returns.
    ///
    /// Row indexes that are given to a pinned column must be below `rowCount`: it does not check them.
    package func withPinnedColumns<Output, Failure: Error>(
        _ body: ([PinnedColumn]) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        try Self.pin(columns[...], [], body)
    }

    /// Pins one column after the other, and runs the body inside all of these calls.
    private static func pin<Output, Failure: Error>(
        _ columns: ArraySlice<Column>, _ pinned: [PinnedColumn],
        _ body: ([PinnedColumn]) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        guard let column = columns.first else { return try body(pinned) }
        func next(
            _ kind: PinnedColumn.Kind, _ rows: UnsafeRawBufferPointer, _ parts: UnsafeRawBufferPointer? = nil
        ) throws(Failure) -> Output {
            let column = PinnedColumn(
                kind: kind, rows: rows.baseAddress ?? nothing, parts: parts.map { $0.baseAddress ?? nothing })
            return try pin(columns.dropFirst(), pinned + [column], body)
        }
        switch column.values {
        case .integer(let values): return try bytes(of: values) { rows throws(Failure) in try next(.integer, rows) }
        case .real(let values): return try bytes(of: values) { rows throws(Failure) in try next(.real, rows) }
        case .link(_, let values): return try bytes(of: values) { rows throws(Failure) in try next(.link, rows) }
        case .text(let text):
            return try bytes(of: text.ends) { rows throws(Failure) in
                try bytes(of: text.bytes) { parts throws(Failure) in try next(.text, rows, parts) }
            }
        case .links(_, let lists):
            return try bytes(of: lists.ends) { rows throws(Failure) in
                try bytes(of: lists.targets) { parts throws(Failure) in try next(.links, rows, parts) }
            }
        }
    }

    /// In place of the address of an empty array, which is never read.
    private static var nothing: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 16).unsafelyUnwrapped }

    private static func bytes<Element: BitwiseCopyable, Output, Failure: Error>(
        of values: [Element], _ body: (UnsafeRawBufferPointer) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        try values.withUnsafeBufferPointer { values throws(Failure) in try body(UnsafeRawBufferPointer(values)) }
    }
}
