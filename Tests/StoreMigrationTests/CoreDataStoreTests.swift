import CoreDataFiles
import Foundation
import StoreMigration
import Testing

#if SQLite
    /// Stores of the shape that Core Data gives its files: made here by SQL, a hierarchy of two entities, a to-one with
    /// an entity column, a many-to-many, history.
    @Suite("CoreDataStore")
    struct CoreDataStoreTests {
        let place: MigrationPlace
        var path: String { place.path + "/old.sqlite" }

        init() throws {
            place = try MigrationPlace()
            let file = try SQLiteFile(path, .create)
            defer { file.close() }
            for sql in [
                "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
                "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
                "INSERT INTO Z_METADATA VALUES (1, '9E3B6C3B-0000-4000-8000-000000000001', NULL)",
                """
                INSERT INTO Z_PRIMARYKEY VALUES (1, 'Note', 0, 2), (2, 'Tag', 0, 1), (16001, 'CHANGE', 0, 0), \
                (16002, 'TRANSACTION', 0, 0)
                """,
                """
                CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSTARS INTEGER, \
                ZPARENT INTEGER, ZCREATED TIMESTAMP, ZTITLE VARCHAR)
                """,
                "CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)",
                "CREATE TABLE Z_1TAGS (Z_1NOTES INTEGER, Z_2TAGS INTEGER, PRIMARY KEY (Z_1NOTES, Z_2TAGS))",
                """
                CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, \
                ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB)
                """,
                """
                CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, \
                ZAUTHOR VARCHAR)
                """,
                "INSERT INTO ZNOTE VALUES (1, 1, 1, 5, NULL, 10, 'a'), (2, 1, 3, NULL, 1, NULL, 'b')",
                "INSERT INTO ZTAG VALUES (1, 2, 1, 't')", "INSERT INTO Z_1TAGS VALUES (1, 1)",
            ] { try file.run(sql) }
        }

        private func integer(_ sql: String) throws -> Int64? {
            let file = try SQLiteFile(path, .read)
            defer { file.close() }
            return try file.integer(sql)
        }

        /// What the columns alone tell of names depends on the reading of layouts: found by kind.
        private func field(_ store: CoreDataStore, _ model: String, _ contains: String) throws -> String {
            let model = try #require(store.models.first { $0.name == model })
            return try #require(model.fields.first { $0.name.lowercased().contains(contains) }).name
        }

        @Test("an insert, an update and a deletion leave what a save would: Z_OPT, Z_MAX, joins, history")
        func save() throws {
            let store = try CoreDataStore(path)
            let (title, tags) = (try field(store, "Note", "title"), try field(store, "Note", "tags"))
            let parent = try field(store, "Note", "parent")
            #expect(try store.nextKey(of: "Note") == 3)
            try store.apply([
                .upsert(
                    Record(
                        RecordID("Note", 3),
                        [title: .text("c"), tags: .links([.integer(1)]), parent: .link(.integer(2))])),
                .upsert(Record(RecordID("Note", 2), [title: .text("B")])), .delete(RecordID("Note", 1)),
            ])
            #expect(try integer("SELECT Z_OPT FROM ZNOTE WHERE Z_PK = 3") == 1)
            // Its parent has gone as well: one save counts once.
            #expect(try integer("SELECT Z_OPT FROM ZNOTE WHERE Z_PK = 2 AND ZPARENT IS NULL") == 4)
            #expect(try integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 1") == 3)
            #expect(try integer("SELECT count(*) FROM Z_1TAGS") == 1)
            #expect(try integer("SELECT Z_1NOTES FROM Z_1TAGS") == 3)
            #expect(try integer("SELECT count(*) FROM ATRANSACTION") == 1)
            #expect(try integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001") == 3)
            for (key, type) in [(3, 0), (2, 1), (1, 2)] {
                #expect(
                    try integer("SELECT ZCHANGETYPE FROM ACHANGE WHERE ZENTITYPK = \(key) AND ZENTITY = 1") == Int64(type))
            }
            let found = try store.records([RecordID("Note", 3)])[RecordID("Note", 3)]
            #expect(found?[tags] == .links([.integer(1)]) && found?[parent] == .link(.integer(2)))
            let changes = try store.changes(since: ChangeToken(0))
            #expect(changes.knowsDeletions && changes.deleted == [RecordID("Note", 1)])
            #expect(changes.changed == [RecordID("Note", 2), RecordID("Note", 3)])
        }

        @Test("a batch that fails changes nothing, and a link that leads nowhere is refused")
        func atomic() throws {
            let store = try CoreDataStore(path)
            let (title, parent) = (try field(store, "Note", "title"), try field(store, "Note", "parent"))
            let error = #expect(throws: MigrationError.self) {
                try store.apply([
                    .upsert(Record(RecordID("Note", 1), [title: .text("x")])),
                    .upsert(Record(RecordID("Note", 2), [parent: .link(.integer(77))])),
                ])
            }
            #expect(error?.code == .invalidChange)
            #expect(try integer("SELECT Z_OPT FROM ZNOTE WHERE Z_PK = 1") == 1)
            #expect(try integer("SELECT count(*) FROM ATRANSACTION") == 0)
        }

        @Test("a shape that it does not know is refused, and stays as it is")
        func unknownShape() throws {
            let file = try SQLiteFile(path, .write)
            try file.run("CREATE TRIGGER t AFTER INSERT ON ZTAG BEGIN DELETE FROM ZNOTE; END")
            file.close()
            let error = #expect(throws: MigrationError.self) { try CoreDataStore(path) }
            #expect(error?.code == .unknownShape)
        }
    }
#endif
