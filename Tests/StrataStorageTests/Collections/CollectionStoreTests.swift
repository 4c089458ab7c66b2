import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@testable import StrataStorage

/// Compaction, copies and version comparison of collections that are trees.
@Suite struct CollectionStoreTests {
    private let disk = FileImages.Disk()

    private func options(_ change: (inout StoreOptions) -> Void = { _ in }) -> StoreOptions {
        var options = FileImages.options(on: disk)
        change(&options)
        return options
    }

    private func commit(
        _ store: Store, _ history: inout CollectionHistory, steps: Int,
        _ step: (inout CollectionHistory, WriteTransaction) throws -> Void = { try $0.step($1) }
    ) throws {
        let transaction = try store.beginWrite()
        if transaction.view.schema.tables.isEmpty { try transaction.apply(schema: CollectionHistory.schema) }
        for _ in 0..<steps { try step(&history, transaction) }
        try transaction.commit()
    }

    /// The number of nodes of a version's trees, and their highest page.
    private func trees(_ view: ReadView, _ history: CollectionHistory) throws -> (nodes: Int, end: Int) {
        var (count, end) = (0, 0)
        for key in history.model.rows.keys {
            for column in CollectionHistory.columns {
                let cell = try view.collectionCell(CollectionHistory.owners, RowKey(key), column)
                guard case .tree(let root, _) = cell else { continue }
                let shape = try view.collectionShape(CollectionHistory.owners, RowKey(key), column)
                try CollectionNodes(nodes: view.reader, shape: shape).forEach(root) {
                    count += 1
                    end = max(end, Int($0.page) + Int($0.pages))
                }
            }
        }
        return (count, end)
    }

    // MARK: Compaction

    /// Runs all steps of an online compaction, regardless of the policy.
    static func compact(
        _ store: Store, below limit: Int, pages: Int, _ check: () throws -> Void
    ) throws -> Int {
        var cursor: CompactionCursor? = CompactionCursor()
        var steps = 0
        while let from = cursor {
            let permit = store.gate.acquire()
            try store.checkpoints.loadFreeMap()
            let transaction = try store.makeTransaction(store.commits.newest, permit)
            var walk = CompactionWalk(transaction.nodes, limit: limit, pages: pages)
            cursor = try walk.run(&transaction.view.state, from: from)
            if walk.hasMoved { try store.commit(transaction) } else { transaction.rollback() }
            try check()
            steps += 1
            if steps > 2000 { throw InvariantViolation("it never ends") }
        }
        return steps
    }

