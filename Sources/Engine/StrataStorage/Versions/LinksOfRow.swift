extension ReadView {
    /// Copies the links of a row's list or set that is stored in the row, in its order.
    /// - Parameter room: capacity of `keys`.
    /// - Returns: the number of links; if it exceeds `room`, none was copied. Nil for a tree, and if a link is null.
    /// - Throws: `corrupt`.
    /// - Complexity: O(links), without allocation.
    package func links(
        _ row: RowLocation, _ column: Int, into keys: UnsafeMutablePointer<Int64>, room: Int
    ) throws(StorageError) -> Int? {
        // In a transaction's view a changed collection has a handle here, which looks like a tree.
        switch try collectionCell(row, column) {
        case .empty: return 0
        case .tree: return nil
        case .encoded(let bytes):
            let links = try encodedLinks(bytes)
            if links.count > room { return links.count }
            let isWhole = links.copy(to: keys)
            try confirm()
            return isWhole ? links.count : nil
        }
    }

    /// Number of links of a row's list or set, with the open transaction's changes.
    /// - Throws: `corrupt`.
    /// - Complexity: O(1), without allocation.
    package func linkCount(_ row: RowLocation, _ key: RowKey, _ column: Int) throws(StorageError) -> Int {
        switch try collectionCell(row, key, column) {
        case .empty: return 0
        case .tree(_, let count): return count
        case .encoded(let bytes):
            let count = try encodedLinks(bytes).count
            try confirm()
            return count
        }
    }

    @inline(__always)
    private func encodedLinks(_ bytes: UnsafeRawBufferPointer) throws(StorageError) -> LinkPayload.Reader {
        guard let links = LinkPayload.Reader(bytes) else {
            throw bytes.baseAddress.map(reader.damage) ?? .structure(.null)
        }
        return links
    }

    /// Copies the keys of the rows that link to `key` by a link column of `table`, in key order, one for each link.
    /// - Parameter room: capacity of `keys`.
    /// - Returns: the number of links; nil if it exceeds `room`.
    /// - Throws: `corrupt`.
    /// - Complexity: O(log entries + min(links, room)).
    package func backlinks(
        to key: RowKey, of table: Int, _ column: Int, into keys: UnsafeMutablePointer<Int64>, room: Int
    ) throws(StorageError) -> Int? {
        var found = 0
        var fits = true
        try backlinks(to: key, of: table, column) { (origin, count) throws(StorageError) in
            fits = count <= room - found
            if fits { for index in found..<(found + count) { keys[index] = origin.rawValue } }
            found += count
            return fits
        }
        return fits ? found : nil
    }
}
