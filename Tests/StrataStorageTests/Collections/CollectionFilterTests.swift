import StrataFiles
import Testing

@testable import StrataStorage

/// Queries on collections that do not read element by element: filters, searches, links between two rows.
@Suite struct CollectionFilterTests {
    private static func open(_ limits: StoreLimits = .tiny) throws -> Store {
        var options = FileImages.options(on: FileImages.Disk())
        options.limits = limits
        return try Store.open(path: FileImages.path, options: options)
    }

    private static func filter(
        _ column: Int, _ holds: @escaping @Sendable (CollectionReader) throws(StorageError) -> Bool
    ) throws -> RowFilter {
        let collection = try #require(CollectionHistory.collection(column))
        return .collection(
            column, CollectionMatcher(collection, isLinks: CollectionHistory.isLinks(column), holds))
    }

    private static func values(_ row: CollectionHistory.Row, _ column: Int) -> [CollectionValue] {
        row[column].map(\.value)
    }

    /// Rows that match in the model, ascending.
    private static func rows(
        _ history: CollectionHistory, _ column: Int, _ holds: ([CollectionValue]) -> Bool
    ) -> [Int64] {
        history.model.rows.filter { holds(values($0.value, column)) }.keys.sorted()
    }

    @Test(
        "filters find the rows with matching collections, inline and in trees",
        arguments: 1...6 as ClosedRange<UInt64>)
    func filters(seed: UInt64) throws {
        let store = try Self.open()
        var history = CollectionHistory(seed: seed)
        for round in 0..<12 {
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: CollectionHistory.schema) }
            for _ in 0..<10 { try history.step(transaction) }
            try transaction.commit()
            let view = try store.snapshot().view
            for column in [1, 5, CollectionHistory.friends] {
                let wanted = Int64(history.random.below(300))
                let has = try Self.filter(column) { (reader) throws(StorageError) in
                    try reader.firstPlace(of: .integer(wanted)) != nil
                }
                let having = Self.rows(history, column) { $0.contains(.integer(wanted)) }
                #expect(try view.keys(0, where: has) == having, "seed \(seed)")
                let lacking = Self.rows(history, column) { !$0.contains(.integer(wanted)) }
                #expect(try view.keys(0, where: .not(has)) == lacking, "seed \(seed)")
                let limit = Int(history.random.below(20))
                let long = try Self.filter(column) { $0.count > limit }
                #expect(try view.count(0, where: long) == Self.rows(history, column) { $0.count > limit }.count)
                #expect(
                    try view.keys(0, where: .and([long, .key(10...40)]))
                        == Self.rows(history, column) { $0.count > limit }.filter { (10...40).contains($0) })
            }
        }
        try store.close()
    }

    @Test("searches and counts of links agree with arrays", arguments: 1...4 as ClosedRange<UInt64>)
    func searches(seed: UInt64) throws {
        let store = try Self.open()
        var history = CollectionHistory(seed: seed)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for _ in 0..<60 { try history.step(transaction) }
        try check(transaction.view, history)
        try transaction.commit()
        try check(store.snapshot().view, history)
        try store.close()
    }

    private func check(_ view: ReadView, _ history: CollectionHistory) throws {
        for (key, row) in history.model.rows {
            let friends = Self.values(row, CollectionHistory.friends)
            let reader = try CollectionReader(view, table: 0, key: RowKey(key), column: CollectionHistory.friends)
            for target in history.model.targets {
                #expect(try reader.firstPlace(of: .integer(target)) == friends.firstIndex(of: .integer(target)))
                let from = friends.count / 2
                #expect(
                    try reader.firstPlace(of: .integer(target), from: from)
                        == friends[from...].firstIndex(of: .integer(target)))
                #expect(
                    try view.linkCount(from: RowKey(key), to: RowKey(target), of: 0, CollectionHistory.friends)
                        == friends.count { $0 == .integer(target) })
            }
        }
    }

    @Test("a located row gives its collections, and one collection can be appended to another")
    func located() throws {
        let store = try Self.open()
        var history = CollectionHistory(seed: 9)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for key in 0..<20 as Range<Int64> { try history.insertRow(transaction, key) }
        try transaction.commit()
        transaction = try store.beginWrite()
        for _ in 0..<40 { try history.edit(transaction) }
        for key in history.model.rows.keys.sorted() {
            let row = try #require(try transaction.view.locate(0, RowKey(key)))
            for column in CollectionHistory.columns {
                let collection = try #require(CollectionHistory.collection(column))
                let isLinks = CollectionHistory.isLinks(column)
                let reader = try CollectionReader(
                    transaction.view, row: row, key: RowKey(key), column: column, as: collection, isLinks: isLinks)
                let whole = try CollectionReader(transaction.view, table: 0, key: RowKey(key), column: column)
                #expect(try reader.isSame(as: whole))
                try transaction.collections.assign(
                    0, RowKey(key == 0 ? 1 : 0), column: column, elements: reader.elements())
                let copy = try CollectionReader(
                    transaction.view, table: 0, key: RowKey(key == 0 ? 1 : 0), column: column)
                #expect(
                    try copy.isSame(as: CollectionReader(transaction.view, table: 0, key: RowKey(key), column: column)))
                // Rows may have moved.
                if try transaction.view.locate(0, RowKey(key))?.group != row.group { break }
            }
        }
        transaction.rollback()
        try store.close()
    }

    @Test("cells of the open transaction have no tree, so a filter does not read them")
    func open() throws {
        // A spill would write them to their rows.
        let store = try Self.open(StoreLimits())
        var history = CollectionHistory(seed: 3)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        try history.insertRow(transaction, 1)
        try transaction.commit()
        transaction = try store.beginWrite()
        let any = try Self.filter(1) { _ in true }
        #expect(!transaction.view.hasOpenCollections)
        #expect(try transaction.view.count(0, where: any) == 1)
        try history.insert(transaction, 1, 1, (0..<3).map { CollectionPair(value: .integer($0)) }, at: 0)
        #expect(transaction.view.hasOpenCollections)
        #expect(throws: StorageError.misuse(.wrongType)) { try transaction.view.count(0, where: .not(any)) }
        try transaction.commit()
        #expect(try store.snapshot().view.count(0, where: any) == 1)
        try store.close()
    }

    @Test("an existing column's elements can become nullable, and not required again")
    func widened() throws {
        let store = try Self.open()
        var history = CollectionHistory(seed: 3)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for key in 0..<9 as Range<Int64> { try history.insertRow(transaction, key) }
        try transaction.commit()
        transaction = try store.beginWrite()
        var schema = CollectionHistory.schema
        schema.tables[0].columns[1].collection?.allowsNulls = true
        try transaction.apply(schema: schema)
        let null = CollectionElements(CollectionColumn(.integer, allowsNulls: true))
        null.append(.null)
        try transaction.collections.insert(0, RowKey(1), column: 1, elements: null, at: 0)
        try transaction.commit()
        try store.checkInvariants()
        transaction = try store.beginWrite()
        #expect(throws: StorageError.misuse(.wrongType)) { try transaction.apply(schema: CollectionHistory.schema) }
        transaction.rollback()
        try store.close()
    }
}
