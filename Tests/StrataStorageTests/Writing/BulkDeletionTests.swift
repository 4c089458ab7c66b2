import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// Many rows deleted at once, and whole tables, against a model.
@Suite struct BulkDeletionTests {
    private typealias History = StoreHistory

    private static func options(_ limits: StoreLimits) -> StoreOptions {
        var options = StoreOptions()
        options.limits = limits
        options.mapReserve = 1 << 28
        options.logHalfBytes = 256 << 10
        return options
    }

    /// Groups and leaves of some dozen rows, so that there are many, including wide ones.
    private static var middle: StoreLimits {
        var limits = StoreLimits()
        limits.wideRows = 120
        limits.smallRows = 16
        limits.patches = 12
        limits.insertedRows = 8
        limits.deletedSlots = 20
        limits.entries = 30
        limits.children = 9
        limits.memoryBudget = 4 << 20
        return limits
    }

    @Test(
        "a random history with bulk deletions equals its model, also after a crash and a rollback",
        arguments: [StoreLimits.tiny, middle], Array(UInt64(1)...4))
    func history(limits: StoreLimits, seed: UInt64) throws {
        let disk = FileImages.Disk(capacity: 1 << 26)
        var options = Self.options(limits)
        options.fileSystem = disk
        var store = try Store.open(path: FileImages.path, options: options)
        var history = History(seed: seed)
        history.keyRange = limits == .tiny ? 200 : 1200
        for round in 0..<12 {
            let comment: Comment = "seed \(seed), round \(round)"
            let before = history
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: History.schema) }
            for _ in 0..<(round == 0 ? 500 : 150) { try history.step(transaction) }
            switch history.random.below(6) {
            case 0: try history.clear(transaction, [Int(history.random.below(2))])
            case 1: try history.clear(transaction, history.random.below(2) == 0 ? [0, 1] : [1, 0])
            case 2, 3:
                try history.deleteMany(transaction)
                try history.deleteMany(transaction)
            default: try history.deleteMany(transaction)
            }
            for _ in 0..<5 { try history.step(transaction) }
            #expect(try History.contents(transaction.view) == history.model, comment)
            if round % 4 == 2 {
                transaction.rollback()
                history.model = before.model
            } else {
                try transaction.commit()
            }
            try store.checkInvariants()
            #expect(try History.contents(store.snapshot().view) == history.model, comment)
            try Self.crash(&store, disk, options, history.model, comment)
        }
        try store.close()
    }

    /// Replays the files of a process that dies now, and compares the recovered rows with the model.
    private static func crash(
        _ store: inout Store, _ disk: FileImages.Disk, _ options: StoreOptions, _ model: StoreModel, _ comment: Comment
    ) throws {
        var options = options
        options.fileSystem = try disk.left(capacity: 1 << 26)
        let recovered = try Store.open(path: FileImages.path, options: options)
        try recovered.checkInvariants()
        #expect(try History.contents(recovered.snapshot().view) == model, comment)
        try recovered.close()
    }

    // MARK: Wide groups

    private static let people = 3000
    private static let dogs = 900

    /// Persons with lists of dogs and one dog, in groups of full size with patches, deleted and inserted rows.
    private static func fill(_ store: Store) throws -> History {
        var history = History(seed: 7)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: History.schema)
        func insert(_ table: Int, _ key: Int64, _ values: [Value]) throws {
            try History.withCells(values[...]) { try transaction.insert(table, key: RowKey(key), $0) }
            history.model.tables[table][key] = values
        }
        for dog in 0..<Int64(dogs) { try insert(1, dog * 3, [.integer(dog), .null]) }
        for person in 0..<Int64(people) {
            let links = (0..<(person % 5)).map { (person * 7 + $0 * 3) % Int64(dogs) * 3 }
            let text = [UInt8](repeating: UInt8(person % 251), count: person % 700 == 0 ? 5000 : 9)
            try insert(
                0, person * 2,
                [
                    .integer(person % 90), .bytes(text), .double(Double(person).bitPattern),
                    person % 3 == 0 ? .null : .integer(person % Int64(dogs) * 3), .links(links),
                ])
        }
        try transaction.commit()
        transaction = try store.beginWrite()
        for person in stride(from: Int64(10), to: Int64(people), by: 97) {
            let links = Value.links([0, 3, 3, 6])
            try History.withCell(links) { try transaction.set(0, RowKey(person * 2), column: 4, to: $0) }
            history.model.tables[0][person * 2]?[4] = links
            try transaction.delete(0, RowKey(person * 2 + 2))
            history.model.tables[0][person * 2 + 2] = nil
        }
        // Rows are inserted only into the last row group.
        for person in Int64(people - 50)..<Int64(people - 30) {
            try insert(0, person * 2 + 1, [.null, .null, .double(0), .integer(6), .links([9, 9, 12])])
        }
        try transaction.commit()
        return history
    }

    @Test(
        "links in wide groups are removed in bulk: to few targets, to many, and to all",
        arguments: [1, 5, 300, 850, dogs], [1 << 26, 1 << 18])
    func wideGroups(count: Int, memoryBudget: Int) throws {
        let disk = FileImages.Disk(capacity: 1 << 26)
        var options = Self.options(StoreLimits())
        // With little memory links are collected in chunks of 4 096.
        options.limits.memoryBudget = memoryBudget
        options.logHalfBytes = 4 << 20
        options.fileSystem = disk
        var store = try Store.open(path: FileImages.path, options: options)
        var history = try Self.fill(store)
        let transaction = try store.beginWrite()
        let keys = (0..<Int64(count)).map { $0 * 3 }
        try transaction.bulk.delete(1, keys)
        history.forget(1, Set(keys))
        #expect(try History.contents(transaction.view) == history.model)
        try transaction.commit()
        try store.checkInvariants()
        try Self.crash(&store, disk, options, history.model, "\(count) targets")
        let owners = Array(history.model.tables[0].keys.sorted().prefix(2500))
        let second = try store.beginWrite()
        try second.bulk.delete(0, owners)
        history.forget(0, Set(owners))
        try second.commit()
        try store.checkInvariants()
        try Self.crash(&store, disk, options, history.model, "\(count) targets, then owners")
        try store.close()
    }

    // MARK: Whole tables

    @Test("clearing tables together logs one operation for each, and frees all their pages")
    func cleared() throws {
        let disk = FileImages.Disk(capacity: 1 << 26)
        var options = Self.options(StoreLimits())
        options.logHalfBytes = 4 << 20
        options.fileSystem = disk
        var store = try Store.open(path: FileImages.path, options: options)
        var history = try Self.fill(store)
        let next = try store.beginWrite()
        let nextKeys = (next.nextKey(0), next.nextKey(1))
        try history.clear(next, [0, 1])
        let bytes = next.workspace.recorder.byteCount
        #expect(bytes == ChangeRecord.headerSize + 4)
        try next.commit()
        try store.checkInvariants()
        #expect(try store.snapshot().view.rowCount(0) == 0)
        try Self.crash(&store, disk, options, history.model, "cleared")
        let after = try store.beginWrite()
        #expect(after.nextKey(0) == nextKeys.0)
        #expect(after.nextKey(1) == nextKeys.1)
        // Clearing an empty table records nothing.
        try after.deleteAll([0, 1])
        let isEmpty = after.workspace.recorder.isEmpty
        #expect(isEmpty)
        after.rollback()
        #expect(try store.space().liveBytes <= 16 * Format.pageSize)
        try store.close()
    }

    @Test("observers are notified of each row of a cleared table, and of the removed links")
    func notices() throws {
        let disk = FileImages.Disk(capacity: 1 << 26)
        var options = Self.options(StoreLimits())
        options.logHalfBytes = 4 << 20
        options.fileSystem = disk
        let store = try Store.open(path: FileImages.path, options: options)
        let history = try Self.fill(store)
        let before = try store.snapshot()
        let seen = Mutex<[CommitNotice]>([])
        let token = store.addObserver { notice in seen.withLock { $0.append(notice) } }
        let transaction = try store.beginWrite()
        try transaction.deleteAll(1)
        try transaction.commit()
        let notice = try #require(seen.withLock { $0.first })
        let gone = try #require(notice.changes.first { $0.table == TableID(2) })
        #expect(gone.isComplete && gone.deleted == history.model.tables[1].keys.sorted())
        let unlinked = try #require(notice.changes.first { $0.table == TableID(1) })
        let expected = history.model.tables[0].filter { $0.value[3] != .null || $0.value[4] != .links([]) }.keys
        #expect(unlinked.isComplete && Set(unlinked.modified.map(\.key)) == Set(expected))
        // The difference of the two versions has to name the same rows as the notice.
        let compared = try store.snapshot().view.changes(of: TableID(1), since: before.view)
        #expect(Set(compared.modified.map(\.key)) == Set(expected) && compared.deleted.isEmpty)
        withExtendedLifetime(token) {}
        try store.close()
    }

    @Test("removing a table or an index frees all its pages") func schemas()
        throws
    {
        let disk = FileImages.Disk(capacity: 1 << 26)
        var options = Self.options(Self.middle)
        options.fileSystem = disk
        let store = try Store.open(path: FileImages.path, options: options)
        _ = try Self.fill(store)
        var schema = History.schema
        schema.tables[0].columns[0].index = .none
        schema.tables[0].columns[1].index = .none
        var transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        try transaction.commit()
        try store.checkInvariants()
        schema.tables.removeFirst()
        schema.tables[0].columns.removeLast()
        transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        try transaction.commit()
        try store.checkInvariants()
        try store.close()
    }
}

extension StoreHistory {
    /// Removes rows from the model, and links to them, that were deleted only in the store.
    fileprivate mutating func forget(_ table: Int, _ gone: Set<Int64>) {
        for key in gone { model.tables[table][key] = nil }
        unlink(table, gone)
    }
}
