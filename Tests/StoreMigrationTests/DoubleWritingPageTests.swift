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

        @Test("the page's way from the old store to the new one")
        func wholeWay() throws {
            let place = try MigrationPlace()
            let (path, url) = (place.path + "/users.sqlite", place.url("users.strata"))
            let outboxURL = place.url("users.outbox.strata")
            let file = try SQLiteFile(path, .create)
            try file.run("CREATE TABLE users (id TEXT PRIMARY KEY, name TEXT, followers INTEGER, changed REAL)")
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
            try writer.enter(.bothNewRead)
            try writer.enter(.new)
            #expect(try new.records([RecordID("User", "b")]).values.first?["changed"] == .date(0))

            try writer.enter(.bothNewRead)
            let outcome = try writer.write([
                .upsert(
                    Record(
                        RecordID("User", "a"), ["name": .text("Ann"), "followers": .integer(2), "changed": .date(0.5)])
                ),
                .delete(RecordID("User", "b")),
            ])
            if case .waiting(let side, let error) = outcome { print("the \(side) store waits:", error) }
            #expect(outcome.isDone)

            for divergence in try reconciler.divergences() { print(divergence.id, divergence.fields) }
            let report = try reconciler.mend(.newerWins(by: "changed", tie: .old, deletion: .deletionWins))
            print(report.found, report.mended, report.left, report.seconds)
            #expect(report.found == 0 && report.recordsInOld == 1)

            var lastToken: ChangeToken?
            let (token, knowsDeletions) = try reconciler.refresh(changesOfOldSince: lastToken)
            // Only comparing all keys finds what went.
            if !knowsDeletions { try reconciler.read() }
            lastToken = token
            #expect(lastToken == token)

            try writer.close()
            try writer.compact()
            try writer.reopen()
            #expect(writer.phase == .bothNewRead)
            #expect(try writer.records([RecordID("User", "a")]).count == 1)
        }

        @Test("the page's store of Core Data")
        func coreData() throws {
            let place = try MigrationPlace()
            let (path, url) = (place.path + "/notes.sqlite", place.url("notes.strata"))
            try CoreDataStore.makeEmpty(
                path, [RecordModel("Note", key: "coreDataKey", hasIntegerKey: true, [RecordField("title", .text)])])

            try CoreDataStore.importStore(path, to: url.path)
            let old = try CoreDataStore(path)
            let new = try StrataStore(
                Realm.Configuration(fileURL: url, objectTypes: []), models: old.models)
            let key = try old.nextKey(of: "Note")
            #expect(key == 1 && new.models.map(\.name) == ["Note"])
        }

        @Test("each block of the page stands in this file, line by line")
        func blocks() throws {
            func lines(_ text: String) -> [Substring] {
                text.split(separator: "\n").map { $0.drop(while: \.isWhitespace) }.filter { !$0.isEmpty }
            }
            let file = URL(fileURLWithPath: #filePath)
            let root = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            let page = try String(contentsOf: root.appendingPathComponent("docs/double-writing.md"), encoding: .utf8)
            let compiled = lines(try String(contentsOf: file, encoding: .utf8))
            let parts = page.components(separatedBy: "```swift\n").dropFirst()
            #expect(parts.count == 7)
            for part in parts {
                let code = lines(part.components(separatedBy: "\n```")[0])
                let isThere = compiled.indices.contains { compiled[$0...].starts(with: code) }
                #expect(isThere, "\(code.first ?? "")")
            }
        }
    }
#endif
