/// An unreadable page of a store, and the loss of a version with it.
package struct DamagedPlace: Hashable, Sendable {
    /// The table's loss.
    package enum Loss: Hashable, Sendable {
        /// Rows of a range of keys, and their number; nil if the node with the count is lost.
        case rows(ClosedRange<Int64>, count: Int?)
        /// A long value, or elements of a collection, of one row. The row itself is readable. The column is nil if the
        /// failed read was of several columns.
        case value(row: Int64, column: UInt16?)
        /// The index or the backlinks of a column. All rows are readable.
        case entries(column: UInt16)
        /// Unknown: a read failed at the page, and no survey has run.
        case unknown
    }

    /// Nil if the table is unknown.
    package var table: TableID?
    package var loss: Loss
    /// 0 if the error names no page of the data file.
    package var page: PageNumber
    package var reason: StorageError.Corruption

    package init(table: TableID?, loss: Loss, page: PageNumber, reason: StorageError.Corruption) {
        self.table = table
        self.loss = loss
        self.page = page
        self.reason = reason
    }

    /// The place of a failed read; nil for an error without a page.
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
    /// Whether bytes of the file are unreadable, so that another read of the same place fails, too.
    package var isUnreadable: Bool { DamagedPlace(self, table: nil) != nil }
}
