#if SQLite
    import CoreDataFiles
    import Foundation
    import Strata
    import Testing

    final class Folder: Object {
        @Persisted(primaryKey: true, autoIncrement: true) var coreDataKey: Int
        @Persisted var coreDataVersion: Int?
        @Persisted var name: String
        @Persisted var isOpen: Bool?
        @Persisted var parent: Folder?
        @Persisted var notes: List<Note>
        @Persisted(originProperty: "parent") var children: LinkingObjects<Folder>
    }

    final class Note: Object {
        @Persisted(primaryKey: true, autoIncrement: true) var coreDataKey: Int
        @Persisted var coreDataEntity: String
        @Persisted var coreDataVersion: Int?
        @Persisted var body: Data?
        @Persisted var created: Date?
        @Persisted var identifier: UUID?
        @Persisted var price: Decimal128?
        @Persisted var rank: Int?
        @Persisted var ratio: Float?
        @Persisted var title: String?
        @Persisted var url: String?
        @Persisted var weight: Double?
        @Persisted var due: String?
        @Persisted var memoDue: Date?
        @Persisted var extra: Data?
        @Persisted var cover: Cover?
        @Persisted var folder: Folder?
        @Persisted var tags: List<Tag>
    }

    final class Tag: Object {
        @Persisted(primaryKey: true, autoIncrement: true) var coreDataKey: Int
        @Persisted var coreDataVersion: Int?
        @Persisted var name: String?
        @Persisted(originProperty: "tags") var notes: LinkingObjects<Note>
    }

    final class Cover: Object {
        @Persisted(primaryKey: true, autoIncrement: true) var coreDataKey: Int
        @Persisted var coreDataVersion: Int?
        @Persisted var image: Data?
        @Persisted var note: Note?
    }

    final class Attachment: Object {
        @Persisted(primaryKey: true, autoIncrement: true) var coreDataKey: Int
        @Persisted var coreDataVersion: Int?
        @Persisted var name: String?
        @Persisted var note: Note?
    }

    @Suite struct ImportTests {
        let folder: StoreFolder

        init() throws { folder = try StoreFolder() }

        @Test("a Realm with the printed classes reads every value, link and list of the store")
        func values() throws {
            try folder.make().finish()
            let report = try folder.importing()
            #expect(report.way == .first)
            #expect(report.findings.summary == [])
            let realm = try folder.realm()
            let memo = try #require(realm.object(ofType: Note.self, forPrimaryKey: 1))
            #expect(memo.coreDataEntity == "Memo")
            #expect(memo.title == "Grüße 日本")
            #expect(memo.rank == .max)
            #expect(memo.created == Date(timeIntervalSinceReferenceDate: -0.125))
            #expect(memo.identifier?.uuidString == "00010203-0405-0607-0809-0A0B0C0D0E0F")
            let price = try Decimal128(string: "1234567.125")
            #expect(memo.price == price)
            #expect(memo.ratio == 0.5 && memo.weight == 1e300)
            #expect(memo.url == "https://example.org/a")
            #expect(memo.body == Data() && memo.memoDue == Date(timeIntervalSinceReferenceDate: 86_400))
            #expect(memo.due == nil && memo.cover?.note?.coreDataKey == 1)
            #expect(memo.tags.map(\.name) == ["blue", "red"])
            let letter = try #require(realm.object(ofType: Note.self, forPrimaryKey: 2))
            #expect(letter.title == "" && letter.rank == 0 && letter.due == "soon" && letter.body == nil)
            let third = try #require(realm.object(ofType: Note.self, forPrimaryKey: 3))
            #expect(third.title == nil && third.rank == nil)
            let one = try #require(realm.object(ofType: Folder.self, forPrimaryKey: 1))
            #expect(one.notes.map(\.coreDataKey) == [2, 1])
            #expect(one.children.map(\.coreDataKey) == [2] && one.isOpen == true)
            #expect(realm.object(ofType: Attachment.self, forPrimaryKey: 1)?.note?.coreDataKey == 2)
            #expect(realm.object(ofType: Tag.self, forPrimaryKey: 2)?.notes.count == 2)
        }

        @Test("the printed classes are those that open the file")
        func swift() throws {
            try folder.make().finish()
            let found = try StoreDescription(
                folder.store, modelPath: nil, mapping: CoreDataMapping(), beside: folder.path + "/copy")
            let text = try SwiftText(found.layout, CoreDataMapping()).text
            for line in [
                "final class Note: Object {", "    @Persisted var title: String?", "    @Persisted var name: String",
                "    @Persisted var tags: List<Tag>", "    @Persisted var memoDue: Date?",
                "    @Persisted var notes: List<Note>", "    @Persisted var price: Decimal128?",
                "    @Persisted(originProperty: \"tags\") var notes: LinkingObjects<Note>",
            ] {
                #expect(text.split(separator: "\n").contains { $0 == line }, "\(line)\n\(text)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count <= 3)
        }

        @Test("an import and its verification agree; a second import changes nothing")
        func again() throws {
            try folder.make().finish()
            _ = try folder.importing()
            let verified = try folder.verifying()
            #expect(verified.isEqual, "\(verified.findings.summary)")
            #expect(verified.rows == 10 && verified.lists == 4)
            #expect(verified.counts.map(\.stored).reduce(0, +) == 10)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.new))
            let second = try folder.importing()
            #expect(second.inserted + second.changed + second.deleted + second.lists == 0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder.new)).count == bytes.count)
            #expect(try folder.verifying().storedHash == verified.storedHash)
        }

        @Test(
            "a verification detects each kind of difference",
            arguments: [
                "UPDATE ZNOTE SET ZTITLE = NULL WHERE Z_PK = 2", "UPDATE ZNOTE SET ZRANK = NULL WHERE Z_PK = 2",
                "UPDATE ZNOTE SET ZCREATED = ZCREATED - 3e-17 WHERE Z_PK = 1", "DELETE FROM ZTAG WHERE Z_PK = 1",
                "UPDATE ZNOTE SET ZBODY = NULL WHERE Z_PK = 1", "UPDATE ZNOTE SET ZFOLDER = 2 WHERE Z_PK = 1",
                "INSERT INTO ZCOVER (Z_PK, Z_ENT, Z_OPT) VALUES (9, 2, 1)", "DELETE FROM Z_4TAGS WHERE Z_4NOTES = 2",
                "UPDATE Z_4TAGS SET Z_FOK_7TAGS = 3 WHERE Z_7TAGS = 2 AND Z_4NOTES = 1",
                "UPDATE ZNOTE SET Z_FOK_FOLDER = 1 WHERE Z_PK = 1", "UPDATE ZNOTE SET Z_ENT = 5 WHERE Z_PK = 1",
            ])
        func differences(change: String) throws {
            try folder.make().finish()
            _ = try folder.importing()
            #expect(try folder.verifying().isEqual)
            try folder.change(change)
            #expect(try !folder.verifying().isEqual)
            // Not all of these raise Z_OPT, so all values are compared.
            _ = try folder.importing { $0.comparesAll = true }
            let verified = try folder.verifying()
            #expect(verified.isEqual, "\(verified.findings.summary)")
        }

        @Test("changes are found by Z_OPT, and by history if it reaches back", arguments: [false, true])
        func incremental(hasHistory: Bool) throws {
            let maker = try folder.make(hasHistory: hasHistory)
            if hasHistory { try maker.file.run("INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 0)") }
            try maker.finish()
            _ = try folder.importing()
            try folder.change(
                "UPDATE ZNOTE SET ZTITLE = 'new', Z_OPT = 2 WHERE Z_PK = 4", "DELETE FROM ZNOTE WHERE Z_PK = 3",
                "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (3, 7, 1, 'green')",
                "INSERT INTO Z_4TAGS VALUES (4, 3, 1)")
            if hasHistory {
                try folder.change(
                    "INSERT INTO ATRANSACTION VALUES (2, 16002, 1, 1)",
                    "INSERT INTO ACHANGE VALUES (1, 16001, 1, 1, 5, 4, 2, NULL), (2, 16001, 1, 2, 6, 3, 2, NULL), "
                        + "(3, 16001, 1, 0, 7, 3, 2, NULL)")
            }
            let report = try folder.importing()
            #expect(report.way == (hasHistory ? .history : .keys))
            #expect(report.inserted == 1 && report.changed == 1 && report.deleted == 1 && report.lists == 1)
            #expect(try folder.verifying().isEqual)
            if hasHistory {
                // A history that begins later does not cover earlier changes.
                try folder.change(
                    "DELETE FROM ATRANSACTION", "DELETE FROM ACHANGE", "DELETE FROM ZNOTE WHERE Z_PK = 4",
                    "DELETE FROM Z_4TAGS WHERE Z_4NOTES = 4", "INSERT INTO ATRANSACTION VALUES (9, 16002, 1, 1)")
                let later = try folder.importing()
                #expect(later.way == .keys && later.deleted == 1)
                #expect(try folder.verifying().isEqual)
            }
        }

        @Test("rows that the application made stay; one with a key of the store is refused")
        func ownRows() throws {
            try folder.make().finish()
            _ = try folder.importing()
            do {
                let realm = try folder.realm()
                try realm.write {
                    let own = Note()
                    realm.add(own)
                    own.tags.append(try #require(realm.object(ofType: Tag.self, forPrimaryKey: 1)))
                    realm.add(Tag())
                }
            }
            _ = try folder.importing { $0.comparesAll = true }
            let verified = try folder.verifying()
            #expect(verified.isEqual && verified.own == 2, "\(verified.findings.summary)")
            #expect(try folder.realm().object(ofType: Note.self, forPrimaryKey: 5)?.tags.count == 1)
            try folder.change("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (3, 7, 1)")
            let error = #expect(throws: CoreDataError.self) { try folder.importing() }
            #expect(error?.kind == .unfitValue)
        }
    }
#endif
