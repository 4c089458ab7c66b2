import StrataFiles
import Testing

@testable import StrataStorage

/// Collections in stores with default limits, in encrypted stores, and under other durability classes.
@Suite struct CollectionTrialTests {
    static func mixed(_ history: inout CollectionHistory, _ transaction: WriteTransaction) throws {
        if history.random.below(5) == 0 || history.model.rows.count < 4 {
            try history.step(transaction)
        } else {
            try history.edit(transaction)
        }
    }

    @Test(
        "leaves limited by bytes, in a store with default limits",
        arguments: TestSettings.seeds(2, of: 6))
    func large(seed: UInt64) throws {
        let trial = try CollectionTrial(seed + 300) { options in
            options.limits = StoreLimits()
            options.limits.memoryBudget = seed % 2 == 0 ? 60 << 12 : 16 << 20
            options.logHalfBytes = 1 << 20
            options.mapReserve = 1 << 28
        }
        trial.setLongest(2500)
        try trial.run(transactions: 25, Self.mixed)
    }

    @Test(
        "a session that writes pages early and a replay that does not make the same trees",
        arguments: TestSettings.seeds(3, of: 12))
    func budgets(seed: UInt64) throws {
        var opened = 0
        let trial = try CollectionTrial(seed + 400) { options in
            opened += 1
            options.limits.memoryBudget = (opened % 2 == 0) == (seed % 2 == 0) ? 12 << 12 : 4 << 20
            options.logHalfBytes = 256 << 10
        }
        trial.readsOnly = false
        try trial.run(transactions: 40, Self.mixed)
    }

    @Test("more collections than the cache holds, each changed in turn", arguments: TestSettings.seeds(2, of: 8))
    func manyOpen(seed: UInt64) throws {
        let trial = try CollectionTrial(seed + 500) { options in
            options.limits.memoryBudget = seed % 2 == 0 ? 200 << 12 : 4 << 20
            options.logHalfBytes = 256 << 10
        }
        try trial.run(transactions: 12) { history, transaction in
            for key in 0..<15 as Range<Int64> where history.model.rows[key] == nil {
                try history.insertRow(transaction, key)
            }
            for _ in 0..<30 { try history.edit(transaction) }
        }
    }

    @Test("encrypted stores, and stores under other durability classes", arguments: TestSettings.seeds(3, of: 12))
    func kinds(seed: UInt64) throws {
        let trial = try CollectionTrial(seed + 600) { options in
            if seed % 3 == 0 { options.cipher = TestCipher(key: 4) }
            if seed % 3 == 1 { options.durability = .periodic }
            if seed % 3 == 2 { options.durability = .none }
        }
        trial.crashes = seed % 3 == 0
        trial.readsOnly = seed % 3 == 0
        try trial.run(transactions: 30, Self.mixed)
    }

    @Test("a changed element turns an old column's value into a tree", arguments: TestSettings.seeds(2, of: 10))
    func adopted(seed: UInt64) throws {
        let trial = try CollectionTrial(seed + 700) { _ in }
        var isAdopted = false
        try trial.run(transactions: 30, schema: Self.plain) { history, transaction in
            if !isAdopted {
                for _ in 0..<60 { try history.step(transaction) }
                try transaction.apply(schema: CollectionHistory.schema)
                isAdopted = true
            }
            try Self.mixed(&history, transaction)
        }
    }

    private static var plain: StoreSchema {
        var plain = CollectionHistory.schema
        for column in plain.tables[0].columns.indices { plain.tables[0].columns[column].collection = nil }
        return plain
    }

    // MARK: Schema

