/// What a walk over a whole version has come by.
///
/// Of a sound version each node stands on pages of its own, and one reference leads to it. A file can be made whose
/// checksums are all right and in which many references lead to one node: who follows each of them copies or prints
/// more than any disk holds. So a walk that does that meets every group and every leaf here, and counts the bytes of
/// the values: what comes twice, or is more than the file, ends it as damage.
///
/// Concurrency: confined to the walk.
package final class MetNodes {
    private let reader: PageReader
    private var pages = PageSet()
    private var bytes = 0

    init(_ reader: PageReader) { self.reader = reader }

    /// - Parameter node: a node of one page, or the first of its pages.
    /// - Throws: `corrupt` where it was met before.
    func meet(_ node: UnsafeRawPointer) throws(StorageError) {
        // A transaction's own nodes may stand in memory: those are as it made them.
        guard let page = reader.page(of: node), !pages.insert(page) else { return }
        throw reader.damage(at: node)
    }

    /// Counts a value.
    /// - Throws: `corrupt` where the values have more bytes than the file.
    package func count(_ cell: Cell) throws(StorageError) {
        if cell.kind == .bytes { try count(bytes: cell.count) }
    }

    package func count(bytes count: Int) throws(StorageError) {
        bytes += count
        if bytes > reader.pageCount * Format.pageSize {
            throw .corrupt(page: PageNumber(0), offset: 0, reason: .structure)
        }
    }
}
