import CoreDataFiles
import Foundation
import StoreMigration
import Strata
import Testing

#if SQLite
    /// The code of docs/double-writing.md.
    @Suite struct DoubleWritingPageTests {
        final class User: Object {
            @Persisted(primaryKey: true) var id = ""
            @Persisted var name = ""
            @Persisted var followers = 0
            @Persisted var changed = Date()
        }

        @Test func `the page's way from the old store to the new one`() throws {
            let place = try MigrationPlace()
            let (path, url) = (place.path + "/users.sqlite", place.url("users.strata"))
            let outboxURL = place.url("users.outbox.strata")
            let file = try SQLiteFile(path, .create)
            try file.run(
                "CREATE TABLE users (id TEXT PRIMARY KEY, name TEXT, followers INTEGER, changed REAL)")
            try file.run("INSERT INTO users VALUES ('b', 'Ben', 1, 978307200)")
            file.close()

            let users = RecordModel(
                "User", key: "id",
                [RecordField("name", .text), RecordField("followers", .integer), RecordField("changed", .date)])
            let old = try SQLiteTableStore(path, [SQLiteTable(users, table: "users", keyColumn: "id")])
            let new = try StrataStore(
                Realm.Configuration(fileURL: url, objectTypes: [User.self]), models: [users])
            let writer = try DoubleWriter(old: old, new: new, outbox: outboxURL, order: .oldFirst)

            try writer.enter(.bothOldRead)
            let reconciler = try Reconciler(writer)
            _ = try reconciler.mend(.oldWins)
            #expect(try new.records([RecordID("User", "b")]).count == 1)

            let outcome = try writer.write([
                .upsert(
                    Record(
                        RecordID("User", "a"), ["name": .text("Ann"), "followers": .integer(2), "changed": .date(0)])),
                .delete(RecordID("User", "b")),
            ])
            if case .waiting(let side, let error) = outcome { print("the \(side) store waits:", error) }
            #expect(outcome.isDone)

            for divergence in try reconciler.divergences() { print(divergence.id, divergence.fields) }
            let report = try reconciler.mend(.newerWins(by: "changed", tie: .old, deletion: .deletionWins))
            #expect(report.found == 0)
            let (_, knowsDeletions) = try reconciler.refresh(changesOfOldSince: nil)
            if !knowsDeletions { try reconciler.read() }

            try writer.enter(.bothNewRead)
            try writer.enter(.new)
            try writer.close()
            try writer.compact()
            try writer.reopen()
            #expect(writer.phase == .new)
            #expect(try writer.records([RecordID("User", "a")]).count == 1)
            try writer.retire()
        }
    }
#endif