    @Test("collections stay usable across a schema change", arguments: TestSettings.seeds(3, of: 12))
    func schemaChanges(seed: UInt64) throws {
        let disk = FileImages.Disk()
        var options = FileImages.options(on: disk)
        options.limits.memoryBudget = seed % 2 == 0 ? 12 << 12 : 4 << 20
        options.logHalfBytes = 1 << 20
        let store = try Store.open(path: FileImages.path, options: options)
        var history = CollectionHistory(seed: seed)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for _ in 0..<60 { try history.step(transaction) }
        try transaction.commit()
        // The new column is the last one, so that the positions of the others stay.
        var wide = CollectionHistory.schema
        wide.tables[0].columns.append(
            ColumnDefinition(id: ColumnID(20), name: "more", type: .bytes, collection: CollectionColumn(.integer)))
        wide.tables.append(TableDefinition(id: TableID(9), name: "New", columns: []))
        for round in 0..<8 {
            transaction = try store.beginWrite()
            for _ in 0..<8 { try history.edit(transaction) }
            try transaction.apply(schema: wide)
            let last = wide.tables[0].columns.count - 1
            for key in history.model.rows.keys.sorted().prefix(5) {
                let elements = CollectionElements(CollectionColumn(.integer))
                for number in 0..<40 as Range<Int64> { elements.append(.integer(number)) }
                try transaction.collections.insert(0, RowKey(key), column: last, elements: elements, at: 0)
            }
            for _ in 0..<8 { try history.edit(transaction) }
            if round % 2 == 0 {
                try transaction.apply(schema: CollectionHistory.schema)
                for _ in 0..<4 { try history.edit(transaction) }
                wide.tables[0].columns[last].id = ColumnID(UInt16(21 + round))
                wide.tables[2].id = TableID(UInt32(10 + round))
            }
            try transaction.commit()
            try store.checkInvariants()
            #expect(try CollectionHistory.contents(store.snapshot().view) == history.model, "seed \(seed), \(round)")
            if round % 2 == 1 {
                transaction = try store.beginWrite()
                for _ in 0..<4 { try history.edit(transaction) }
                try transaction.apply(schema: CollectionHistory.schema)
                try transaction.commit()
                try store.checkInvariants()
                wide.tables[0].columns[last].id = ColumnID(UInt16(21 + round))
                wide.tables[2].id = TableID(UInt32(10 + round))
            }
        }
        options.fileSystem = try disk.copied()
        let dead = try Store.open(path: FileImages.path, options: options)
        try dead.checkInvariants()
        #expect(try CollectionHistory.contents(dead.snapshot().view) == history.model)
        try dead.close()
        try store.close()
    }

    // MARK: Cost

    @Test("a replay checks only the collections that a record changes")
    func replayCost() throws {
        let disk = FileImages.Disk()
        var options = FileImages.options(on: disk)
        options.limits.memoryBudget = 16 << 20
        options.logHalfBytes = 4 << 20
        options.mapReserve = 1 << 28
        let store = try Store.open(path: FileImages.path, options: options)
        var history = CollectionHistory(seed: 1)
        history.longest = 2
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for key in 0..<200 as Range<Int64> { try history.insertRow(transaction, key) }
        try transaction.commit()
        for key in 0..<200 as Range<Int64> {
            transaction = try store.beginWrite()
            try history.insert(
                transaction, key, 1, (0..<30).map { CollectionPair(value: .integer($0)) }, at: 0)
            try transaction.commit()
        }
        transaction = try store.beginWrite()
        for key in 0..<200 as Range<Int64> {
            try history.remove(transaction, key, 1, 0..<10)
            // The changes of a record are checked once, at its end.
            try CollectionPlacing(transaction).putSmallInRows()
            #expect(transaction.workspace.collections.takeChanged().isEmpty)
            #expect(transaction.workspace.collections.sorted.count == Int(key) + 1)
        }
        #expect(try CollectionHistory.contents(transaction.view) == history.model)
        for key in 0..<200 as Range<Int64> {
            try history.remove(transaction, key, 1, 0..<(history.model.rows[key]?[1].count ?? 0))
            #expect(transaction.workspace.collections.takeChanged().map(\.place.key) == [key])
            #expect(transaction.workspace.collections.takeChanged().isEmpty)
        }
        transaction.rollback()
        try store.checkInvariants()
        try store.close()
    }

    @Test("a transaction in the same batch continues with the previous one's collections") func grouped() throws {
        var options = FileImages.options(on: FileImages.Disk())
        options.logHalfBytes = 1 << 20
        let store = try Store.open(path: FileImages.path, options: options)
        var history = CollectionHistory(seed: 8)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for _ in 0..<60 { try history.step(transaction) }
        try transaction.commit()
        transaction = try store.beginWrite()
        for round in 0..<30 {
            for _ in 0..<6 { try Self.mixed(&history, transaction) }
            transaction = try transaction.commitGrouped().next ?? store.beginWrite()
            #expect(try CollectionHistory.contents(transaction.view) == history.model, "\(round)")
        }
        try transaction.commit()
        try store.checkInvariants()
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
        try store.close()
    }
}
