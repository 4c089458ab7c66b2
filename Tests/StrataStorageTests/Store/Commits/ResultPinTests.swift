import StrataFiles
import Testing

@testable import StrataStorage

/// A pin reserved for the version that a transaction makes. Without it a commit could succeed while its Realm found no
/// free pin to show it.
@Suite(.enabled(if: POSIXFileSystem().isShared))
struct ResultPinTests {
    private static let most = ProcessTable.Layout.mostVersions
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
    }

    private func open(_ durability: Durability = .none) throws -> Store {
        var options = StoreOptions()
        options.mapReserve = 1 << 30
        options.durability = durability
        return try Store.open(path: path, options: options)
    }

    private func make(_ durability: Durability = .none) throws -> Store {
        let store = try open(durability)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: CheckedStore.schema)
        try transaction.commit()
        return store
    }

    private static func change(_ transaction: WriteTransaction) throws {
        let key = transaction.nextKey(CheckedStore.wide)
        let text = UnsafeRawBufferPointer(start: nil, count: 0)
        try [Cell.integer(key.rawValue), .integer(1), .bytes(text), .double(0)].withUnsafeBufferPointer {
            try transaction.insert(CheckedStore.wide, key: key, $0)
        }
    }

    /// Commits and pins until only `free` further versions can be pinned; the newest one is pinned.
    private static func fill(_ writer: Store, _ reader: Store, free: Int) throws -> [Snapshot] {
        var kept = [try reader.snapshot()]
        while kept.count < most - free {
            let transaction = try writer.beginWrite()
            try change(transaction)
            try transaction.commit()
            kept.append(try reader.snapshot())
        }
        #expect(Set(kept.map(\.version)).count == most - free)
        return kept
    }

    private static func isRefused(_ body: () throws(StorageError) -> Void) -> Bool {
        do throws(StorageError) { try body() } catch { return error == .limit(.pins) }
        return false
    }

    @Test("a transaction's version can be pinned by its reserved pin, however many others are pinned")
    func reservedPin() throws {
        let store = try make()
        var kept = try Self.fill(store, store, free: 1)
        let last = try store.beginWrite()
        try last.resultPin.reserve()
        try last.resultPin.reserve()
        try Self.change(last)
        let version = try last.commit()
        #expect(Self.isRefused { () throws(StorageError) in _ = try store.snapshot() }, "the one that is left is kept")
        let seen = try last.resultPin.newestSnapshot()
        #expect(seen.version == version)

        let refused = try store.beginWrite()
        #expect(Self.isRefused { () throws(StorageError) in try refused.resultPin.reserve() })
        refused.rollback()
        kept.removeFirst()
        let next = try store.beginWrite()
        try next.resultPin.reserve()
        try Self.change(next)
        let nextVersion = try next.commit()
        let newest = try next.resultPin.newestSnapshot()
        #expect(newest.version == nextVersion)
        withExtendedLifetime((kept, seen)) {}
    }

    @Test("a reserved pin is returned by a rollback, a failed commit and an end without either")
    func returnedPin() throws {
        let store = try make()
        let kept = try Self.fill(store, store, free: 1)
        for round in 0..<4 {
            let transaction = try store.beginWrite()
            try transaction.resultPin.reserve()
            switch round {
            case 0: transaction.rollback()
            case 1: try transaction.commit()
            case 2:
                // As if an operation had thrown after its first change: only a rollback is possible.
                transaction.isFailed = true
                #expect(throws: StorageError.misuse(.transactionFailed)) { try transaction.commit() }
            default: break
            }
        }
        let transaction = try store.beginWrite()
        try transaction.resultPin.reserve()
        try Self.change(transaction)
        let version = try transaction.commit()
        #expect(try transaction.resultPin.newestSnapshot().version == version)
        withExtendedLifetime(kept) {}
    }

    @Test("a commit without a wait uses its reserved pin, so it need not wait for others")
    func commitWithoutWait() throws {
        let store = try make(.full)
        let kept = try Self.fill(store, store, free: 1)
        let transaction = try store.beginWrite()
        try transaction.resultPin.reserve()
        try Self.change(transaction)
        let pending = try transaction.commitWithoutWaiting()
        #expect(pending.snapshot?.version == pending.version)
        let isKept = transaction.resultPin.isKept
        #expect(!isKept)
        try pending.wait()
        withExtendedLifetime(kept) {}
    }

    @Test("a reserved pin works for a guest as well")
    func pinOfAGuest() throws {
        let owner = try make()
        let guest = try open()
        var kept = try Self.fill(owner, guest, free: 1)
        let transaction = try guest.beginWrite()
        try transaction.resultPin.reserve()
        try Self.change(transaction)
        let version = try transaction.commit()
        #expect(Self.isRefused { () throws(StorageError) in _ = try guest.snapshot() })
        let seen = try transaction.resultPin.newestSnapshot()
        #expect(seen.version == version)
        // The owner's process slot has pins of its own, so the owner can still pin a version.
        _ = try owner.snapshot()
        let refused = try guest.beginWrite()
        #expect(Self.isRefused { () throws(StorageError) in try refused.resultPin.reserve() })
        refused.rollback()
        withExtendedLifetime(kept) {}
        kept.removeAll()
        try guest.close()
        try owner.close()
        withExtendedLifetime(seen) {}
    }
}
