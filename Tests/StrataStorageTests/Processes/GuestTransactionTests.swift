import Platform
import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// Transactions of a guest, which the owner of writing commits. Two stores of one process stand for two processes: the
/// store that wrote first owns writing, and the second one is its guest.
@Suite(.serialized, .enabled(if: POSIXFileSystem().isShared))
struct GuestTransactionTests {
    private let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
    }

    private static let schema = StoreSchema(
        userVersion: 1, table: "Row",
        [
            ColumnDefinition(id: ColumnID(1), name: "number", type: .integer, index: .ordered),
            ColumnDefinition(id: ColumnID(2), name: "text", type: .bytes, isOptional: true),
        ])

    func open(_ change: (inout StoreOptions) -> Void = { _ in }) throws -> Store {
        var options = StoreOptions()
        options.mapReserve = 1 << 30
        options.writeTimeout = 20_000_000
        change(&options)
        return try Store.open(path: path, options: options)
    }

    /// Two stores on one file, of which the first one owns writing.
    func pair(_ change: (inout StoreOptions) -> Void = { _ in }) throws -> (Store, Store) {
        let first = try open(change)
        let transaction = try first.beginWrite()
        try transaction.apply(schema: Self.schema)
        try transaction.commit()
        return (first, try open(change))
    }

    static func insert(_ transaction: WriteTransaction, _ keys: Range<Int>, text: Int = 8) throws {
        let text = [UInt8](repeating: 65, count: text)
        try text.withUnsafeBytes { text in
            for key in keys {
                try [Cell.integer(Int64(key * 3)), .bytes(text)].withUnsafeBufferPointer {
                    try transaction.insert(0, key: RowKey(Int64(key)), $0)
                }
            }
        }
    }

    func count(_ store: Store) throws -> Int { try store.snapshot().view.keys(0).count }

    private func lent() -> Int { CoverageMarks.hits[.lentTurn] ?? 0 }
    private func claimed() -> Int { CoverageMarks.hits[.guestClaimed] ?? 0 }

    func finish(_ stores: Store..., rows: Int) throws {
        for store in stores {
            #expect(try count(store) == rows)
            try store.checkInvariants()
        }
        for store in stores { try store.close() }
        let store = try open()
        #expect(try count(store) == rows)
        try store.checkInvariants()
        try store.close()
    }

    @Test("a guest's transaction is committed, visible to both stores, and survives") func small() throws {
        let (first, second) = try pair()
        let before = lent()
        for round in 0..<10 {
            let transaction = try second.beginWrite()
            try Self.insert(transaction, (round * 2)..<(round * 2 + 1))
            try transaction.commit()
            #expect(try count(first) == round * 2 + 1)
            let own = try first.beginWrite()
            #expect(try own.view.keys(0).count == round * 2 + 1)
            try Self.insert(own, (round * 2 + 1)..<(round * 2 + 2))
            try own.commit()
            #expect(try count(second) == round * 2 + 2)
        }
        if CoverageMarks.areCounted { #expect(lent() >= before + 10) }
        try finish(first, second, rows: 20)
    }

    @Test("a guest's rollback leaves nothing, and returns the turn") func rollback() throws {
        let (first, second) = try pair()
        let transaction = try second.beginWrite()
        try Self.insert(transaction, 0..<5)
        transaction.rollback()
        try second.beginWrite().commit()
        let own = try first.beginWrite()
        try Self.insert(own, 0..<3)
        try own.commit()
        try finish(first, second, rows: 3)
    }

    @Test("long values and large transactions take ownership midway", arguments: [9000, 200])
    func claims(text: Int) throws {
        let (first, second) = try pair()
        let before = claimed()
        for (store, keys) in [(second, 0..<3000), (first, 3000..<6000), (second, 6000..<6010)] {
            let transaction = try store.beginWrite()
            try Self.insert(transaction, keys, text: keys.lowerBound == 0 && text == 9000 ? text : min(text, 200))
            #expect(try transaction.view.keys(0).count == keys.upperBound)
            try transaction.commit()
        }
        if CoverageMarks.areCounted { #expect(claimed() > before) }
        try finish(first, second, rows: 6010)
    }

    @Test("a store that writes alone becomes the owner") func streak() throws {
        let (first, second) = try pair()
        let before = lent()
        for key in 0..<200 {
            let transaction = try second.beginWrite()
            try Self.insert(transaction, key..<(key + 1))
            try transaction.commit()
        }
        if CoverageMarks.areCounted { #expect(lent() - before < 100) }
        try finish(first, second, rows: 200)
    }

    @Test("both stores are notified of each version once, with details of their own changes") func notices() throws {
        let (first, second) = try pair()
        let heard = Mutex<[[(UInt64, Bool)]]>([[], []])
        let tokens = [first, second].enumerated().map { index, store in
            store.addObserver { notice in
                let isComplete = notice.changes.allSatisfy(\.isComplete)
                heard.withLock { $0[index].append((notice.version.rawValue, isComplete)) }
            }
        }
        for key in 0..<6 {
            let transaction = try (key % 2 == 0 ? second : first).beginWrite()
            try Self.insert(transaction, key..<(key + 1))
            try transaction.commit()
        }
        tokens.forEach { $0.cancel() }
        let lists = heard.withLock { $0 }
        for list in lists {
            let versions = list.map(\.0)
            #expect(versions == Array(Set(versions)).sorted())
        }
        // Versions 2, 4 and 6 are the second store's; the first store commits all of them.
        let vague = lists[0].filter { !$0.1 }.count
        #expect(vague == 0)
        let own = lists[1].filter { $0.0 % 2 == 0 && !$0.1 }.count
        #expect(own == 0)
        try finish(first, second, rows: 6)
    }

    /// The observer's thread is in a call, so that it follows no version: only the guest's own commit does.
    @Test("a guest is told of its own version with the changes, also while an observer still runs")
    func noticeBehindSlowObserver() throws {
        let (first, second) = try pair()
        let heard = Mutex<[Bool]>([])
        let mayGoOn = Mutex(false)
        @Sendable func wait(_ isDone: () -> Bool) {
            for _ in 0..<20_000 where !isDone() { usleep(500) }
            #expect(isDone())
        }
        let token = second.addObserver { notice in
            let count = heard.withLock {
                $0.append(notice.changes.allSatisfy(\.isComplete))
                return $0.count
            }
            if count == 1 { wait { mayGoOn.withLock { $0 } } }
        }
        for (key, store) in [first, first, second].enumerated() {
            let transaction = try store.beginWrite()
            try Self.insert(transaction, key..<(key + 1))
            try transaction.commit()
            if key == 0 { wait { heard.withLock { $0.count == 1 } } }
        }
        mayGoOn.withLock { $0 = true }
        wait { heard.withLock { $0.count == 3 } }
        #expect(heard.withLock { $0 } == [false, false, true])
        token.cancel()
        try finish(first, second, rows: 3)
    }

    @Test("a guest can change the schema") func schema() throws {
        let (first, second) = try pair()
        var schema = Self.schema
        schema.userVersion = 2
        let (table, column) = (schema.makeTableID(), try schema.makeColumnID())
        schema.tables.append(
            TableDefinition(
                id: table, name: "Other", columns: [ColumnDefinition(id: column, name: "number", type: .integer)]))
        let transaction = try second.beginWrite()
        try Self.insert(transaction, 0..<4)
        try transaction.apply(schema: schema)
        try transaction.commit()
        #expect(try first.snapshot().view.schema == schema)
        try finish(first, second, rows: 4)
    }

    @Test("threads of two stores commit at once, and nothing is lost", arguments: [Durability.full, .periodic, .none])
    func threads(durability: Durability) throws {
        let (first, second) = try pair { $0.durability = durability }
        let done = Mutex(0)
        let failure = Mutex<String?>(nil)
        for lane in 0..<6 {
            let store = lane % 2 == 0 ? first : second
            _ = SystemScheduling().spawn("lane") {
                do {
                    for key in (lane * 50)..<(lane * 50 + 50) {
                        let transaction = try store.beginWrite()
                        try Self.insert(transaction, key..<(key + 1))
                        try transaction.commit()
                    }
                } catch {
                    failure.withLock { $0 = "\(error)" }
                }
                done.withLock { $0 += 1 }
            }
        }
        while done.withLock({ $0 }) < 6 { SystemScheduling().pause(microseconds: 1000) }
        let found = failure.withLock { $0 }
        #expect(found == nil)
        try finish(first, second, rows: 300)
    }

    @Test("a store that takes over writing uses the file's present size, not an old one") func shorterFile() throws {
        let (first, second) = try pair { $0.growth = .fixed(64 << 10) }
        func pages() throws -> Int { try first.space().fileBytes / 4096 }
        var transaction = try first.beginWrite()
        try Self.insert(transaction, 0..<1000, text: 9000)
        try transaction.commit()
        #expect(try count(second) == 1000)
        let most = try pages()
        transaction = try first.beginWrite()
        try transaction.deleteAll(0)
        try transaction.commit()
        // Each round writes a long value, for which a store needs ownership of writing. Each hand-over makes a
        // checkpoint, which truncates the file.
        for round in 0..<6 {
            let store = round % 2 == 0 ? second : first
            transaction = try store.beginWrite()
            try Self.insert(transaction, round..<(round + 1), text: 9000)
            try transaction.commit()
            #expect(try count(first) == round + 1)
            #expect(try count(second) == round + 1)
        }
        #expect(try pages() < most / 2)
        try finish(first, second, rows: 6)
    }

    @Test(
        "a dead owner's grant gives write ownership to no process once it is answered",
        .enabled(if: StoreWorkerProcess.executable != nil), arguments: [true, false])
    func answeredGrant(commits: Bool) throws {
        let owner = try StoreWorkerProcess(
            path, ["increment", "1", "times=3", "short", "stay", "default"], name: "owner")
        try owner.waitFor("s")
        let guest = try open()
        let transaction = try guest.beginWrite()
        owner.end(SIGKILL)
        try transaction.set(0, RowKey(2), column: 0, to: .integer(7))
        if commits { try transaction.commit() } else { transaction.rollback() }
        // A store of another durability class accepts no grant. It takes ownership, and is released without a close,
        // like a process that dies.
        do {
            let heir = try open { $0.durability = .periodic }
            try heir.beginWrite().rollback()
        }
        let last = try open { $0.durability = .periodic }
        try last.beginWrite().rollback()
        #expect(
            try guest.snapshot().view.integer(#require(try guest.snapshot().view.locate(0, RowKey(2))), 0)
                == (commits ? 7 : 0))
        try last.close()
        try guest.close()
    }

    @Test(
        "a guest's death is noticed while others keep asking for the turn",
        .enabled(if: StoreWorkerProcess.executable != nil))
    func deadGuestAmongAskers() throws {
        let owner = try open()
        let processes = try #require(owner.processes)
        let maker = try StoreWorkerProcess(path, ["once", "1", "short", "default"], name: "maker")
        #expect(maker.wait() == 0)
        try owner.beginWrite().commit()
        let guest = try StoreWorkerProcess(path, ["hold", "1", "short", "default"], name: "guest")
        try guest.waitFor("h")
        // A process that waits for its turn wakes the owner. Here it does so more often than the owner checks which
        // processes live.
        let isOver = Mutex(false)
        _ = SystemScheduling().spawn("asker") {
            while !isOver.withLock({ $0 }) {
                processes.slots.ring(processes.slots.own)
                SystemScheduling().pause(microseconds: 5000)
            }
        }
        guest.end(SIGKILL)
        // If the owner never checked which processes live, this write would end with `busy`.
        #expect(throws: Never.self) { try owner.beginWrite().commit() }
        isOver.withLock { $0 = true }
        if CoverageMarks.areCounted { #expect(lent() > 0) }
        try owner.checkInvariants()
        try owner.close()
    }

    @Test("an encrypted store lends no turns, since records would be shared in plain text") func encrypted() throws {
        let (first, second) = try pair { $0.cipher = TestCipher(key: 7) }
        let before = lent()
        let transaction = try second.beginWrite()
        try Self.insert(transaction, 0..<3)
        try transaction.commit()
        #expect(try count(first) == 3)
        #expect(lent() == before)
        try second.close()
        try first.close()
    }
}
