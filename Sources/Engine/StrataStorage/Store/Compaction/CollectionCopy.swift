/// Copies collections that are trees into rows of a copy whose cells are empty.
struct CollectionCopy {
    private let source: ReadView
    private let transaction: WriteTransaction
    private let met: MetNodes

    /// - Parameter met: the nodes of the source that the whole copy has visited.
    init(_ source: ReadView, _ transaction: WriteTransaction, _ met: MetNodes) {
        self.source = source
        self.transaction = transaction
        self.met = met
    }

    /// Fills the collection of a row of the copy from a tree of the source, leaf by leaf. Elements are appended, so the
    /// copy's leaves are full.
    /// - Parameter descriptor: of the tree.
    func copy(
        _ descriptor: UnsafeRawBufferPointer, of key: RowKey, _ table: Int, _ column: Int
    ) throws(StorageError) {
        let cell = try CollectionCell.long(descriptor, source.reader)
        let reader = try CollectionReader(cell, in: source, table: table, key: key, column: column)
        try copy(reader, at: [], of: key, table, column)
    }

    /// - Parameter path: of an inner collection.
    private func copy(
        _ reader: CollectionReader, at path: [Int], of key: RowKey, _ table: Int, _ column: Int
    ) throws(StorageError) {
        try reader.forEachPart { (part) throws(StorageError) in
            try met.meet(part)
            let elements = CollectionElements(reader.column)
            var inner: [(place: Int, reader: CollectionReader)] = []
            for place in part.first..<part.end {
                let key = try part.key(at: place)
                try met.count(key)
                guard part.isTree(at: place), let nested = try reader.nested(at: place) else {
                    let value = try part.value(at: place)
                    try met.count(value)
                    elements.append(key: key, value)
                    continue
                }
                inner.append((place, nested))
                // An empty inner collection, which is filled below.
                let type = nested.column.isKeyed ? NestedCollection.mapType : NestedCollection.listType
                Cell.withCopy(of: [type]) { elements.append(key: key, $0) }
            }
            try transaction.collections(at: path).insert(table, key, column: column, elements: elements, at: part.first)
            for (place, nested) in inner { try copy(nested, at: path + [place], of: key, table, column) }
            return true
        }
    }
}
