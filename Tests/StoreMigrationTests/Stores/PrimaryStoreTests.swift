import CoreDataFiles
import Foundation
import StoreMigration
import Strata
import Testing

#if SQLite
    /// `SQLiteTableStore` and `StrataStore`.
    @Suite struct PrimaryStoreTests {
        let place: MigrationPlace

        init() throws { place = try MigrationPlace() }

        private func stores() throws -> [any PrimaryStore] { [try place.sqlite(), try place.strata()] }

        @Test("writes are read back, by ids and by a scan, for every kind of value")
        func roundTrip() throws {
            let values: [String: FieldValue] = [
                "name": .text("é\u{0}ü"), "age": .integer(.min), "born": .date(-0.1), "score": .real(1e300),
                "isActive": .integer(0), "photo": .data(Data([0, 255])), "friend": .link(.integer(2)),
            ]
            for store in try stores() {
                try store.apply([.upsert(Record(id(1), values)), .upsert(person(2, ""))])
                let found = try store.records([id(1), id(2), id(3)])
                #expect(found == [id(1): Record(id(1), values), id(2): person(2, "")], "\(type(of: store))")
                var scanned: [RecordID: Record] = [:]
                try store.scan(MigrationPlace.model) { key, values in
                    let names = MigrationPlace.model.fields.map(\.name)
                    let id = RecordID("MigratedPerson", key)
                    scanned[id] = Record(id, Dictionary(uniqueKeysWithValues: zip(names, values)))
                }
                #expect(scanned == found, "\(type(of: store))")
            }
        }

        @Test("fields that a change does not name stay; a new record has zeros; a link to a deleted record is null")
        func partial() throws {
            for store in try stores() {
                try store.apply([.upsert(person(1, "a", age: 7)), .upsert(person(2, "b", friend: 1))])
                try store.apply([.upsert(Record(id(1), ["name": .text("c")])), .upsert(Record(id(3), [:]))])
                try store.apply([.delete(id(1)), .delete(id(99))])
                try store.apply([.delete(id(1))])
                let found = try store.records([id(1), id(2), id(3)])
                #expect(found[id(1)] == nil)
                #expect(found[id(2)]?["friend"] == .null)
                #expect(found[id(3)]?["name"] == .text("") && found[id(3)]?["isActive"] == .integer(0))
                #expect(found[id(3)]?["age"] == .null && found[id(3)]?["photo"] == .null)
            }
        }

        @Test("a failed batch changes nothing")
        func atomic() throws {
            for store in try stores() {
                try store.apply([.upsert(person(1, "a"))])
                #expect(throws: (any Error).self) {
                    try store.apply([.upsert(person(1, "b")), .upsert(Record(id(2), ["name": .null]))])
                }
                #expect(try store.records([id(1), id(2)]) == [id(1): person(1, "a")])
            }
        }

        @Test("a closed store refuses use, can be compacted, and is complete when reopened")
        func closed() throws {
            for store in try stores() {
                try store.apply((1...50).map { .upsert(person($0, String(repeating: "x", count: 4_000))) })
                try store.apply((2...50).map { .delete(id($0)) })
                #expect(throws: (any Error).self) { try store.compact() }
                try store.close()
                try store.close()
                #expect(throws: (any Error).self) { try store.records([id(1)]) }
                try store.compact()
                try store.reopen()
                #expect(try store.records([id(1), id(2)]).count == 1)
            }
        }

        @Test("changes since a moment are found by the column that counts saves")
        func changesSince() throws {
            let store = try place.sqlite()
            try store.apply([.upsert(person(1, "a")), .upsert(person(2, "b"))])
            let first = try store.changes(since: nil)
            #expect(first.changed.sorted() == [id(1), id(2)])
            try store.apply([.upsert(person(2, "c"))])
            let next = try store.changes(since: first.token)
            #expect(next.changed == [id(2)] && !next.knowsDeletions)
        }

        @Test("a model that does not fit is refused, and the error names the property")
        func misfit() throws {
            _ = try place.sqlite()
            var model = MigrationPlace.model
            model.fields[0].kind = .integer
            let strata = #expect(throws: MigrationError.self) {
                try StrataStore(
                    Realm.Configuration(fileURL: place.url("x.strata"), objectTypes: [MigratedPerson.self]),
                    models: [model])
            }
            #expect(strata?.code == .invalidModel && strata?.message.contains("name") == true)
            let sqlite = #expect(throws: MigrationError.self) {
                try SQLiteTableStore(
                    place.path + "/old.sqlite", [SQLiteTable(MigrationPlace.model, table: "person", keyColumn: "id")])
            }
            #expect(sqlite?.message.contains("isActive") == true)
        }

        @Test("a scan of many rows gives each once, by integer keys and by texts", arguments: [true, false])
        func manyRows(isInteger: Bool) throws {
            let path = place.path + "/many.sqlite"
            let file = try SQLiteFile(path, .create)
            try file.run("CREATE TABLE t (id \(isInteger ? "INTEGER" : "TEXT") PRIMARY KEY)")
            try file.run(
                """
                WITH RECURSIVE n(k) AS (SELECT -8500 UNION ALL SELECT k + 1 FROM n WHERE k < 8499)
                INSERT INTO t SELECT k FROM n
                """)
            file.close()
            let model = RecordModel("T", key: "id", hasIntegerKey: isInteger, [])
            var keys: [RecordKey] = []
            let store = try SQLiteTableStore(path, [SQLiteTable(model, table: "t", keyColumn: "id")])
            try store.scan(model) { key, _ in keys.append(key) }
            #expect(keys.count == 17_000 && Set(keys).count == 17_000 && keys == keys.sorted())
        }

        @Test("a value that a column keeps less precisely is reduced in both stores", arguments: WriteOrder.allCases)
        func asKept(order: WriteOrder) throws {
            let (old, new) = (try place.sqlite(dateOrigin: 0), try place.strata())
            let writer = try place.writer(old, new, order)
            try writer.enter(.bothOldRead)
            try writer.write([
                .upsert(Record(id(1), ["born": .date(0.1), "score": .real(-0.0)])),
                .upsert(Record(id(2), ["born": .date(-0.0), "score": .real(.infinity)])),
            ])
            let reconciler = try Reconciler(writer)
            #expect(try reconciler.divergences().isEmpty)
            let found = try old.records([id(1), id(2)])
            #expect(try found == new.records([id(1), id(2)]))
            #expect(found[id(1)]?["score"] == .real(0) && found[id(2)]?["born"] == .date(0))
            // The record is written by a program that bypasses the `DoubleWriter`.
            try new.apply([.upsert(Record(id(3), ["born": .date(0.3), "score": .real(-0.0)]))])
            try reconciler.refresh([id(3)])
            #expect(try reconciler.mend(.newWins).left == 0)
            #expect(try old.records([id(3)]) == new.records([id(3)]))
        }

        @Test("a dangling link is refused by both stores, and nothing waits", arguments: WriteOrder.allCases)
        func linkToNothing(order: WriteOrder) throws {
            let (old, new) = (try place.sqlite(), try place.strata())
            let writer = try place.writer(old, new, order)
            try writer.enter(.bothOldRead)
            let error = #expect(throws: MigrationError.self) { try writer.write([.upsert(person(1, "a", friend: 9))]) }
            #expect(error?.code == .writeRefused && writer.waitingCount == 0)
            // Deleted and inserted again in a batch: both stores have the link.
            try writer.write([.upsert(person(2, "b"))])
            try writer.write([.upsert(person(1, "a", friend: 2)), .delete(id(2)), .upsert(person(2, "again"))])
            #expect(try old.records([id(1), id(2)]) == new.records([id(1), id(2)]))
            #expect(try new.records([id(1)])[id(1)]?["friend"] == .link(.integer(2)))
        }

        @Test("the way back copies records with links to later ones")
        func wayBack() throws {
            let (old, new) = (try place.sqlite(), try place.strata())
            let writer = try place.writer(old, new)
            for phase in MigrationPhase.allCases.dropFirst() { try writer.enter(phase, unchecked: true) }
            let circle = (1...1_200).map { RecordChange.upsert(person($0, "p", friend: Int64($0 % 1_200 + 1))) }
            try writer.write(circle)
            try writer.write([.delete(id(7))])
            try writer.enter(.bothNewRead)
            #expect(try Reconciler(writer).divergences().isEmpty)
            #expect(try old.records([id(1), id(6), id(7)]).values.map { $0["friend"] }.count == 2)
        }

        @Test("both real stores, written twice and compared: equal, and a foreign change is found and mended")
        func bothReal() throws {
            let (old, new) = (try place.sqlite(), try place.strata())
            let writer = try place.writer(old, new)
            // The old store is ahead, with forward and cyclic links.
            let circle = (1...1_200).map { key in
                RecordChange.upsert(person(key, "p\(key)", age: Int64(key), friend: Int64(key % 1_200 + 1)))
            }
            try writer.write(circle)
            try writer.enter(.bothOldRead)
            let reconciler = try Reconciler(writer)
            #expect(try reconciler.mend(.oldWins).found == 1_200)
            #expect(try reconciler.divergences().isEmpty)
            try writer.write([.upsert(Record(id(5), ["age": .null])), .delete(id(6)), .upsert(person(2_000, "z"))])
            #expect(try reconciler.divergences().isEmpty)
            let token = try old.changes(since: nil).token
            try old.apply([.upsert(Record(id(7), ["name": .text("foreign")]))])
            try reconciler.refresh(changesOfOldSince: token)
            #expect(try reconciler.mend(.oldWins).divergences == [id(7)])
            #expect(try new.records([id(7)])[id(7)]?["name"] == .text("foreign"))
            try reconciler.read()
            #expect(try reconciler.divergences().isEmpty)
        }
    }
#endif
