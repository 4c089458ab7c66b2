import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

@Suite struct VersionChangesTests {
    @Test(
        "the difference of two versions equals that of a full comparison", arguments: Array(UInt64(1)...8),
        [
            true, false,
        ])
    func differences(seed: UInt64, tiny: Bool) throws {
        var history = try FilterHistory(seed: seed, tiny: tiny)
        var versions = [(snapshot: try history.store.snapshot(), rows: history.rows)]
        for round in 0..<12 {
            try history.change(round % 4 == 0 ? (tiny ? 60 : 2000) : 3)
            versions.append((try history.store.snapshot(), history.rows))
        }
        for _ in 0..<24 {
            let first = Int(history.random.below(UInt64(versions.count)))
            let second = first + Int(history.random.below(UInt64(versions.count - first)))
            let (old, new) = (versions[first], versions[second])
            let changes = try new.snapshot.view.changes(of: TableID(1), since: old.snapshot.view)
            let comment: Comment = "seed \(seed), \(first) to \(second): swift test --filter VersionChangesTests"
            #expect(changes.isComplete, comment)
            try check(changes, old, new, comment)
        }
    }

    private func check(
        _ changes: TableChanges, _ old: (snapshot: Snapshot, rows: [Int64: [Value]]),
        _ new: (snapshot: Snapshot, rows: [Int64: [Value]]), _ comment: Comment
    ) throws {
        var deleted: Set<Int64> = []
        var inserted: Set<Int64> = []
        var modified: Set<[Int64]> = []
        for key in Set(old.rows.keys).union(new.rows.keys) {
            guard let before = try old.snapshot.view.locate(0, RowKey(key)) else {
                inserted.insert(key)
                continue
            }
            guard let after = try new.snapshot.view.locate(0, RowKey(key)) else {
                deleted.insert(key)
                continue
            }
            if try old.snapshot.view.creationVersion(before) != new.snapshot.view.creationVersion(after) {
                deleted.insert(key)
                inserted.insert(key)
                continue
            }
            guard let a = old.rows[key], let b = new.rows[key] else { continue }
            for column in a.indices where a[column] != b[column] { modified.insert([key, Int64(column + 1)]) }
        }
        #expect(changes.deleted == deleted.sorted(), comment)
        #expect(changes.inserted.flatMap { Array($0) } == inserted.sorted(), comment)
        #expect(Set(changes.modified.map { [$0.key, Int64($0.column)] }) == modified, comment)
        #expect(changes.modified.count == modified.count, comment)
    }

    @Test("a table missing in one version was inserted or deleted as a whole")
    func missingTable() throws {
        let history = try FilterHistory(seed: 1, tiny: true)
        let full = try history.store.snapshot().view
        let transaction = try history.store.beginWrite()
        try transaction.apply(schema: StoreSchema(userVersion: 9, tables: []))
        try transaction.commit()
        let empty = try history.store.snapshot().view
        #expect(try empty.changes(of: TableID(1), since: full).deleted == full.keys(0))
        #expect(try full.changes(of: TableID(1), since: empty).inserted.flatMap { Array($0) } == full.keys(0))
    }
    /// A migration of 100 000 rows once listed 300 000 changes for observers that could not exist yet.
    @Test("a transaction that began before the first observer names its tables, later ones their rows")
    func firstObserver() throws {
        let history = try FilterHistory(seed: 1, tiny: true)
        let store = history.store
        let heard = Mutex<[CommitNotice]>([])
        let early = try store.beginWrite()
        let token = store.addObserver { notice in heard.withLock { $0.append(notice) } }
        for _ in 0..<2 {
            let transaction = heard.withLock(\.isEmpty) ? early : try store.beginWrite()
            for ordinal in 0..<3 {
                let key = try #require(try transaction.view.key(at: ordinal, in: 0))
                try transaction.delete(0, key)
            }
            try transaction.commit()
        }
        token.cancel()
        let told = heard.withLock { $0 }
        #expect(told.map(\.changes.count) == [1, 1])
        #expect(told.map { $0.changes[0].isComplete } == [false, true])
        #expect(told.map { $0.changes[0].deleted.count } == [0, 3])
    }
}
