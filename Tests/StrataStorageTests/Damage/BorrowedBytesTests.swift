import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// If a page is lost while a caller reads borrowed bytes of the map, the caller reads zeros. Walks once passed rows and
/// elements to their callers, and did not check afterwards whether the pages of these bytes had been readable.
@Suite struct BorrowedBytesTests {
    private let directory: TemporaryDirectory
    private let path: String

    /// Makes a closed file with collections that are stored in their rows, and others that have trees.
    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
        let store = try Store.open(path: path, options: Self.options(readOnly: false))
        var history = CollectionHistory(seed: 11)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for key in 1..<20 as Range<Int64> { try history.insertTarget(transaction, key) }
        for key in 1..<40 as Range<Int64> { try history.insertRow(transaction, key) }
        try transaction.commit()
        try store.close()
    }

    private static func options(readOnly: Bool) -> StoreOptions {
        var options = StoreOptions(readOnly: readOnly)
        options.limits = .tiny
        options.mapReserve = 1 << 30
        return options
    }

    /// Whether the operation throws because a page was lost.
    private func losesPage(_ operation: () throws(StorageError) -> Void) -> Bool {
        do throws(StorageError) { try operation() } catch {
            guard case .corrupt(_, _, .unreadable) = error else {
                Issue.record("\(error)")
                return false
            }
            return true
        }
        return false
    }

    @Test("a scan throws if its caller read rows whose page was lost") func rows() throws {
        let store = try Store.open(path: path, options: Self.options(readOnly: true))
        let view = try store.snapshot().view
        var read = 0
        let isLost = losesPage { () throws(StorageError) in
            try view.scan(CollectionHistory.owners, columns: [2, 4]) { (batch) throws(StorageError) in
                truncate(path, 0)
                for row in 0..<batch.count {
                    for column in 0..<2 { for byte in batch.bytes(column, row) { read += 1 + Int(byte) } }
                }
                return false
            }
        }
        #expect(isLost && read > 0)
    }

    @Test("a walk throws if its caller read elements whose page was lost", arguments: [false, true])
    func elements(ofTree: Bool) throws {
        let store = try Store.open(path: path, options: Self.options(readOnly: true))
        let view = try store.snapshot().view
        let reader = try #require(try names(in: view, ofTree: ofTree))
        var read = 0
        let isLost = losesPage { () throws(StorageError) in
            try reader.forEachPart { (part) throws(StorageError) in
                truncate(path, 0)
                for place in part.first..<part.end {
                    let cell = try part.value(at: place)
                    read += cell.kind == .bytes ? 1 + cell.bytesValue.reduce(0) { $0 + Int($1) } : 1
                }
                return false
            }
        }
        #expect(isLost && read > 0)
    }

    /// The search calls a function of its caller for each comparison, and that function reads the element.
    @Test("a search throws if it compared elements whose page was lost") func search() throws {
        let store = try Store.open(path: path, options: Self.options(readOnly: true))
        let view = try store.snapshot().view
        let reader = try #require(try names(in: view, ofTree: false))
        let isLost = losesPage { () throws(StorageError) in
            _ = try reader.find(.integer(0)) { (cell) throws(StorageError) in
                truncate(path, 0)
                return cell.kind == .bytes && cell.bytesValue.contains(0)
            }
        }
        #expect(isLost)
    }

    /// A reader of the names in the first row that has more than one, and that keeps them in a tree or in the row.
    private func names(in view: ReadView, ofTree: Bool) throws -> CollectionReader? {
        for key in 1..<40 as Range<Int64> {
            let reader = try CollectionReader(view, table: CollectionHistory.owners, key: RowKey(key), column: 2)
            if reader.count > 1, (reader.root != nil) == ofTree { return reader }
        }
        return nil
    }
}
