import StrataFiles
import Testing

@testable import StrataStorage

/// Lists and maps inside elements of others.
@Suite struct NestedCollectionTests {
    private static func options(_ disk: FileImages.Disk, _ budget: Int = 4 << 20) -> StoreOptions {
        var options = FileImages.options(on: disk)
        options.limits.memoryBudget = budget
        options.logHalfBytes = 1 << 20
        options.mapReserve = 1 << 28
        return options
    }

    private func check(_ store: Store, _ history: NestedHistory, _ note: Comment) throws {
        try store.checkInvariants()
        #expect(try NestedHistory.contents(store.snapshot().view) == history.model, note)
    }

    /// The number of elements that are trees, at any depth.
    private static func trees(_ reader: CollectionReader) throws -> Int {
        var count = 0
        for place in 0..<reader.count {
            guard let inner = try reader.nested(at: place) else { continue }
            if try reader.part(at: place).isTree(at: place) { count += 1 }
            count += try trees(inner)
        }
        return count
    }

    private static func trees(_ view: ReadView) throws -> Int {
        var count = 0
        for key in try view.keys(0) {
            for column in 0..<2 {
                count += try trees(CollectionReader(view, table: 0, key: RowKey(key), column: column))
            }
        }
        return count
    }

    /// The number of nodes of a version's collections.
    private static func nodes(_ view: ReadView) throws -> Int {
        var count = 0
        for key in try view.keys(0) {
            for column in 0..<2 {
                guard case .tree(let root, _) = try view.collectionCell(0, RowKey(key), column) else { continue }
                let shape = try view.collectionShape(0, RowKey(key), column)
                try CollectionNodes(nodes: view.reader, shape: shape).forEach(root) { _ in count += 1 }
            }
        }
        return count
    }

