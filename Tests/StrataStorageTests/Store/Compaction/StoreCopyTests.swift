import StrataFiles
import Testing

@testable import StrataStorage

/// Copies by columns have the same rows, keys, creation versions and entries as their source, in full nodes.
@Suite struct StoreCopyTests {
    private static func options(_ limits: StoreLimits) -> StoreOptions {
        var options = StoreOptions()
        options.limits = limits
        options.mapReserve = 1 << 28
        options.logHalfBytes = 256 << 10
        options.fileSystem = FileImages.Disk(capacity: 1 << 27)
        return options
    }

    /// Tiny limits, limits with row groups of some dozen rows, and the default limits.
    private static let limits: [StoreLimits] = {
        var middle = StoreLimits()
        middle.wideRows = 90
        middle.smallRows = 8
        middle.patches = 9
        middle.insertedRows = 6
        middle.deletedSlots = 12
        middle.children = 6
        middle.entries = 20
        middle.elements = 12
        middle.inlineBytes = 150
        return [.tiny, middle, StoreLimits()]
    }()

    /// - Returns: how the copy was made.
    private static func copy(_ store: Store, to path: String, _ cipher: (any Cipher)? = nil) throws -> StoreCopy.Way {
        let snapshot = try store.snapshot()
        var options = store.options
        options.cipher = cipher
        return try StoreCopy(
            of: snapshot.view, as: snapshot.version.rawValue, store.path, beside: path, options
        ).run()
    }

    private static func created(_ view: ReadView) throws -> [[TransactionID]] {
        try view.schema.tables.indices.map { table in
            try view.keys(table).map { key in
                let row = try #require(try view.locate(table, RowKey(key)))
                return try view.creationVersion(row)
            }
        }
    }

