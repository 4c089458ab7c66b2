/// Nodes that a walk over a whole version has visited.
///
/// In an intact version each node has pages of its own, and one reference leads to it. A forged file may have correct
/// checksums and many references to one node: a walk that follows all of them copies or prints more than any disk
/// holds. So such a walk notes every row group and leaf here, and counts the bytes of values. A second visit, or more
/// bytes than the file has, ends it as damage.
///
/// Concurrency: confined to the walk.
package final class MetNodes {
    private let reader: PageReader
    private var pages = PageSet()
    private var bytes = 0

    init(_ reader: PageReader) { self.reader = reader }

    /// - Parameter node: a node of one page, or the first of its pages.
    /// - Throws: `corrupt` if the node was visited before.
    func meet(_ node: UnsafeRawPointer) throws(StorageError) {
        // A transaction's own nodes may be in memory; they are not noted.
        guard let page = reader.page(of: node), !pages.insert(page) else { return }
        throw reader.damage(at: node)
    }

    /// Counts a value.
    /// - Throws: `corrupt` if the values have more bytes than the file.
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
