import StrataFiles
import Testing

@testable import StrataStorage

/// Collections that a guest's transaction changes, and the owner of writing commits.
@Suite(.serialized, .enabled(if: POSIXFileSystem().isShared))
struct CollectionGuestTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func open() throws -> Store {
        var options = StoreOptions()
        options.limits = .tiny
        // A spill would make the guest the owner.
        options.limits.memoryBudget = StoreLimits().memoryBudget
        options.mapReserve = 1 << 30
        options.writeTimeout = 20_000_000
        return try Store.open(path: directory.path + "/store", options: options)
    }

    @Test("the owner commits exactly a guest's changes of collections", arguments: 1...3 as ClosedRange<UInt64>)
    func histories(seed: UInt64) throws {
        let owner = try open()
        var history = CollectionHistory(seed: seed)
        // Longer elements have their own pages, which a guest must not write.
        history.longest = 12
        var transaction = try owner.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for _ in 0..<60 { try history.step(transaction) }
        try transaction.commit()
        let guest = try open()
        var turns = 0
        for round in 0..<40 {
            transaction = try (round % 4 == 0 ? owner : guest).beginWrite()
            for _ in 0..<4 { try history.edit(transaction) }
            if round % 5 == 1, let target = history.model.targets.min() {
                try history.deleteTarget(transaction, target)
                try history.insertTarget(transaction, (history.model.targets.max() ?? 0) + 1)
            }
            if transaction.guest != nil { turns += 1 }
            try transaction.commit()
            for store in [owner, guest] {
                #expect(
                    try CollectionHistory.contents(store.snapshot().view) == history.model,
                    "seed \(seed), round \(round)")
            }
        }
        #expect(turns > 5)
        for store in [owner, guest] { try store.checkInvariants() }
        try guest.close()
        try owner.close()
        let again = try open()
        #expect(try CollectionHistory.contents(again.snapshot().view) == history.model)
        try again.close()
    }

    @Test("a guest appends within the limit of a record, and takes ownership for an element with its own pages")
    func limits() throws {
        let owner = try open()
        var history = CollectionHistory(seed: 1)
        var transaction = try owner.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        try history.insertRow(transaction, 1)
        try transaction.commit()
        let guest = try open()
        func integers(_ count: Int, times factor: Int64 = 1) -> [CollectionPair] {
            (0..<count).map { CollectionPair(value: .integer(Int64($0 % 100) * factor)) }
        }
        transaction = try guest.beginWrite()
        try history.insert(transaction, 1, 1, integers(50_000), at: 0)
        #expect(transaction.guest != nil)
        try transaction.commit()
        transaction = try guest.beginWrite()
        try history.insert(transaction, 1, 1, integers(50_000, times: 1 << 40), at: 7)
        #expect(transaction.guest == nil)
        try transaction.commit()
        transaction = try owner.beginWrite()
        #expect(transaction.guest != nil)
        try history.insert(transaction, 1, 1, integers(3), at: 1)
        let text = CollectionPair(value: .bytes([UInt8](repeating: 65, count: 41)))
        try history.insert(transaction, 1, 2, [text], at: 0)
        #expect(transaction.guest == nil)
        try transaction.commit()
        for store in [owner, guest] {
            #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
            try store.checkInvariants()
        }
        try guest.close()
        try owner.close()
    }

    @Test("a guest takes ownership for collections without the flag, and for more changes than a record holds")
    func unforeseen() throws {
        let owner = try open()
        var history = CollectionHistory(seed: 1)
        var plain = CollectionHistory.schema
        for column in plain.tables[0].columns.indices { plain.tables[0].columns[column].collection = nil }
        var transaction = try owner.beginWrite()
        try transaction.apply(schema: plain)
        try history.insertRow(transaction, 1)
        let text = CollectionPair(value: .bytes([UInt8](repeating: 66, count: 90)))
        try history.set(transaction, 1, 2, [text, text])
        try transaction.commit()
        transaction = try owner.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        try transaction.commit()
        let guest = try open()
        transaction = try guest.beginWrite()
        #expect(transaction.guest != nil)
        try history.insert(transaction, 1, 2, [CollectionPair(value: .bytes([67]))], at: 1)
        #expect(transaction.guest == nil)
        try transaction.commit()
        transaction = try owner.beginWrite()
        #expect(transaction.guest != nil)
        try history.set(transaction, 1, 1, [])
        try history.insert(
            transaction, 1, 1, (0..<1000).map { CollectionPair(value: .integer($0)) }, at: 0)
        try transaction.commit()
        transaction = try guest.beginWrite()
        try transaction.commit()
        transaction = try owner.beginWrite()
        #expect(transaction.guest != nil)
        for round in 0..<24_000 {
            try transaction.collections.move(0, RowKey(1), column: 1, range: 0..<1, to: 999 - (round & 1))
        }
        #expect(transaction.workspace.recorder.isTooLarge || transaction.workspace.recorder.byteCount < 256 << 10)
        try history.insert(transaction, 1, 1, [CollectionPair(value: .integer(5))], at: 0)
        let contents = try CollectionHistory.contents(transaction.view)
        try transaction.commit()
        for store in [owner, guest] {
            #expect(try CollectionHistory.contents(store.snapshot().view) == contents)
            try store.checkInvariants()
        }
        try guest.close()
        try owner.close()
    }
}
