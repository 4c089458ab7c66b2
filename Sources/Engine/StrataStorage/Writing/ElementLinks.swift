/// Notes changes of the backlinks for links among the elements of an open collection.
struct ElementLinks {
    private let transaction: TransactionChanges
    private let collection: OpenCollection
    private let table: Int
    private var workspace: WriterWorkspace { transaction.workspace }

    /// - Parameter table: position of the owner's table.
    init(_ transaction: TransactionChanges, _ collection: OpenCollection, _ table: Int) {
        self.transaction = transaction
        self.collection = collection
        self.table = table
    }

    /// Notes inserted elements.
    func noteNew(_ elements: CollectionElements) throws(StorageError) {
        for index in 0..<elements.count { try note(elements.values.cellValue(index).cell, delta: 1) }
    }

    /// Notes elements that will be removed or replaced.
    func noteGone(_ range: Range<Int>) throws(StorageError) {
        let reader = try CollectionReader(
            collection.cell, shape: collection.shape, definition: collection.definition,
            reader: transaction.nodes.reader)
        try reader.forEachPart(from: range.lowerBound) { (part) throws(StorageError) in
            for index in max(part.first, range.lowerBound)..<min(part.end, range.upperBound) {
                try note(try part.value(at: index), delta: -1)
            }
            return part.end < range.upperBound
        }
    }

    private func note(_ link: Cell, delta: Int32) throws(StorageError) {
        let place = collection.place
        try workspace.entries.noteLink(
            link, of: RowKey(place.key), table: table, column: place.column, in: transaction.view, delta: delta)
    }
}