    @Test(
        "a copy has the contents of the model's arrays, and is made by columns",
        arguments: 0..<3, TestSettings.seeds(1, of: 6))
    func history(limits: Int, seed: UInt64) throws {
        let options = Self.options(Self.limits[limits])
        let store = try Store.open(path: FileImages.path, options: options)
        var history = MixedHistory(seed: seed)
        history.keyRange = limits == 2 ? 500 : 150
        for round in 0..<4 {
            let comment: Comment = "limits \(limits), seed \(seed), round \(round)"
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: MixedHistory.schema) }
            for _ in 0..<(round == 0 ? 150 : 50) { try history.step(transaction) }
            try transaction.commit()
            let cipher = round == 3 ? TestCipher(key: 5) : nil
            #expect(try Self.copy(store, to: "copy\(round)", cipher) == .byColumns, comment)
            var reading = options
            reading.cipher = cipher
            let copy = try Store.open(path: "copy\(round)", options: reading)
            let (old, new) = (try store.snapshot(), try copy.snapshot())
            #expect(new.version == old.version)
            #expect(try MixedHistory.contents(new.view) == history.model, comment)
            #expect(try Self.created(new.view) == Self.created(old.view), comment)
            #expect(new.view.state.tables.map(\.nextKey) == old.view.state.tables.map(\.nextKey), comment)
            try history.checkEntries(new.view)
            try copy.checkInvariants()
            // A copy is a store like any other.
            var continued = history
            let next = try copy.beginWrite()
            for _ in 0..<20 { try continued.step(next) }
            try next.commit()
            #expect(try MixedHistory.contents(copy.snapshot().view) == continued.model, comment)
            try continued.checkEntries(copy.snapshot().view)
            try copy.checkInvariants()
            try copy.close()
        }
        try store.close()
    }

    // MARK: Plain rows

    private static func numbers(_ index: IndexKind) -> StoreSchema {
        StoreSchema(
            userVersion: 1, table: "Number",
            [
                ColumnDefinition(id: ColumnID(1), name: "value", type: .integer, index: index),
                ColumnDefinition(id: ColumnID(2), name: "text", type: .bytes, isOptional: true),
            ])
    }

    /// The integer and the text of a row. Integers are in another order than keys; some texts get nodes of their own
    /// under tiny limits.
    private static func value(_ key: Int64) -> Int64 { key &* 7919 % 10_007 }
    private static func text(_ key: Int64) -> [UInt8]? {
        if key % 11 == 0 { return nil }
        return Array(repeating: UInt8(97 + key % 26), count: key % 97 == 0 ? 120 : Int(key % 7))
    }

    private static func insert(_ transaction: WriteTransaction, _ keys: some Sequence<Int64>) throws {
        for key in keys {
            let values: [Value] = [.integer(value(key)), text(key).map { .bytes($0) } ?? .null]
            try StoreHistory.withCells(values[...]) { try transaction.insert(0, key: RowKey(key), $0) }
        }
    }

    private static func makeNumbers(
        _ options: StoreOptions, _ keys: some Sequence<Int64>, _ index: IndexKind = .ordered
    ) throws -> Store {
        let store = try Store.open(path: FileImages.path, options: options)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: numbers(index))
        try insert(transaction, keys)
        try transaction.commit()
        return store
    }

    private static func check(_ view: ReadView, _ keys: [Int64], _ comment: Comment) throws {
        #expect(try view.keys(0) == keys, comment)
        for key in keys {
            let row = try #require(try view.locate(0, RowKey(key)), comment)
            #expect(try view.integer(row, 0) == value(key), comment)
            #expect(try view.bytes(row, 1).map { Array($0) } == text(key), "\(comment), key \(key)")
        }
    }

    /// Leaves of an entry tree, and its entries.
    private static func size(_ root: NodeReference, _ view: ReadView) throws -> (leaves: Int, entries: Int) {
        var (leaves, entries) = (0, 0)
        try EntryTree.walk(
            root, reading: view.reader,
            visitNode: { (node) throws(StorageError) in if node.is(.entryLeaf) { leaves += 1 } },
            visitEntry: { (_, _, _) throws(StorageError) in entries += 1 })
        return (leaves, entries)
    }

    /// Which rows are kept when the others are deleted: some choices leave full row groups between emptied ones.
    private static let remains: [(name: String, stays: @Sendable (Int64) -> Bool)] = [
        ("all", { _ in true }), ("every second", { $0 % 2 == 0 }), ("runs", { $0 / 130 % 2 == 0 }),
        ("few gone", { $0 % 40 != 3 }), ("one run gone", { !(300..<340).contains($0) }), ("few", { $0 % 300 == 0 }),
        ("none", { _ in false }),
    ]

    @Test("rows and entries of a copy are in full nodes, whatever was deleted", arguments: 0..<7, 0..<3)
    func fullNodes(remains: Int, limits: Int) throws {
        let (name, stays) = Self.remains[remains]
        let options = Self.options(Self.limits[limits])
        let store = try Self.makeNumbers(options, 1...1200)
        let gone = try store.beginWrite()
        try gone.bulk.delete(0, (1...1200).filter { !stays($0) })
        try gone.commit()
        let keys = (1...1200).filter { stays($0) } as [Int64]
        let comment: Comment = "\(name), limits \(limits)"
        #expect(try Self.copy(store, to: "copy") == .byColumns, comment)
        let copy = try Store.open(path: "copy", options: options)
        let view = try copy.snapshot().view
        try Self.check(view, keys, comment)
        try copy.checkInvariants()
        let tree = try Self.size(view.state.tables[0].entries[0].root, view)
        #expect(tree.entries == keys.count, comment)
        #expect(tree.leaves == (keys.count + options.limits.entries - 1) / options.limits.entries, comment)
        var groups = 0
        try view.forEachGroup(0, from: .min) { (group) throws(StorageError) in
            #expect(group.deleted + group.inserted + group.patched == 0, comment)
            groups += 1
            return true
        }
        // A row group ends early if one of its rows has a text with a node of its own, because such rows are not
        // buffered.
        #expect(groups <= 2 + keys.count / (options.limits.wideRows / 3), comment)
        try copy.close()
        try store.close()
    }

    @Test("changed values of full groups are in their copy") func patches() throws {
        let options = Self.options(Self.limits[1])
        let store = try Self.makeNumbers(options, 1...1000)
        for key in stride(from: Int64(5), to: 1000, by: 180) {
            let transaction = try store.beginWrite()
            try transaction.set(0, RowKey(key), column: 0, to: .integer(-key))
            try transaction.commit()
        }
        #expect(try Self.copy(store, to: "copy") == .byColumns)
        let copy = try Store.open(path: "copy", options: options)
        let view = try copy.snapshot().view
        for key in 1...1000 as ClosedRange<Int64> {
            let row = try #require(try view.locate(0, RowKey(key)))
            #expect(try view.integer(row, 0) == (key % 180 == 5 ? -key : Self.value(key)), "key \(key)")
        }
        try copy.checkInvariants()
        try copy.close()
        try store.close()
        if CoverageMarks.areCounted { #expect(CoverageMarks.hits[.copiedSegments] != nil) }
    }

    @Test("an index of any size is copied within the memory budget") func memory() throws {
        let options = Self.options(Self.limits[0])
        let store = try Self.makeNumbers(options, 1...3000)
        var other = options
        other.fileSystem = FileImages.Disk(capacity: 1 << 26)
        let target = try Store.open(path: "target", options: other)
        let (view, transaction) = (try store.snapshot().view, try target.beginWrite())
        let builder = EntryTreeBuilder(transaction.nodes, table: 1)
        var (most, leaves) = (0, 0)
        try EntryTree.forEachLeaf(view.state.tables[0].entries[0].root, reading: view.reader) {
            (leaf, node) throws(StorageError) in
            try builder.append(leaf, node)
            leaves += 1
            most = max(most, transaction.nodes.arena.livePages)
        }
        let root = try builder.finish()
        var values: [Int64] = []
        try EntryTree.forEach(in: root, reading: transaction.nodes) { (value, _, _) throws(StorageError) in
            values.append(value)
            return true
        }
        #expect(values == (1...3000).map { Self.value($0) }.sorted())
        // The memory budget, and on each level the nodes that no branch refers to yet.
        #expect(leaves > 600 && most < 12 + 10 * (options.limits.children + 1), "\(most) of \(leaves)")
        transaction.rollback()
        try target.close()
        try store.close()
    }

    // MARK: Broken rules

    @Test("an index that disagrees with its column is built anew in the copy") func wrongIndex() throws {
        let options = Self.options(Self.limits[1])
        let store = try Self.makeNumbers(options, 1...300)
        let transaction = try store.beginWrite()
        transaction.workspace.entries.note(EntryOperation(high: 77_777, low: 3, delta: 1), 0, 0)
        try transaction.set(0, RowKey(2), column: 1, to: .null)
        try transaction.commit()
        #expect(throws: InvariantViolation.self) { try store.checkInvariants() }
        #expect(try Self.copy(store, to: "copy") == .byRows)
        let copy = try Store.open(path: "copy", options: options)
        let view = try copy.snapshot().view
        #expect(try view.keys(0) == Array(1...300))
        #expect(try view.rows(0, 0, equalTo: .integer(77_777)).isEmpty)
        try copy.checkInvariants()
        try copy.close()
        // Closing the store checks nothing.
        try store.close()
    }

    /// By its first and last key, a row group with the keys 1, 3, 2, 4 looks as if it had four consecutive keys, which
    /// a row group does not store: rows 2 and 3 would exchange their keys. Without an index no other rule would show
    /// that.
    @Test("keys in disorder keep their rows") func disorder() throws {
        let options = Self.options(Self.limits[1])
        let store = try Self.makeNumbers(options, [], .none)
        let transaction = try store.beginWrite()
        let rows = RowSet(store.commits.newest.layouts[0])
        for key in [1, 9, 3, 2, 4] as [Int64] {
            StoreHistory.withCells([.integer(Self.value(key)), .bytes([UInt8(key)])]) {
                rows.append(key: key, created: 1, $0)
            }
        }
        let made = try GroupBuilder(layout: store.commits.newest.layouts[0], nodes: transaction.nodes)
            .build(rows, 0..<5)
        var image = GroupImage(Group(try transaction.nodes.node(made[0].reference, .group)))
        image.deleted = [1]
        let group = try GroupBuilder.write(image, table: 1, transaction.nodes)
        transaction.nodes.drop(made[0].reference)
        try transaction.editor(0).use { (editor) throws(StorageError) in
            try editor.append([BranchEntry(key: 1, rows: 4, reference: group)])
        }
        transaction.view.state.tables[0].nextKey = 5
        transaction.schemaChanged = true
        try transaction.commit()
        #expect(try Self.copy(store, to: "copy") == .byRows)
        let copy = try Store.open(path: "copy", options: options)
        let view = try copy.snapshot().view
        #expect(try view.keys(0) == [1, 2, 3, 4])
        for key in 1...4 as ClosedRange<Int64> {
            let row = try #require(try view.locate(0, RowKey(key)))
            #expect(try view.bytes(row, 1).map { Array($0) } == [UInt8(key)])
        }
        try copy.checkInvariants()
        try copy.close()
        try store.close()
    }
}
