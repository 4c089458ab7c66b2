/// A page of a store that cannot be read, and what a version loses with it.
package struct DamagedPlace: Hashable, Sendable {
    /// What of the table is lost.
    package enum Loss: Hashable, Sendable {
        /// Rows whose keys lie in a range: so many of them; nil where the node is lost that counts them.
        case rows(ClosedRange<Int64>, count: Int?)
        /// A long value, or elements of a collection, of one row. The row itself is there. No column where the reader
        /// that met the page asked for several.
        case value(row: Int64, column: UInt16?)
        /// The index or the backlinks of a column. All rows are there.
        case entries(column: UInt16)
        /// Not known: a read met the page, and no survey has said what stands there.
        case unknown
    }

    /// Nil where no table is known.
    package var table: TableID?
    package var loss: Loss
    /// 0 for a place that is no page of the file.
    package var page: PageNumber
    package var reason: StorageError.Corruption

    package init(table: TableID?, loss: Loss, page: PageNumber, reason: StorageError.Corruption) {
        self.table = table
        self.loss = loss
        self.page = page
        self.reason = reason
    }

    /// What a read says that failed; nil for an error that is about no page.
    package init?(_ error: StorageError, table: TableID?, loss: Loss = .unknown) {
        switch error {
        case .corrupt(let page, _, let reason):
            self.init(table: table, loss: loss, page: page, reason: reason)
        case .unsound: self.init(table: table, loss: loss, page: PageNumber(0), reason: .structure)
        case .file(let file) where file.operation == .read:
            self.init(table: table, loss: loss, page: PageNumber(0), reason: .unreadable)
        default: return nil
        }
    }
}

extension StorageError {
    /// Whether bytes of the file could not be read, so that another read of the same place fails as well.
    package var isUnreadable: Bool { DamagedPlace(self, table: nil) != nil }
}
