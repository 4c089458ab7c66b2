import CoreDataFiles
import Foundation
import StoreMigration
import Testing

#if SQLite
    @Suite struct CoreDataStoreTests {
        let place: MigrationPlace
        var path: String { place.path + "/old.sqlite" }

        static let models = [
            RecordModel(
                "Note", key: "coreDataKey", hasIntegerKey: true,
                [
                    RecordField("title", .text), RecordField("stars", .integer, isOptional: true),
                    RecordField("created", .date, isOptional: true), RecordField("parentNote", .link(to: "Note")),
                    RecordField("tags", .links(to: "Tag", isOrdered: false)),
                ]),
            RecordModel("Tag", key: "coreDataKey", hasIntegerKey: true, [RecordField("name", .text)]),
        ]

        /// Notes 1 and 2, the second linked to the first, and a tag of the first.
        init() throws {
            place = try MigrationPlace()
            try CoreDataStore.makeEmpty(path, Self.models, keepsHistory: true)
            let store = try CoreDataStore(path)
            try store.apply([
                .upsert(
                    Record(
                        RecordID("Note", 1),
                        ["title": .text("a"), "stars": .integer(5), "tags": .links([.integer(1)])])),
                .upsert(Record(RecordID("Note", 2), ["title": .text("b"), "parentNote": .link(.integer(1))])),
                .upsert(Record(RecordID("Tag", 1), ["name": .text("t")])),
            ])
            try store.close()
        }

        private func integer(_ sql: String) throws -> Int64? {
            let file = try SQLiteFile(path, .read)
            defer { file.close() }
            return try file.integer(sql)
        }

        @Test("an insert, an update and a deletion have the effects of a save: Z_OPT, Z_MAX, joins, history")
        func save() throws {
            let store = try CoreDataStore(path)
            let fields = { (model: RecordModel) in Set(model.fields) }
            #expect(store.models.map(\.name) == Self.models.map(\.name))
            #expect(store.models.map(fields) == Self.models.map(fields))
            #expect(try store.nextKey(of: "Note") == 3)
            let token = try store.changes(since: nil).token
            #expect(token == ChangeToken(1))
            try store.apply([
                .upsert(
                    Record(
                        RecordID("Note", 3),
                        ["title": .text("c"), "tags": .links([.integer(1)]), "parentNote": .link(.integer(2))])),
                .upsert(Record(RecordID("Note", 2), ["title": .text("B")])), .delete(RecordID("Note", 1)),
            ])
            #expect(try integer("SELECT Z_OPT FROM ZNOTE WHERE Z_PK = 3") == 1)
            // Its parent was deleted as well: one save counts once.
            #expect(try integer("SELECT Z_OPT FROM ZNOTE WHERE Z_PK = 2 AND ZPARENTNOTE IS NULL") == 2)
            #expect(try integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 1") == 3)
            #expect(try integer("SELECT count(*) FROM Z_1TAGS") == 1)
            #expect(try integer("SELECT Z_1TAGSOFNOTE FROM Z_1TAGS") == 3)
            #expect(try integer("SELECT count(*) FROM ATRANSACTION") == 2)
            #expect(try integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'CHANGE'") == 6)
            for (key, type) in [(3, 0), (2, 1), (1, 2)] {
                let sql = "SELECT ZCHANGETYPE FROM ACHANGE WHERE ZTRANSACTIONID = 2 AND ZENTITY = 1 AND ZENTITYPK = "
                #expect(try integer(sql + "\(key)") == Int64(type))
            }
            let found = try store.records([RecordID("Note", 3)])[RecordID("Note", 3)]
            #expect(found?["tags"] == .links([.integer(1)]) && found?["parentNote"] == .link(.integer(2)))
            let changes = try store.changes(since: token)
            #expect(changes.knowsDeletions && changes.deleted == [RecordID("Note", 1)])
            #expect(changes.changed == [RecordID("Note", 2), RecordID("Note", 3)])
        }

        @Test("a failed batch changes nothing, and a dangling link is refused")
        func atomic() throws {
            let store = try CoreDataStore(path)
            let error = #expect(throws: MigrationError.self) {
                try store.apply([
                    .upsert(Record(RecordID("Note", 1), ["title": .text("x")])),
                    .upsert(Record(RecordID("Note", 2), ["parentNote": .link(.integer(77))])),
                ])
            }
            #expect(error?.code == .invalidChange)
            #expect(try integer("SELECT Z_OPT FROM ZNOTE WHERE Z_PK = 1") == 1)
            #expect(try integer("SELECT count(*) FROM ATRANSACTION") == 1)
        }

        @Test("an unknown shape is refused, and unchanged")
        func unknownShape() throws {
            let file = try SQLiteFile(path, .write)
            try file.run("CREATE TRIGGER t AFTER INSERT ON ZTAG BEGIN DELETE FROM ZNOTE; END")
            file.close()
            let error = #expect(throws: MigrationError.self) { try CoreDataStore(path) }
            #expect(error?.code == .unknownShape)
        }

        @Test("a scan and a lookup by ids agree, links and many-to-many included")
        func reading() throws {
            let store = try CoreDataStore(path)
            for model in store.models {
                var count = 0
                try store.scan(model) { key, values in
                    let record = try #require(try store.records([RecordID(model.name, key)]).values.first)
                    #expect(model.fields.map { record[$0.name] } == values)
                    count += 1
                }
                #expect(count == (model.name == "Note" ? 2 : 1))
            }
        }

        /// Reads and writes copies of real stores, which are not part of the project, if they are given.
        @Test("real stores: writing a row back unchanged changes only its counters", arguments: RealStores.paths)
        func realStore(real: String) throws {
            let copy = place.path + "/real.sqlite"
            for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: real + suffix) {
                try FileManager.default.copyItem(atPath: real + suffix, toPath: copy + suffix)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy + suffix)
            }
            let store: CoreDataStore
            do { store = try CoreDataStore(copy) } catch let error as MigrationError {
                // Refused by name, and unchanged.
                #expect(error.code == .unknownShape, "\(error)")
                print("\(real): \(error)")
                return
            }
            for model in store.models {
                var sample: [RecordID] = []
                try store.scan(model) { key, _ in if sample.count < 20 { sample.append(RecordID(model.name, key)) } }
                let before = try store.records(sample)
                try store.apply(before.values.map { .upsert($0) })
                #expect(try store.records(sample) == before)
            }
        }
    }

    enum RealStores {
        /// The stores in the folder that the environment names.
        static let paths: [String] = {
            guard let folder = ProcessInfo.processInfo.environment["CORE_DATA_STORES"] else {
                print("skipped: CORE_DATA_STORES names no folder of stores")
                return []
            }
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") }.sorted().map { folder + "/" + $0 }
        }()
    }
#endif
