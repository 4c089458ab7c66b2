/// The values of one column as plain memory. A loop over arrays in an enumeration retains and releases an array for
/// every value, which took a tenth of SQLite's time for a row, and more of LMDB's.
@usableFromInline
package struct PinnedColumn {
    @usableFromInline
    package enum Kind: Sendable { case integer, real, text, link, links }

    @usableFromInline
    package let kind: Kind
    /// Integers and reals: 8 bytes a row. Texts and lists of links: an `Int` a row, the end of the row's values in
    /// `parts`, which counts bytes of a text and elements of a list. Links: an `Int32` a row.
    @usableFromInline
    package let rows: UnsafeRawPointer
    /// The UTF-8 of all texts, or the row indexes (`Int32`) of all lists; nil for other kinds.
    @usableFromInline
    package let parts: UnsafeRawPointer?

    @inlinable @inline(__always)
    package func integer(_ row: Int) -> Int64 { rows.load(fromByteOffset: row &* 8, as: Int64.self) }
    @inlinable @inline(__always)
    package func real(_ row: Int) -> Double { rows.load(fromByteOffset: row &* 8, as: Double.self) }
    /// The row index of the target; negative if the row has no link.
    @inlinable @inline(__always)
    package func link(_ row: Int) -> Int32 { rows.load(fromByteOffset: row &* 4, as: Int32.self) }

    /// The start and the end of a row's text or list in `parts`.
    @inlinable @inline(__always)
    package func part(_ row: Int) -> (start: Int, end: Int) {
        (
            row == 0 ? 0 : rows.load(fromByteOffset: (row &- 1) &* 8, as: Int.self),
            rows.load(fromByteOffset: row &* 8, as: Int.self)
        )
    }
}

extension Table {
    /// Runs the body with the table's columns, in their order, as memory that is valid until the body returns.
    ///
    /// A pinned column does not check row indexes: they must be below `rowCount`.
    package func withPinnedColumns<Output, Failure: Error>(
        _ body: ([PinnedColumn]) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        try Self.pin(columns[...], [], body)
    }

    /// Pins one column after the other, each in a call within that of the column before, and runs the body in the
    /// innermost.
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

    /// Stands for the address of an empty array, from which no value is read.
    private static var nothing: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 16).unsafelyUnwrapped }

    private static func bytes<Element: BitwiseCopyable, Output, Failure: Error>(
        of values: [Element], _ body: (UnsafeRawBufferPointer) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        try values.withUnsafeBufferPointer { values throws(Failure) in try body(UnsafeRawBufferPointer(values)) }
    }
}
