import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// Commits whose durability the caller waits for later (`commitWithoutWaiting`), by the owner of writing and by a
/// guest.
extension GuestTransactionTests {
    private func begin(_ store: Store, _ key: Int) throws -> WriteTransaction {
        let transaction = try store.beginWrite()
        try Self.insert(transaction, key..<(key + 1))
        return transaction
    }

    @Test("a guest's commit with a later wait is durable when it returns")
    func lateGuest() throws {
        let (first, second) = try pair()
        let single = try begin(second, 0).commitWithoutWaiting()
        #expect(try count(first) == 1)
        let (grouped, next) = try begin(second, 1).commitGrouped()
        #expect(next == nil)
        #expect(try count(first) == 2)
        let empty = try second.beginWrite().commitWithoutWaiting()
        // The first store has taken its turn again before the second one waits.
        try begin(first, 2).commit()
        for pending in [single, grouped, empty] {
            #expect(pending.snapshot == nil)
            try pending.wait()
        }
        try finish(first, second, rows: 3)
    }

    @Test("a turn is lent after a commit with a later wait, and after an abandoned batch")
    func lateOwner() throws {
        let (first, second) = try pair()
        for round in 0..<20 {
            let row = round * 3
            let single = try begin(first, row).commitWithoutWaiting()
            let guest = try begin(second, row + 1)
            #expect(try guest.view.keys(0).count == row + 2)
            // No thread has waited yet for the first store's commit, on which the guest's transaction is based.
            if round % 4 == 0 { guest.rollback() } else { try guest.commit() }
            try single.wait()
            #expect(try count(second) == (round % 4 == 0 ? row + 1 : row + 2))
            if round % 4 == 0 { try begin(second, row + 1).commit() }

            let (grouped, next) = try begin(first, row + 2).commitGrouped()
            let seen = Mutex<Int?>(nil)
            _ = SystemScheduling().spawn("guest") {
                let rows: Int
                do {
                    let guest = try second.beginWrite()
                    rows = guest.waitUntilBaseIsVisible() ? try second.snapshot().view.keys(0).count : -1
                    guest.rollback()
                } catch {
                    rows = -2
                }
                seen.withLock { $0 = rows }
            }
            try #require(next).rollback()
            try grouped.wait()
            while seen.withLock({ $0 }) == nil { SystemScheduling().pause(microseconds: 200) }
            let rows = seen.withLock { $0 }
            #expect(rows == row + 3)
        }
        try finish(first, second, rows: 60)
    }

    @Test(
        "a guest whose owner dies keeps the version that was visible, does not wait, and can write",
        .enabled(if: StoreWorkerProcess.executable != nil))
    func deadOwner() throws {
        let owner = try StoreWorkerProcess(
            path, ["increment", "1", "times=3", "short", "stay", "default"], name: "owner")
        try owner.waitFor("s")
        let guest = try open()
        let transaction = try guest.beginWrite()
        #expect(transaction.waitUntilBaseIsVisible())
        owner.end(9)
        // The base was visible when the transaction began, and stays so.
        #expect(transaction.waitUntilBaseIsVisible())
        transaction.rollback()
        try guest.beginWrite().commit()
        try guest.close()
    }
}
