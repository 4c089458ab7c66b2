/// The turn for one transaction that the owner of writing, another process, has lent to this process.
///
/// The transaction runs in this process's memory, and submits only the record of its changes. An operation for which
/// that does not suffice makes this process the owner first.
// Classes only: asking whether there is a turn, which every operation does, would copy a turn of any other type.
protocol LentTurn: AnyObject {
    /// Makes this process the owner of writing in the middle of its transaction.
    /// - Parameter canRepeat: no operation is under way, and the record holds every change so far, so that it can be
    ///   replayed on a base with other pages.
    /// - Throws: `commitOutcomeUnknown` if a recovery was necessary, and it did not bring back the transaction's base,
    ///   or the transaction cannot be repeated; `turnTakenBack` if this process was stopped meanwhile; `noSpace`,
    ///   `busy` if the owner cannot hand ownership over.
    func claim(_ transaction: TransactionChanges, canRepeat: Bool) throws(StorageError)
}

extension LentTurn {
    /// Claims ownership before an operation that a guest cannot make.
    /// - Parameter isLong: the operation writes a long value.
    fileprivate func prepare(
        _ transaction: TransactionChanges, cells: Int, bytes: Int, isLong: Bool
    ) throws(StorageError) {
        let used = transaction.workspace.recorder.byteCount
        let isTooLarge = transaction.workspace.recorder.isTooLarge
        // An upper bound: a cell without its bytes, and its column, takes less than 32 bytes.
        if !isLong, used + bytes + 32 * (cells + 1) <= Grants.recordLimit { return }
        try claim(transaction, canRepeat: !isTooLarge)
    }

    /// As ``prepare(_:cells:bytes:isLong:)``, for elements of a collection.
    /// - Parameter bytes: of their cells in the record.
    fileprivate func prepare(_ transaction: TransactionChanges, bytes: Int, isLong: Bool) throws(StorageError) {
        let used = transaction.workspace.recorder.byteCount
        let isTooLarge = transaction.workspace.recorder.isTooLarge
        // An upper bound: the elements' place takes less than 96 bytes.
        if !isLong, used + bytes + 96 <= Grants.recordLimit { return }
        try claim(transaction, canRepeat: !isTooLarge)
    }
}

extension TransactionChanges {
    /// Claims ownership before an operation that a guest cannot make.
    func prepareAsGuest(_ cells: UnsafeBufferPointer<Cell>) throws(StorageError) {
        guard let lentTurn else { return }
        var bytes = 0
        var isLong = false
        for cell in cells where cell.kind == .bytes {
            bytes += cell.count
            if cell.count > nodes.limits.inlineBytes { isLong = true }
        }
        do throws(StorageError) {
            try lentTurn.prepare(self, cells: cells.count, bytes: bytes, isLong: isLong)
        } catch {
            throw noted(error)
        }
    }

    /// Does for elements of a collection what ``prepareAsGuest(_:)`` does for cells.
    func prepareAsGuest(_ elements: CollectionElements) throws(StorageError) {
        guard let lentTurn else { return }
        var bytes = 0
        var isLong = false
        for column in [elements.values, elements.keys].compactMap(\.self) {
            for row in 0..<column.count {
                let cell = column.cellValue(row).cell
                bytes += ChangeRecorder.byteCount(of: cell)
                if cell.kind == .bytes, cell.count > nodes.limits.inlineBytes { isLong = true }
            }
        }
        do throws(StorageError) { try lentTurn.prepare(self, bytes: bytes, isLong: isLong) } catch {
            throw noted(error)
        }
    }

    func prepareAsGuest(_ cell: Cell) throws(StorageError) {
        guard let lentTurn else { return }
        let bytes = cell.kind == .bytes ? cell.count : 0
        do throws(StorageError) {
            try lentTurn.prepare(self, cells: 1, bytes: bytes, isLong: bytes > nodes.limits.inlineBytes)
        } catch {
            throw noted(error)
        }
    }
}
