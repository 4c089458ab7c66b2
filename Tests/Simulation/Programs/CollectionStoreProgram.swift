import StrataFiles
import StrataStorage

/// The storage engine with a list in each row: the row's text, in pieces. A new text changes the differing pieces, so
/// that trees grow, shrink and split, their cells change, and a crash replays element operations.
///
/// Concurrency: as its superclass.
final class CollectionStoreProgram: StoreProgram, @unchecked Sendable {
    private static let list = CollectionColumn(.data)
    private static let pieceBytes = 16
    private static let column = 1

    override class var schema: StoreSchema {
        let columns = [
            ColumnDefinition(id: ColumnID(1), name: "number", type: .integer, index: .ordered),
            ColumnDefinition(id: ColumnID(2), name: "pieces", type: .bytes, collection: list),
        ]
        return StoreSchema(tables: [TableDefinition(id: TableID(1), name: "rows", columns: columns)])
    }

    override func apply(_ change: ProgramChange, to transaction: WriteTransaction) throws {
        let key = RowKey(change.key)
        let isThere = try transaction.view.locate(0, key) != nil
        guard let row = change.row else {
            if isThere { try transaction.delete(0, key) }
            return
        }
        if isThere {
            try transaction.set(0, key, column: 0, to: .integer(row.number))
        } else {
            let cells: [Cell] = [.integer(row.number), .bytes(UnsafeRawBufferPointer(start: nil, count: 0))]
            try cells.withUnsafeBufferPointer { try transaction.insert(0, key: key, $0) }
        }
        let pieces = CollectionElements(Self.list)
        row.text.withUnsafeBytes { text in
            for start in stride(from: 0, to: text.count, by: Self.pieceBytes) {
                let end = min(start + Self.pieceBytes, text.count)
                pieces.append(.bytes(UnsafeRawBufferPointer(rebasing: text[start..<end])))
            }
        }
        try transaction.collections.assign(0, key, column: Self.column, elements: pieces)
    }

    override class func digest(_ view: ReadView) throws -> UInt64 {
        var digest: UInt64 = 0
        if view.schema.tables.isEmpty { return digest }
        for key in try view.keys(0) {
            guard let row = try view.locate(0, RowKey(key)) else { continue }
            let number = try view.integer(row, 0) ?? 0
            var text: [UInt8] = []
            let reader = try CollectionReader(view, table: 0, key: RowKey(key), column: Self.column)
            try reader.forEachPart { (part) throws(StorageError) in
                for place in part.first..<part.end { text += try part.value(at: place).bytesValue }
                return true
            }
            try view.confirm()
            digest &+= text.withUnsafeBytes { ProgramRow.digest(key, number, $0) }
        }
        return digest
    }
}
