import StrataFiles
import Testing

@testable import StrataStorage

/// Elements of collections that change in place.
@Suite struct CollectionWriterTests {
    private static func open(_ limits: StoreLimits = .tiny) throws -> Store {
        var options = FileImages.options(on: FileImages.Disk())
        options.limits = limits
        return try Store.open(path: FileImages.path, options: options)
    }

    private static func integers(_ values: some Sequence<Int64>) -> [CollectionPair] {
        values.map { CollectionPair(value: .integer($0)) }
    }

    private func check(_ store: Store, _ history: CollectionHistory, _ comment: Comment? = nil) throws {
        try store.checkInvariants()
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model, comment)
    }

    @Test(
        "all operations agree with arrays, through commits, rollbacks, spills, pins, crashes and reopenings",
        arguments: 1...12 as ClosedRange<UInt64>)
    func histories(seed: UInt64) throws {
        try CollectionTrial(seed + 100).run(transactions: 40) { history, transaction in
            if history.random.below(4) == 0 || history.model.rows.count < 4 {
                try history.step(transaction)
            } else {
                try history.edit(transaction)
            }
        }
    }

    @Test("open collections follow a row that is deleted or moved", arguments: 1...6)
    func moved(seed: UInt64) throws {
        let store = try Self.open()
        var history = CollectionHistory(seed: seed)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        // Even keys fill a wide row group; odd keys are inserted beside its main rows later.
        for key in stride(from: 0, to: 60, by: 2) as StrideTo<Int64> { try history.insertRow(transaction, key) }
        try transaction.commit()
        for round in 0..<12 {
            transaction = try store.beginWrite()
            for _ in 0..<10 {
                guard let key = history.owner() else { break }
                for _ in 0..<3 { try history.edit(transaction) }
                try history.insert(transaction, key, 1, Self.integers(0..<20), at: 0)
                switch history.random.below(4) {
                case 0:
                    try transaction.delete(0, RowKey(key))
                    history.model.rows[key] = nil
                case 1:
                    // Patches of the column until they are folded, and inserted rows until the row group is rebuilt.
                    for other in history.model.rows.keys.sorted().prefix(6) {
                        try history.set(transaction, other, 1, Self.integers(0..<3))
                    }
                case 2: if history.model.rows[key + 1] == nil { try history.insertRow(transaction, key + 1) }
                default:
                    // The row is deleted and inserted again under its key, in one transaction.
                    try transaction.delete(0, RowKey(key))
                    try history.insertRow(transaction, key)
                    try history.insert(transaction, key, 1, Self.integers(0..<30), at: 0)
                }
                #expect(try CollectionHistory.contents(transaction.view) == history.model, "round \(round)")
            }
            try transaction.commit()
            try check(store, history, "seed \(seed), round \(round)")
        }
        try store.close()
    }

    private static func elements(_ column: CollectionColumn, _ cells: Cell...) -> CollectionElements {
        let elements = CollectionElements(column)
        for cell in cells { elements.append(key: .bytes(UnsafeRawBufferPointer(start: nil, count: 0)), cell) }
        return elements
    }

    @Test("misuse changes nothing") func misuse() throws {
        let store = try Self.open()
        var history = CollectionHistory(seed: 9)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        try history.insertRow(transaction, 1)
        try history.set(transaction, 1, 1, Self.integers(0..<30))
        try transaction.commit()
        let version = store.newestVersion
        transaction = try store.beginWrite()
        let collections = transaction.collections
        let one = { Self.elements(CollectionColumn(.integer), .integer(1)) }
        let key = RowKey(1)
        #expect(throws: StorageError.misuse(.noSuchRow)) {
            try collections.insert(0, RowKey(2), column: 1, elements: one(), at: 0)
        }
        #expect(throws: StorageError.misuse(.noSuchPlace)) {
            try collections.insert(0, key, column: 1, elements: one(), at: 31)
        }
        #expect(throws: StorageError.misuse(.noSuchPlace)) {
            try collections.insert(0, key, column: 1, elements: one(), at: -1)
        }
        #expect(throws: StorageError.misuse(.noSuchPlace)) {
            try collections.set(0, key, column: 1, elements: one(), at: 30)
        }
        #expect(throws: StorageError.misuse(.noSuchPlace)) {
            try collections.set(0, key, column: 1, elements: one(), at: .max)
        }
        #expect(throws: StorageError.misuse(.noSuchPlace)) { try collections.remove(0, key, column: 1, range: 29..<31) }
        #expect(throws: StorageError.misuse(.noSuchPlace)) {
            try collections.move(0, key, column: 1, range: 0..<2, to: 29)
        }
        #expect(throws: StorageError.misuse(.noSuchColumn)) {
            try collections.insert(0, key, column: 77, elements: one(), at: 0)
        }
        #expect(throws: StorageError.misuse(.wrongType)) {
            try collections.insert(0, key, column: 0, elements: one(), at: 0)
        }
        #expect(throws: StorageError.misuse(.wrongType)) {
            try collections.insert(0, key, column: 2, elements: one(), at: 0)
        }
        #expect(throws: StorageError.misuse(.wrongType)) {
            try collections.insert(0, key, column: 7, elements: one(), at: 0)
        }
        #expect(throws: StorageError.misuse(.notOptional)) {
            try collections.insert(0, key, column: 1, elements: Self.elements(CollectionColumn(.integer), .null), at: 0)
        }
        #expect(throws: StorageError.misuse(.noSuchTable)) { try collections.clear(5, key, column: 1) }
        try transaction.commit()
        #expect(store.newestVersion == version)
        try check(store, history)
        try store.close()
    }

    @Test("the members of a set, and the keys of a map, ascend") func ascending() throws {
        let store = try Self.open()
        var history = CollectionHistory(seed: 9)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        try history.insertRow(transaction, 1)
        let collections = transaction.collections
        let key = RowKey(1)
        try history.set(transaction, 1, 5, Self.integers([10, 20]))
        try history.set(transaction, 1, 7, [CollectionPair(key: .bytes([66]), value: .null)])
        let kept = history.model
        let member = { Self.elements(CollectionColumn(.integer, isSorted: true), .integer($0)) }
        for (value, place) in [(20, 2), (15, 0), (15, 2), (25, 1), (10, 0)] as [(Int64, Int)] {
            #expect(throws: StorageError.misuse(.notAscending)) {
                try collections.insert(0, key, column: 5, elements: member(value), at: place)
            }
        }
        #expect(throws: StorageError.misuse(.notAscending)) {
            try collections.set(0, key, column: 5, elements: member(25), at: 0)
        }
        #expect(throws: StorageError.misuse(.notAscending)) {
            let ages = CollectionColumn(.integer, isKeyed: true, allowsNulls: true)
            try collections.insert(0, key, column: 7, elements: Self.elements(ages, .null), at: 1)
        }
        let backwards = Self.integers((0..<60).reversed())
        #expect(throws: StorageError.misuse(.notAscending)) { try history.set(transaction, 1, 5, backwards) }
        history.model = kept
        #expect(try CollectionHistory.contents(transaction.view) == kept)
        try transaction.commit()
        try check(store, history)
        try store.close()
    }

    @Test("many changed collections are written to their rows in one transaction, large ones stay open")
    func many() throws {
        let store = try Self.open(StoreLimits())
        var history = CollectionHistory(seed: 4)
        history.longest = 5
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for key in 0..<150 as Range<Int64> { try history.insertRow(transaction, key) }
        for round in 0..<3 {
            for key in 0..<150 as Range<Int64> {
                let count = key % 7 == 0 ? 2500 : 2
                let start = Int64(round * 10_000)
                try history.insert(transaction, key, 1, Self.integers(start..<(start + Int64(count))), at: 0)
            }
            // Small ones take a page each while they are open.
            #expect(transaction.workspace.collections.sorted.count <= 64 + 22)
            if round == 1 {
                try transaction.commit()
                transaction = try store.beginWrite()
            }
        }
        #expect(try CollectionHistory.contents(transaction.view) == history.model)
        try transaction.commit()
        try check(store, history)
        try store.close()
    }

    @Test("a change in a large collection copies only its path to the root, and records the element")
    func costs() throws {
        let store = try Self.open(StoreLimits())
        var history = CollectionHistory(seed: 1)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for key in 0..<2 as Range<Int64> { try history.insertRow(transaction, key) }
        try history.set(transaction, 1, 1, Self.integers((0..<100_000).map { $0 &* 1_000_003 }))
        try transaction.commit()
        for place in [0, 500, 50_000, 100_000, 99_000] {
            transaction = try store.beginWrite()
            try history.insert(transaction, 1, 1, Self.integers([7]), at: place)
            let bytes = transaction.workspace.recorder.byteCount
            // The pages of one leaf, or of two that were balanced, of the branches above, and of the path to the row.
            #expect(transaction.nodes.arena.livePages <= 7)
            #expect(bytes <= 40)
            try transaction.commit()
        }
        transaction = try store.beginWrite()
        for number in 0..<1000 as Range<Int64> {
            try history.insert(transaction, 1, 1, Self.integers([number]), at: history.model.rows[1]?[1].count ?? 0)
        }
        #expect(transaction.workspace.recorder.byteCount <= 40 + 3 * 1000)
        try transaction.commit()
        try check(store, history)
        try store.close()
    }

    // MARK: Links

    @Test("deleting targets together removes links as deleting them one by one", arguments: 1...6)
    func deletedTogether(seed: UInt64) throws {
        var stores: [Store] = []
        var last: CollectionHistory?
        for isTogether in [true, false] {
            let store = try Self.open()
            var history = CollectionHistory(seed: seed)
            var transaction = try store.beginWrite()
            try transaction.apply(schema: CollectionHistory.schema)
            for _ in 0..<80 { try history.step(transaction) }
            for _ in 0..<60 { try history.edit(transaction) }
            try transaction.commit()
            try check(store, history, "before, seed \(seed)")
            transaction = try store.beginWrite()
            let gone = history.model.targets.sorted().enumerated().filter { $0.offset % 3 != 0 }.map(\.element)
            if isTogether { try transaction.bulk.delete(1, gone) }
            for key in gone {
                if isTogether {
                    history.forgetTarget(key)
                } else {
                    try history.deleteTarget(transaction, key)
                }
            }
            try transaction.commit()
            try check(store, history, "seed \(seed)")
            transaction = try store.beginWrite()
            try transaction.deleteAll(1)
            for key in history.model.targets { history.forgetTarget(key) }
            try transaction.commit()
            try check(store, history, "emptied, seed \(seed)")
            if let last { #expect(last.model == history.model) }
            last = history
            stores.append(store)
        }
        for store in stores { try store.close() }
    }

    @Test("exactly the links to a deleted row are removed from a long list")
    func everyPlace() throws {
        let store = try Self.open()
        var history = CollectionHistory(seed: 1)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for key in 0..<24 as Range<Int64> { try history.insertTarget(transaction, key) }
        try history.insertRow(transaction, 1)
        try history.set(transaction, 1, CollectionHistory.friends, Self.integers(0..<24))
        try transaction.commit()
        for key in [0, 23, 11, 5, 6, 22] as [Int64] {
            transaction = try store.beginWrite()
            // Three more links to the row, at the start and side by side.
            for place in [0, 9, 9] {
                try history.insert(transaction, 1, CollectionHistory.friends, Self.integers([key]), at: place)
            }
            try history.deleteTarget(transaction, key)
            try transaction.commit()
            try check(store, history, "\(key)")
        }
        try store.close()
    }
}