    @Test(
        "all operations at any depth agree with nested arrays, through commits, rollbacks, spills, pins and crashes",
        arguments: 1...12 as ClosedRange<UInt64>)
    func histories(seed: UInt64) throws {
        let disk = FileImages.Disk()
        let budget = seed % 3 == 0 ? 12 << 12 : 4 << 20
        let store = try Store.open(path: FileImages.path, options: Self.options(disk, budget))
        var history = NestedHistory(seed: seed)
        var pinned: [(Snapshot, NestedHistory.Model)] = []
        var trees = 0
        for round in 0..<30 {
            let note: Comment = "seed \(seed), round \(round)"
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: NestedHistory.schema) }
            let before = history.model
            for _ in 0..<(1 + history.random.below(8)) {
                try history.step(transaction)
                if history.random.below(3) == 0 {
                    #expect(try NestedHistory.contents(transaction.view) == history.model, note)
                }
            }
            if round > 0 && history.random.below(6) == 0 {
                transaction.rollback()
                history.model = before
            } else {
                try transaction.commit()
            }
            try check(store, history, note)
            trees += try Self.trees(store.snapshot().view)
            if history.random.below(4) == 0 { pinned.append((try store.snapshot(), history.model)) }
            if history.random.below(4) == 0 {
                // After a crash: the log is replayed with another memory budget.
                let copy = try disk.copied()
                let dead = try Store.open(
                    path: FileImages.path, options: Self.options(copy, seed % 2 == 0 ? 12 << 12 : 4 << 20))
                try check(dead, history, note)
                if seed % 3 > 0 && seed % 2 > 0 {
                    // Neither has spilled pages, so the trees are equal.
                    #expect(try Self.nodes(dead.snapshot().view) == Self.nodes(store.snapshot().view), note)
                }
                try dead.close()
            }
        }
        #expect(trees > 20, "\(trees)")
        for (snapshot, model) in pinned { #expect(try NestedHistory.contents(snapshot.view) == model) }
        pinned = []
        try store.close()
        let again = try Store.open(path: FileImages.path, options: Self.options(disk, budget))
        try check(again, history, "reopened, seed \(seed)")
        try again.close()
    }

    @Test(
        "copies, compactions and differences cover nested collections", arguments: 1...6 as ClosedRange<UInt64>)
    func elsewhere(seed: UInt64) throws {
        let disk = FileImages.Disk()
        let store = try Store.open(path: FileImages.path, options: Self.options(disk))
        var history = NestedHistory(seed: seed)
        history.longest = 60
        var versions: [(snapshot: Snapshot, model: NestedHistory.Model)] = []
        for round in 0..<12 {
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: NestedHistory.schema) }
            for _ in 0..<6 { try history.step(transaction) }
            try transaction.commit()
            versions.append((try store.snapshot(), history.model))
        }
        for _ in 0..<30 {
            let (a, b) = (versions[Int(history.random.below(12))], versions[Int(history.random.below(12))])
            for (key, before) in a.model {
                guard let after = b.model[key] else { continue }
                for column in 0..<2 {
                    let found = try CollectionDifference(
                        from: CollectionReader(a.snapshot.view, table: 0, key: RowKey(key), column: column),
                        to: CollectionReader(b.snapshot.view, table: 0, key: RowKey(key), column: column))
                    Self.apply(found, before[column].pairs, after[column].pairs, "seed \(seed)")
                }
            }
        }
        let table = NestedHistory.schema.tables[0].id
        let last = try store.snapshot()
        let counts = store.allocator.counts
        _ = try CollectionStoreTests.compact(store, below: counts.pages - counts.free / 2, pages: 6) {
            try check(store, history, "compaction, seed \(seed)")
        }
        #expect(try store.snapshot().view.changes(of: table, since: last.view).isEmpty)
        for (snapshot, model) in versions { #expect(try NestedHistory.contents(snapshot.view) == model) }
        versions = []
        try store.writeCopy(to: "copy")
        let copy = try Store.open(path: "copy", options: Self.options(disk))
        try check(copy, history, "copy, seed \(seed)")
        try copy.close()
        try store.close()
    }

    private static func apply(
        _ difference: CollectionDifference, _ old: [NestedPair], _ new: [NestedPair], _ note: Comment
    ) {
        var pairs = old
        for range in difference.deletions.reversed() { pairs.removeSubrange(range) }
        for range in difference.insertions { pairs.insert(contentsOf: new[range], at: range.lowerBound) }
        for pair in difference.modifications { pairs[pair.new].value = new[pair.new].value }
        #expect(pairs == new, note)
        #expect(difference.isEmpty == (old == new), note)
    }

    // MARK: Limits

    @Test("a value that is no collection, missing or too deep is refused without a change") func refused() throws {
        let store = try Store.open(path: FileImages.path, options: Self.options(FileImages.Disk()))
        var transaction = try store.beginWrite()
        try transaction.apply(schema: NestedHistory.schema)
        let list = NestedValue.list([.plain([2, 65]), .list([.null]), .map([NestedPair(key: [65], value: .null)])])
        let cells: [Value] = [.bytes(list.encoded), .bytes([]), .bytes([])]
        try StoreHistory.withCells(cells[...]) { try transaction.insert(0, key: RowKey(1), $0) }
        let one = { NestedValue.elements([NestedPair(key: [66], value: .null)], $0) as CollectionElements }
        func insert(_ path: [Int], isKeyed: Bool = false, column: Int = 0, at place: Int = 0) throws {
            try transaction.collections(at: path).insert(
                0, RowKey(1), column: column, elements: one(isKeyed), at: place)
        }
        #expect(throws: StorageError.misuse(.wrongType)) { try insert([0]) }
        #expect(throws: StorageError.misuse(.noSuchPlace)) { try insert([3]) }
        #expect(throws: StorageError.misuse(.noSuchPlace)) { try insert([1], at: 2) }
        #expect(throws: StorageError.misuse(.wrongType)) { try insert([1, 0]) }
        #expect(throws: StorageError.misuse(.wrongType)) { try insert([2], isKeyed: false) }
        #expect(throws: StorageError.misuse(.wrongType)) { try insert([0], column: 2) }
        #expect(throws: StorageError.misuse(.notAscending)) { try insert([2], isKeyed: true) }
        #expect(throws: StorageError.misuse(.noSuchRow)) {
            try transaction.collections(at: [1]).insert(0, RowKey(9), column: 0, elements: one(false), at: 0)
        }
        #expect(try NestedHistory.contents(transaction.view)[1]?[0] == list)
        try insert([2], isKeyed: true, at: 1)
        try transaction.commit()
        // Up to the largest nesting, and no deeper.
        transaction = try store.beginWrite()
        var path: [Int] = [1]
        for _ in 1..<NestedCollection.deepest {
            let inner = NestedValue.elements([NestedPair(key: [], value: .list([]))], false)
            try transaction.collections(at: path).insert(0, RowKey(1), column: 0, elements: inner, at: 0)
            path.append(0)
        }
        #expect(throws: StorageError.misuse(.wrongType)) {
            try transaction.collections(at: path).insert(
                0, RowKey(1), column: 0, elements: NestedValue.elements([NestedPair(key: [], value: .list([]))], false),
                at: 0)
        }
        try transaction.collections(at: path).insert(0, RowKey(1), column: 0, elements: one(false), at: 0)
        #expect(try CollectionReader(transaction.view, table: 0, key: RowKey(1), column: 0, path: path).count == 1)
        transaction.rollback()
        try store.checkInvariants()
        try store.close()
    }

    @Test("a long nested list costs the leaves that change, not the list") func cost() throws {
        var options = Self.options(FileImages.Disk(), 16 << 20)
        options.limits = StoreLimits()
        options.logHalfBytes = 8 << 20
        let store = try Store.open(path: FileImages.path, options: options)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: NestedHistory.schema)
        let cells: [Value] = [.bytes(NestedValue.list([.null, .list([])]).encoded), .bytes([]), .bytes([])]
        try StoreHistory.withCells(cells[...]) { try transaction.insert(0, key: RowKey(1), $0) }
        for number in 0..<20_000 {
            try [2, UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)].withUnsafeBytes {
                try transaction.collections(at: [1]).insert(0, RowKey(1), column: 0, one: .bytes($0), at: number)
            }
        }
        try transaction.commit()
        transaction = try store.beginWrite()
        try transaction.collections(at: [1]).remove(0, RowKey(1), column: 0, range: 9_000..<9_001)
        let bytes = transaction.workspace.recorder.byteCount
        #expect(bytes < 64)
        // The row's group and branch, the outer leaf, and the way to the leaf of the inner one.
        #expect(transaction.nodes.arena.byteCount <= 10 * Format.pageSize, "\(transaction.nodes.arena.byteCount)")
        try transaction.commit()
        let view = try store.snapshot().view
        let inner = try CollectionReader(view, table: 0, key: RowKey(1), column: 0, path: [1])
        #expect(inner.count == 19_999)
        #expect(try Array(inner.part(at: 9_000).value(at: 9_000).bytesValue) == [2, 0x29, 0x23])
        #expect(try CollectionReader(view, table: 0, key: RowKey(1), column: 0).isSmall == false)
        try store.checkInvariants()
        try store.close()
    }
}

extension CollectionReader {
    /// Whether it is stored inline.
    fileprivate var isSmall: Bool { root == nil }
}
