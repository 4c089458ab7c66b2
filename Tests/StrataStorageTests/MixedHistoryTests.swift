import StrataFiles
import Testing

@testable import StrataStorage

/// All operations of a transaction in any order, compared with arrays.
@Suite struct MixedHistoryTests {
    private static func options(_ limits: StoreLimits) -> StoreOptions {
        var options = StoreOptions()
        options.limits = limits
        options.mapReserve = 1 << 28
        options.logHalfBytes = 256 << 10
        return options
    }

    /// Tiny limits, tiny limits under which most changes are buffered, and limits with row groups of some dozen rows.
    private static let limits: [StoreLimits] = {
        var eager = StoreLimits.tiny
        eager.changesBeforeHeld = 0
        eager.changesHeld = 500
        eager.memoryBudget = 1 << 20
        var middle = StoreLimits()
        middle.wideRows = 90
        middle.smallRows = 8
        middle.patches = 9
        middle.changesBeforeHeld = 3
        middle.insertedRows = 6
        middle.deletedSlots = 12
        middle.children = 6
        middle.entries = 20
        middle.elements = 12
        middle.inlineBytes = 150
        return [.tiny, eager, middle]
    }()

    @Test(
        "a history of all operations equals its model, also rolled back, replayed and reopened",
        arguments: 0..<3, TestSettings.seeds(2, of: 6))
    func history(limits: Int, seed: UInt64) throws {
        let disk = FileImages.Disk(capacity: 1 << 27)
        var options = Self.options(Self.limits[limits])
        if seed == 2, limits == 0 { options.cipher = TestCipher(key: 9) }
        options.fileSystem = disk
        var store = try Store.open(path: FileImages.path, options: options)
        var history = MixedHistory(seed: seed)
        history.keyRange = limits == 2 ? 500 : 150
        for round in 0..<10 {
            let comment: Comment = "limits \(limits), seed \(seed), round \(round)"
            let before = history.model
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: MixedHistory.schema) }
            for _ in 0..<(round == 0 ? 150 : 40) { try history.step(transaction) }
            if round % 2 == 0 {
                #expect(try MixedHistory.contents(transaction.view) == history.model, comment)
                try history.checkEntries(transaction.view)
            }
            if round % 5 == 4 {
                transaction.rollback()
                history.model = before
            } else {
                try transaction.commit()
            }
            try Self.check(store, history, comment)
            try Self.crash(disk, options, history, comment)
            if round % 6 == 5 {
                try store.close()
                store = try Store.open(path: FileImages.path, options: options)
            }
        }
        try store.close()
    }

    private static func check(_ store: Store, _ history: MixedHistory, _ comment: Comment) throws {
        try store.checkInvariants()
        let snapshot = try store.snapshot()
        #expect(try MixedHistory.contents(snapshot.view) == history.model, comment)
        try history.checkEntries(snapshot.view)
    }

    /// Replays the files of a process that dies now.
    private static func crash(
        _ disk: FileImages.Disk, _ options: StoreOptions, _ history: MixedHistory, _ comment: Comment
    ) throws {
        var options = options
        options.fileSystem = try disk.left(capacity: 1 << 27)
        let recovered = try Store.open(path: FileImages.path, options: options)
        try check(recovered, history, comment)
        try recovered.close()
    }

    @Test("the owner commits exactly what a guest does in any order", arguments: TestSettings.seeds(2, of: 8))
    func guest(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        var options = Self.options(.tiny)
        // A spill would make the guest the owner.
        options.limits.memoryBudget = StoreLimits().memoryBudget
        options.limits.inlineBytes = 900
        options.mapReserve = 1 << 30
        options.writeTimeout = 20_000_000
        let path = directory.path + "/store"
        let owner = try Store.open(path: path, options: options)
        var history = MixedHistory(seed: seed)
        history.longest = 20
        let first = try owner.beginWrite()
        try first.apply(schema: MixedHistory.schema)
        for _ in 0..<100 { try history.step(first) }
        try first.commit()
        let guest = try Store.open(path: path, options: options)
        var turns = 0
        for round in 0..<20 {
            let transaction = try (round % 4 == 0 ? owner : guest).beginWrite()
            for _ in 0..<8 { try history.step(transaction) }
            if round == 13 { try history.clear(transaction, [2, 0]) }
            if transaction.guest != nil { turns += 1 }
            try transaction.commit()
            // `checkInvariants` would make the guest the owner, so only contents and entries are compared.
            for store in [owner, guest] {
                let snapshot = try store.snapshot()
                #expect(try MixedHistory.contents(snapshot.view) == history.model, "seed \(seed), round \(round)")
                try history.checkEntries(snapshot.view)
            }
        }
        #expect(turns > 5)
        for store in [owner, guest] { try store.checkInvariants() }
        try guest.close()
        try owner.close()
        let again = try Store.open(path: path, options: options)
        try Self.check(again, history, "seed \(seed), opened again")
        try again.close()
    }
}