    @Test(
        "trees move down in steps, with every element in its place and every pinned version as it was",
        arguments: 1...6 as ClosedRange<UInt64>)
    func compaction(seed: UInt64) throws {
        let store = try Store.open(path: FileImages.path, options: options())
        var history = CollectionHistory(seed: seed)
        history.longest = 120
        for _ in 0..<12 { try commit(store, &history, steps: 12) }
        // Deletes the rows written first, so that the rest lies at the end.
        let keys = history.model.rows.keys.sorted()
        try commit(store, &history, steps: 1) { history, transaction in
            for key in keys.prefix(keys.count / 2) {
                try transaction.delete(CollectionHistory.owners, RowKey(key))
                history.model.rows[key] = nil
            }
        }
        // Pages of older versions come free with the next checkpoints.
        for _ in 0..<6 { try commit(store, &history, steps: 1) }
        var pinned: Snapshot? = try store.snapshot()
        let model = history.model
        let before = try trees(store.snapshot().view, history)
        #expect(before.nodes > 20)
        let counts = store.allocator.counts
        let limit = counts.pages - counts.free / 2
        let steps = try Self.compact(store, below: limit, pages: 3) {
            try store.checkInvariants()
            #expect(try CollectionHistory.contents(store.snapshot().view) == model, "seed \(seed)")
        }
        #expect(steps > 1)
        #expect(try CollectionHistory.contents(#require(pinned).view) == model)
        pinned = nil
        let after = try trees(store.snapshot().view, history)
        #expect(after.nodes == before.nodes)
        if before.end > limit { #expect(after.end < before.end, "\(before) became \(after) below \(limit)") }
        try store.close()
        let again = try Store.open(path: FileImages.path, options: options())
        #expect(try CollectionHistory.contents(again.snapshot().view) == model)
        try again.checkInvariants()
        try again.close()
    }

    @Test("a file whose trees became garbage shrinks while in use, and a replay finds all moved nodes")
    func shrinks() throws {
        let steps = StepScheduling(holding: "compaction")
        let image = SimulatedDisk(seed: Seed(7))
        func open(_ disk: SimulatedDisk) throws -> Store {
            var options = FileImages.options(on: disk)
            options.scheduling = steps
            options.compaction = .online(freeShare: 0.2)
            return try Store.open(path: FileImages.path, options: options)
        }
        var store = try open(image)
        var history = CollectionHistory(seed: 3)
        history.longest = 150
        for _ in 0..<14 { try commit(store, &history, steps: 12) }
        let largest = try store.space().fileBytes
        let keys = history.model.rows.keys.sorted()
        try commit(store, &history, steps: 1) { history, transaction in
            for key in keys.dropLast(3) {
                try transaction.delete(CollectionHistory.owners, RowKey(key))
                history.model.rows[key] = nil
            }
        }
        var count = 0
        while steps.runStep(), count < 600 {
            try store.gate.whileHeld { (_) throws in try store.checkpoints.waitUntilDone() }
            try store.checkInvariants()
            #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
            count += 1
            if count % 7 == 0 {
                let dead = try open(image.kill(healthy: true))
                #expect(try CollectionHistory.contents(dead.snapshot().view) == history.model)
                try dead.checkInvariants()
                try dead.close()
            }
        }
        #expect(count > 2 && count < 600)
        #expect(try store.space().fileBytes < largest / 2)
        try store.close()
        store = try open(image)
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
        try store.close()
    }

    @Test("a step that ends inside a tree is resumed there, and no step exceeds its limit")
    func resumed() throws {
        let store = try Store.open(path: FileImages.path, options: options { $0.logHalfBytes = 1 << 20 })
        var history = CollectionHistory(seed: 4)
        history.longest = 1
        let text = 2
        try commit(store, &history, steps: 1) { history, transaction in
            for key in 1...3 as ClosedRange<Int64> { try history.insertRow(transaction, key) }
        }
        // Leaves of a few elements, some with values in their own nodes.
        try commit(store, &history, steps: 1) { history, transaction in
            for key in 1...3 as ClosedRange<Int64> {
                let pairs = (0..<900).map { number in
                    CollectionPair(value: .bytes([UInt8](repeating: 65, count: number % 40 == 0 ? 60 : 3)))
                }
                try history.set(transaction, key, text, pairs)
            }
        }
        let view = try store.snapshot().view
        let nodes = try #require(try CollectionHistory.nodes(view, 1, text))
        #expect(nodes > 180)
        // All nodes are below the limit already, so the steps only visit them.
        let pages = 3
        let steps = try Self.compact(store, below: store.allocator.counts.pages, pages: pages) {}
        // A step reads 8 tree nodes for each page that it may move, and the path to its start.
        #expect(steps >= 3 * (nodes - 23) / (8 * pages) / 2, "\(steps) steps for 3 x \(nodes) nodes")
        #expect(steps <= 3 * nodes / (8 * pages) + 40, "\(steps) steps for 3 x \(nodes) nodes")
        // After a deletion nodes move down, in steps that are as small.
        try commit(store, &history, steps: 1) { history, transaction in
            try transaction.delete(CollectionHistory.owners, RowKey(1))
            history.model.rows[1] = nil
        }
        for _ in 0..<6 {
            try commit(store, &history, steps: 1) { try $0.insertTarget($1, 7 + Int64($0.random.below(9))) }
        }
        let before = try trees(store.snapshot().view, history)
        let counts = store.allocator.counts
        _ = try Self.compact(store, below: counts.pages - counts.free / 2, pages: pages) { try store.checkInvariants() }
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
        let after = try trees(store.snapshot().view, history)
        #expect(after.nodes == before.nodes && after.end <= before.end)
        try store.close()
    }

    // MARK: Copies

    @Test(
        "a copy, plain or encrypted, and a compacted file hold the same collections",
        arguments: 1...4 as ClosedRange<UInt64>)
    func copies(seed: UInt64) throws {
        var store = try Store.open(path: FileImages.path, options: options())
        var history = CollectionHistory(seed: seed)
        history.longest = 150
        for _ in 0..<10 { try commit(store, &history, steps: 10) }
        let before = try trees(store.snapshot().view, history).nodes
        let cipher = TestCipher(key: 4)
        try store.writeCopy(to: "plain")
        try store.writeCopy(to: "sealed", cipher: cipher)
        try store.close()
        for (path, cipher) in [("plain", nil), ("sealed", cipher)] as [(String, TestCipher?)] {
            let copy = try Store.open(path: path, options: options { $0.cipher = cipher })
            #expect(try CollectionHistory.contents(copy.snapshot().view) == history.model)
            try copy.checkInvariants()
            // The copy has full leaves, so no more nodes than the source, whose leaves were changed.
            let nodes = try trees(copy.snapshot().view, history).nodes
            #expect(nodes > 0 && nodes <= before)
            #expect(copy.newestVersion == TransactionID(10))
            try copy.close()
        }
        store = try Store.open(path: FileImages.path, options: options { $0.compaction = .onLaunch { _, _ in true } })
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
        try store.checkInvariants()
        try store.close()
    }

    // MARK: Comparison

    @Test(
        "a rewritten or moved tree is no change, and any changed element is one",
        arguments: [1, 2, 3] as [UInt64])
    func comparison(seed: UInt64) throws {
        let store = try Store.open(path: FileImages.path, options: options())
        var history = CollectionHistory(seed: seed)
        history.longest = 120
        for _ in 0..<6 { try commit(store, &history, steps: 12) }
        let table = CollectionHistory.schema.tables[CollectionHistory.owners].id
        func changes(_ body: (inout CollectionHistory, WriteTransaction) throws -> Void) throws -> [String] {
            let old = try store.snapshot()
            try commit(store, &history, steps: 1, body)
            let found = try store.snapshot().view.changes(of: table, since: old.view)
            #expect(found.inserted.isEmpty && found.deleted.isEmpty)
            return found.modified.map { "\($0.key).\($0.column)" }.sorted()
        }
        // The same bytes in other nodes: no change.
        let same = try changes { history, transaction in
            for (key, row) in history.model.rows {
                for column in CollectionHistory.columns { try history.set(transaction, key, column, row[column]) }
            }
        }
        #expect(same == [])
        let old = try store.snapshot()
        let counts = store.allocator.counts
        _ = try Self.compact(store, below: counts.pages - counts.free / 2, pages: 1000) {}
        #expect(try store.snapshot().view.changes(of: table, since: old.view).isEmpty)
        // One element of each large collection.
        var expected: [String] = []
        let found = try changes { history, transaction in
            for (key, row) in history.model.rows {
                for column in CollectionHistory.columns where row[column].count > 6 {
                    var pairs = row[column]
                    let place = pairs.count / 2
                    switch history.random.below(3) {
                    case 0: pairs.remove(at: place)
                    case 1: pairs.removeLast()
                    default:
                        let value = pairs[place]
                        pairs[place].value = history.value(column)
                        if pairs[place] == value || CollectionHistory.inOrder(pairs, column) != pairs {
                            pairs[place] = value
                            pairs.remove(at: 0)
                        }
                    }
                    try history.set(transaction, key, column, pairs)
                    let id = CollectionHistory.schema.tables[CollectionHistory.owners].columns[column].id.rawValue
                    expected.append("\(key).\(id)")
                }
            }
        }
        #expect(found == expected.sorted() && found.count > 10)
        try store.close()
    }
}
