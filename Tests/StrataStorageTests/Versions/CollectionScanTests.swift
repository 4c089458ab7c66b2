import StrataFiles
import Testing

@testable import StrataStorage

/// Elements read by the same kernels as rows, and operations on one element.
@Suite struct CollectionScanTests {
    private static func open(usualLimits: Bool) throws -> Store {
        var options = FileImages.options(on: FileImages.Disk())
        options.logHalfBytes = 4 << 20
        options.mapReserve = 1 << 28
        if usualLimits { options.limits = StoreLimits() }
        return try Store.open(path: FileImages.path, options: options)
    }

    @Test(
        "batches, totals and searches agree with single reads", arguments: TestSettings.seeds(2, of: 8),
        [false, true])
    func scans(seed: UInt64, usualLimits: Bool) throws {
        let store = try Self.open(usualLimits: usualLimits)
        var history = CollectionHistory(seed: seed)
        history.longest = usualLimits ? 4000 : 120
        var compared = 0
        for round in 0..<6 {
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: CollectionHistory.schema) }
            for _ in 0..<10 { try CollectionTrialTests.mixed(&history, transaction) }
            // Compared in the open transaction, and again in the committed version.
            compared += try compare(transaction.view, &history, "seed \(seed), \(round), open")
            try transaction.commit()
            compared += try compare(store.snapshot().view, &history, "seed \(seed), \(round)")
        }
        #expect(compared > 200)
        try store.close()
    }

    private func compare(_ view: ReadView, _ history: inout CollectionHistory, _ note: Comment) throws -> Int {
        var compared = 0
        for (key, row) in history.model.rows.sorted(by: { $0.key < $1.key }) {
            for column in CollectionHistory.columns {
                let pairs = row[column]
                let reader = try CollectionReader(
                    view, table: CollectionHistory.owners, key: RowKey(key), column: column)
                let from = Int(history.random.below(UInt64(pairs.count + 1)))
                #expect(try Self.batched(reader, from: from, column) == Array(pairs[from...]), note)
                try Self.compareTotals(reader, pairs.map(\.value), column, note)
                let some =
                    pairs.isEmpty ? history.value(column) : pairs[Int(history.random.below(UInt64(pairs.count)))].value
                for wanted in [some, history.value(column), .null] {
                    let place = pairs[from...].firstIndex { $0.value == wanted }
                    #expect(try wanted.withCell { try reader.firstPlace(of: $0, from: from) } == place, note)
                    #expect(
                        try wanted.withCell { try reader.firstPlace(of: $0) }
                            == pairs.firstIndex { $0.value == wanted }, note)
                }
                compared += pairs.isEmpty ? 0 : 1
            }
        }
        return compared
    }

    private static func batched(_ reader: CollectionReader, from place: Int, _ column: Int) throws -> [CollectionPair] {
        var pairs: [CollectionPair] = []
        guard let collection = CollectionHistory.collection(column) else { return pairs }
        var next = place
        try reader.forEachBatch(from: place) { (batch) throws(StorageError) in
            #expect(batch.first == next)
            next += batch.count
            for index in 0..<batch.count {
                var pair = CollectionPair(value: .null)
                if collection.isKeyed { pair.key = .bytes(Array(try batch.key(index))) }
                if !batch.isNull(index) {
                    switch collection.element {
                    case .integer: pair.value = .integer(batch.integers[index])
                    case .double: pair.value = .double(batch.doubles[index])
                    case .text, .data, .opaque, .any: pair.value = .bytes(Array(try batch.bytes(index)))
                    }
                }
                pairs.append(pair)
            }
            return true
        }
        return pairs
    }

    private static func compareTotals(
        _ reader: CollectionReader, _ values: [CollectionValue], _ column: Int, _ note: Comment
    ) throws {
        switch CollectionHistory.collection(column)?.element {
        case .integer:
            var expected = IntegerTotals()
            for case .integer(let value) in values { expected.add(value, 1) }
            #expect(try reader.integerTotals() == expected, note)
            #expect(throws: StorageError.misuse(.wrongType)) { try reader.doubleTotals() }
        case .double:
            let found = try reader.doubleTotals()
            let numbers = values.compactMap { if case .double(let value) = $0 { value } else { nil } }
            // Quarters of small integers: each sum is exact.
            #expect(found.sum == numbers.reduce(0, +) && found.count == numbers.count, note)
            #expect(found.least == numbers.min() ?? .infinity && found.most == numbers.max() ?? -.infinity, note)
        default: #expect(throws: StorageError.misuse(.wrongType)) { try reader.integerTotals() }
        }
    }

    // MARK: One element

    @Test("operations on one element share their memory, except for a large element") func singles() throws {
        let store = try Self.open(usualLimits: true)
        var history = CollectionHistory(seed: 2)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        try history.insertRow(transaction, 1)
        let text = try #require(CollectionHistory.collection(2))
        let first = transaction.workspace.single(text)
        try history.insert(
            transaction, 1, 2, [CollectionPair(value: .bytes([65]))], at: history.model.rows[1]?[2].count ?? 0)
        #expect(transaction.workspace.single(text) === first)
        for _ in 0..<2 {
            let large = CollectionPair(value: .bytes([UInt8](repeating: 66, count: 5000)))
            try history.insert(transaction, 1, 2, [large], at: (history.model.rows[1]?[2].count ?? 0) / 3 * 3)
            try history.insert(transaction, 1, 2, [large], at: 1)
        }
        #expect(transaction.workspace.single(text) !== first)
        let wrong = StorageError.misuse(.wrongType)
        #expect(throws: wrong) { try transaction.collections.insert(0, RowKey(1), column: 2, one: .integer(1), at: 0) }
        #expect(throws: wrong) { try transaction.collections.insert(0, RowKey(1), column: 0, one: .integer(1), at: 0) }
        #expect(throws: wrong) { try transaction.collections.insert(0, RowKey(1), column: 7, one: .integer(1), at: 0) }
        #expect(throws: StorageError.misuse(.noSuchColumn)) {
            try transaction.collections.set(0, RowKey(1), column: 99, one: .integer(1), at: 0)
        }
        try transaction.commit()
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
        try store.checkInvariants()
        try store.close()
    }

    @Test("inserting an integer into a leaf of equal ones chooses the encoding by size") func equalIntegers()
        throws
    {
        let tree = try CheckedCollection(.list, .integer, StoreLimits())
        tree.nodes.verifies = false
        try tree.editor.insert(
            tree.elements([CollectionPair](repeating: CollectionPair(value: .integer(5)), count: 9000)), at: 0)
        func width() throws -> Int {
            try CollectionTree.run(at: 7, in: tree.editor.root, tree.shape, reading: tree.nodes).leaf.values.width
        }
        #expect(try width() == 0)
        // The removal makes room for one wider element.
        try tree.editor.remove(0..<3)
        try tree.editor.insert(.integer(5), at: 7)
        #expect(try width() == 1)
    }

    // MARK: Foreign nodes

    @Test("a node of another row's or column's tree is damage, wherever it is read", arguments: [false, true])
    func strangers(isColumn: Bool) throws {
        var tree = try CheckedCollection(.list, .integer, .tiny)
        try tree.insert((0..<60).map { CollectionPair(value: .integer($0)) }, at: 0)
        #expect(tree.editor.root.is(.collectionBranch))
        let leaf = try CollectionTree.run(at: 30, in: tree.editor.root, tree.shape, reading: tree.nodes)
        let page = try #require(
            tree.nodes.live.first { page in
                tree.nodes.kind(page) == .collectionLeaf
                    && tree.nodes.bytes(page)
                        == Array(UnsafeRawBufferPointer(start: leaf.leaf.node, count: Format.pageSize))
            })
        tree.editor.forgetPath()
        tree.nodes.edit(page) { node in
            if isColumn { node.put16(28, 8) } else { node.putI64(32, 100) }
        }
        #expect(throws: StorageError.self) {
            try CollectionTree.run(at: 30, in: tree.editor.root, tree.shape, reading: tree.nodes)
        }
        #expect(throws: StorageError.self) { try tree.editor.remove(30..<31) }
        #expect(try CollectionTree.run(at: 0, in: tree.editor.root, tree.shape, reading: tree.nodes).first == 0)
    }

    @Test("comparing a version with an open transaction is refused") func openTransaction() throws {
        let store = try Self.open(usualLimits: false)
        var history = CollectionHistory(seed: 3)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for _ in 0..<10 { try history.step(transaction) }
        try transaction.commit()
        let snapshot = try store.snapshot()
        transaction = try store.beginWrite()
        for _ in 0..<10 { try history.edit(transaction) }
        let refused = StorageError.misuse(.transactionOpen)
        let view = transaction.view
        #expect(throws: refused) { try view.changes(of: TableID(1), since: snapshot.view) }
        #expect(throws: refused) { try snapshot.view.changes(of: TableID(1), since: view) }
        transaction.rollback()
        try store.close()
    }
}
