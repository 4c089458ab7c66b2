import CoreDataFiles
import Foundation
import StoreMigration
import Strata
import Testing

#if SQLite
    /// A store of Core Data and the file of its import, as the two sides of a migration.
    @Suite struct ImportedStoreTests {
        let place: MigrationPlace
        var path: String { place.path + "/old.sqlite" }
        var imported: String { place.path + "/imported.strata" }

        private static var model: CoreDataModel {
            func attributes(_ list: [(String, CoreDataType)]) -> [CoreDataAttribute] {
                list.map { CoreDataAttribute($0.0, $0.1, origin: .mapping) }
            }
            func link(_ name: String, _ target: String, _ inverse: String, isToMany: Bool) -> CoreDataRelationship {
                CoreDataRelationship(name, to: target, inverse: inverse, isToMany: isToMany, origin: .mapping)
            }
            var box = CoreDataEntity(name: "Box")
            box.attributes = attributes([("name", .string), ("size", .double), ("isOpen", .boolean)])
            box.relationships = [link("notes", "Note", "box", isToMany: true)]
            var note = CoreDataEntity(name: "Note")
            note.attributes = attributes([
                ("title", .string), ("created", .date), ("identifier", .uuid), ("ratio", .float), ("body", .data),
                ("rank", .integer64), ("link", .uri),
            ])
            note.relationships = [
                link("box", "Box", "notes", isToMany: false), link("replies", "Note", "answered", isToMany: true),
                link("answered", "Note", "replies", isToMany: false), link("tags", "Tag", "notes", isToMany: true),
            ]
            var memo = CoreDataEntity(name: "Memo", superName: "Note")
            memo.attributes = attributes([("due", .date)])
            var tag = CoreDataEntity(name: "Tag")
            tag.attributes = attributes([("name", .string)])
            tag.relationships = [link("notes", "Note", "tags", isToMany: true)]
            return CoreDataModel(entities: [box, note, memo, tag], origin: .mapping)
        }

        /// Two boxes, 40 notes of two entities with every kind of value, and four tags.
        init() throws {
            place = try MigrationPlace()
            let maker = try StoreMaker(path, Self.model, hasHistory: true)
            try maker.insert("Box", [("ZNAME", .text("é")), ("ZSIZE", .real(1e300)), ("ZISOPEN", .integer(1))])
            try maker.insert("Box", [("ZNAME", .null), ("ZSIZE", .integer(0)), ("ZISOPEN", .null)])
            for name in ["", "a", "b", "c"] { try maker.insert("Tag", [("ZNAME", .text(name))]) }
            for key in 1...40 {
                let isMemo = key % 3 == 0
                let above = Int64(key / 2)
                // Its parent's entity, which a polymorphic link names.
                let entity = maker.numbers[above % 3 == 0 ? "Memo" : "Note"] ?? 0
                let target = above == 0 ? StoreMaker.Value.null : .integer(above)
                try maker.insert(
                    isMemo ? "Memo" : "Note",
                    [
                        ("ZTITLE", key % 5 == 0 ? .null : .text(key % 7 == 0 ? "" : "n\(key)")),
                        ("ZCREATED", key % 2 == 0 ? .integer(Int64(key)) : .real(Double(-key) / 7)),
                        ("ZIDENTIFIER", .data(Array(0..<15) + [UInt8(key)])), ("ZRATIO", .real(0.5)),
                        ("ZBODY", key % 4 == 0 ? .data([]) : .data([0, UInt8(key)])),
                        ("ZRANK", key % 6 == 0 ? .null : .integer(Int64(key) - 3)), ("ZLINK", .text("x:\(key)")),
                        ("ZBOX", .integer(Int64(key % 2 + 1))), ("ZANSWERED", target),
                        ("Z\(maker.numbers["Note"] ?? 0)_ANSWERED", above == 0 ? .null : .integer(entity)),
                    ])
            }
            let note = maker.numbers["Note"] ?? 0
            let tag = maker.numbers["Tag"] ?? 0
            for key in 1...40 where key % 3 > 0 {
                for number in 1...(key % 3) {
                    try maker.file.run(
                        "INSERT INTO Z_\(note)TAGS (Z_\(note)NOTES, Z_\(tag)TAGS) VALUES (\(key), \(number))")
                }
            }
            try maker.finish()
            _ = try CoreDataImport(path, to: imported).run()
        }

        private func writer() throws -> DoubleWriter {
            let old = try CoreDataStore(path)
            let configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: imported), objectTypes: [])
            let new = try StrataStore(configuration, models: old.models)
            let writer = try place.writer(old, new)
            try writer.enter(.bothOldRead)
            return writer
        }

        @Test("the import's classes fit the adapter's models: no value differs")
        func equal() throws {
            let writer = try writer()
            let reconciler = try Reconciler(writer)
            #expect(try reconciler.divergences().map(\.id) == [])
            let report = try reconciler.mend(.ask { _ in .leave })
            #expect(report.recordsInOld == 46 && report.recordsInNew == 46)
            let names = Set(writer.old.models.flatMap { model in model.fields.map { "\(model.name).\($0.name)" } })
            let all = [
                "Box.name", "Box.size", "Box.isOpen", "Note.title", "Note.created", "Note.identifier", "Note.ratio",
                "Note.body", "Note.rank", "Note.link", "Note.due", "Note.box", "Note.answered", "Note.tags",
                "Note.coreDataEntity", "Tag.name",
            ]
            #expect(names == Set(all))
        }

        @Test(
            "each kind of difference is found",
            arguments: [
                "UPDATE ZNOTE SET ZRANK = 0 WHERE Z_PK = 6", "UPDATE ZNOTE SET ZTITLE = '' WHERE Z_PK = 6",
                "UPDATE ZNOTE SET ZTITLE = NULL WHERE Z_PK = 6", "UPDATE ZNOTE SET ZBODY = x'' WHERE Z_PK = 6",
                "UPDATE ZNOTE SET ZBODY = NULL WHERE Z_PK = 6", "UPDATE ZNOTE SET ZBOX = NULL WHERE Z_PK = 6",
                "UPDATE ZNOTE SET ZANSWERED = 5 WHERE Z_PK = 6", "UPDATE ZNOTE SET ZRATIO = 0.25 WHERE Z_PK = 6",
                "UPDATE ZNOTE SET ZCREATED = 6.0000000001 WHERE Z_PK = 6", "DELETE FROM ZNOTE WHERE Z_PK = 6",
                "INSERT INTO Z_2TAGS VALUES (6, 4)", "UPDATE ZNOTE SET ZDUE = 0 WHERE Z_PK = 6",
            ])
        func different(change: String) throws {
            let file = try SQLiteFile(path, .write)
            try file.run(change)
            file.close()
            let reconciler = try Reconciler(writer())
            #expect(try reconciler.divergences().map(\.id) == [RecordID("Note", 6)])
            #expect(try reconciler.mend(.newWins).mended == 1)
            try reconciler.read()
            #expect(try reconciler.divergences().isEmpty)
        }

        @Test(
            "a store open in this process is not imported, and keeps its locks",
            .enabled(if: Worker.isPossible, "not under a sanitizer"))
        func locks() throws {
            let old = try CoreDataStore(path)
            // Under a lock, like every transaction.
            let file = try SQLiteFile(path, .write)
            try file.run("BEGIN IMMEDIATE")
            let error = #expect(throws: CoreDataError.self) {
                try CoreDataStore.importStore(path, to: place.path + "/second.strata")
            }
            #expect(error?.kind == .inUse)
            #expect(try isLocked(), "another process cannot write")
            try file.run("ROLLBACK")
            #expect(try !isLocked())
            file.close()
            #expect(try old.records([RecordID("Box", 1)]).count == 1)
            try old.close()
            #expect(try CoreDataStore.importStore(path, to: place.path + "/second.strata").rows == 46)
        }

        /// Whether another process fails to lock the store, since a process cannot query its own locks.
        private func isLocked() throws -> Bool {
            try Worker.run([place.path, "lock"], fault: nil, mistake: nil, root: place.path).text.contains("error")
        }

        @Test("of many rows none is skipped or read twice, and exactly the differing ones are found")
        func manyRows() throws {
            let file = try SQLiteFile(path, .write)
            try file.run(
                """
                WITH RECURSIVE n(k) AS (SELECT 5 UNION ALL SELECT k + 1 FROM n WHERE k < 17000)
                INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT k, 4, 1, 'tag ' || k FROM n
                """)
            file.close()
            try FileManager.default.removeItem(atPath: imported)
            try CoreDataStore.importStore(path, to: imported)
            let writer = try writer()
            var keys: [Int64: Int] = [:]
            let tag = try #require(writer.old.models.first { $0.name == "Tag" })
            for store in [writer.old, writer.new] {
                try store.scan(tag) { key, values in
                    guard case .integer(let key) = key else { return }
                    #expect(key < 5 || values == [.text("tag \(key)")])
                    keys[key, default: 0] += 1
                }
            }
            #expect(keys.count == 17_000 && keys.values.allSatisfy { $0 == 2 })
            // On both sides of a chunk's end, and the last one.
            let different = [8_191, 8_192, 8_193, 16_384, 16_385, 17_000].map { RecordID("Tag", $0) }
            try writer.new.apply(different.map { .upsert(Record($0, ["name": .text("")])) })
            let report = try Reconciler(writer).mend(.oldWins)
            #expect(report.divergences == different && report.mended == 6)
            #expect(report.recordsInOld == 17_042 && report.recordsInNew == 17_042)
        }

        @Test("writes reach both sides, which do not differ; a new import of the written store is equal")
        func written() throws {
            let writer = try writer()
            try writer.write([
                .upsert(
                    Record(
                        RecordID("Note", 41),
                        [
                            "coreDataEntity": .text("Memo"), "title": .text("new"), "due": .date(0.1),
                            "answered": .link(.integer(3)), "tags": .links([.integer(4), .integer(1)]),
                        ])),
                .upsert(Record(RecordID("Note", 3), ["rank": .null, "box": .null, "ratio": .real(0.1)])),
                .delete(RecordID("Note", 2)), .delete(RecordID("Box", 1)),
            ])
            for change: RecordChange in [
                .upsert(Record(RecordID("Note", 0), [:])),
                .upsert(Record(RecordID("Note", 42), ["coreDataEntity": .text("Box")])),
                .upsert(Record(RecordID("Note", 3), ["tags": .links([.integer(1), .integer(1)])])),
            ] {
                let error = #expect(throws: MigrationError.self) { try writer.write([change]) }
                #expect(error?.code == .invalidChange)
            }
            #expect(writer.waitingCount == 0)
            #expect(try Reconciler(writer).divergences().map(\.id) == [])
            try writer.close()
            let again = place.path + "/again.strata"
            _ = try CoreDataImport(path, to: again).run()
            let old = try CoreDataStore(path)
            let configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: again), objectTypes: [])
            let fresh = try StrataStore(configuration, models: old.models)
            let compared = try DoubleWriter(old: old, new: fresh, outbox: place.url("again.outbox.strata"))
            #expect(try Reconciler(compared).divergences().map(\.id) == [])
        }
    }
#endif
