#if SQLite
    import CoreDataFiles
    import Foundation
    import Strata

    /// A folder of one test, and the model that most tests use.
    final class StoreFolder {
        let path: String
        var store: String { path + "/Model.sqlite" }
        var new: String { path + "/new.strata" }

        init() throws {
            path = NSTemporaryDirectory() + "coredata-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func importing(_ change: (inout CoreDataImport.Options) -> Void = { _ in }) throws -> CoreDataImport.Report {
            var options = CoreDataImport.Options()
            change(&options)
            return try CoreDataImport(store, to: new, options).run()
        }

        func verifying(
            _ change: (inout CoreDataImport.Options) -> Void = { _ in }
        ) throws -> CoreDataVerification.Report {
            var options = CoreDataImport.Options()
            change(&options)
            return try CoreDataVerification(store, against: new, options).run()
        }

        func realm() throws -> Realm {
            try Realm(
                configuration: Realm.Configuration(
                    fileURL: URL(fileURLWithPath: new),
                    objectTypes: [Folder.self, Note.self, Tag.self, Cover.self, Attachment.self]))
        }

        /// Changes the store, as another program would.
        func change(_ sql: String...) throws {
            let file = try SQLiteFile(store, .write)
            for line in sql { try file.run(line) }
            file.close()
        }

        // MARK: Model

        static func attribute(_ name: String, _ type: CoreDataType, isOptional: Bool = true) -> CoreDataAttribute {
            CoreDataAttribute(name, type, isOptional: isOptional, origin: .modelFile)
        }

        static func link(
            _ name: String, _ target: String, _ inverse: String?, many: Bool = false, ordered: Bool = false
        ) -> CoreDataRelationship {
            var link = CoreDataRelationship(name, to: target, inverse: inverse, isToMany: many, origin: .modelFile)
            link.isOrdered = ordered
            return link
        }

        /// Folder one-to-many Note (ordered), Note many-to-many Tag (ordered), Note one-to-one Cover, Folder to itself,
        /// Attachment to any Note; Memo and Letter are notes.
        static var model: CoreDataModel {
            var folder = CoreDataEntity(name: "Folder")
            folder.attributes = [attribute("name", .string, isOptional: false), attribute("isOpen", .boolean)]
            folder.relationships = [
                link("notes", "Note", "folder", many: true, ordered: true), link("parent", "Folder", "children"),
                link("children", "Folder", "parent", many: true),
            ]
            var note = CoreDataEntity(name: "Note")
            note.isAbstract = true
            note.attributes = [
                attribute("body", .data), attribute("created", .date), attribute("identifier", .uuid),
                attribute("price", .decimal), attribute("rank", .integer64), attribute("ratio", .float),
                attribute("title", .string), attribute("url", .uri), attribute("weight", .double),
            ]
            note.relationships = [
                link("folder", "Folder", "notes"), link("cover", "Cover", "note"),
                link("tags", "Tag", "notes", many: true, ordered: true),
                link("attachments", "Attachment", "note", many: true),
            ]
            var memo = CoreDataEntity(name: "Memo", superName: "Note")
            memo.attributes = [attribute("due", .date), attribute("extra", .transformable)]
            var letter = CoreDataEntity(name: "Letter", superName: "Note")
            letter.attributes = [attribute("due", .string)]
            var tag = CoreDataEntity(name: "Tag")
            tag.attributes = [attribute("name", .string)]
            tag.relationships = [link("notes", "Note", "tags", many: true)]
            var cover = CoreDataEntity(name: "Cover")
            cover.attributes = [attribute("image", .data)]
            cover.relationships = [link("note", "Note", "cover")]
            var attachment = CoreDataEntity(name: "Attachment")
            attachment.attributes = [attribute("name", .string)]
            attachment.relationships = [link("note", "Note", "attachments")]
            return CoreDataModel(entities: [attachment, cover, folder, note, memo, letter, tag], origin: .modelFile)
        }

        /// Two folders, four notes, two tags, a cover, an attachment.
        func make(
            cachesModel: Bool = true, hasHistory: Bool = false, isLogged: Bool = true
        ) throws -> StoreMaker {
            let maker = try StoreMaker(
                store, Self.model, cachesModel: cachesModel, isLogged: isLogged, hasHistory: hasHistory)
            try maker.insert("Folder", [("ZNAME", .text("one")), ("ZISOPEN", .integer(1))])
            try maker.insert("Folder", [("ZNAME", .text("")), ("ZISOPEN", .null), ("ZPARENT", .integer(1))])
            let uuid = [UInt8](0..<16)
            try maker.insert(
                "Memo",
                [
                    ("ZTITLE", .text("Grüße 日本")), ("ZRANK", .integer(.max)), ("ZCREATED", .real(-0.125)),
                    ("ZIDENTIFIER", .data(uuid)), ("ZPRICE", .text("1234567.125")),
                    ("ZRATIO", .real(0.5)), ("ZURL", .text("https://example.org/a")), ("ZWEIGHT", .real(1e300)),
                    ("ZBODY", .data([])), ("ZFOLDER", .integer(1)), ("Z_FOK_FOLDER", .integer(2048)),
                    ("ZDUE1", .integer(86_400)), ("ZCOVER", .integer(1)),
                ])
            try maker.insert(
                "Letter",
                [
                    ("ZTITLE", .text("")), ("ZRANK", .integer(0)), ("ZDUE", .text("soon")), ("ZFOLDER", .integer(1)),
                    ("Z_FOK_FOLDER", .integer(1024)),
                ])
            try maker.insert("Memo", [("ZTITLE", .null), ("ZRANK", .null), ("ZFOLDER", .integer(2))])
            try maker.insert("Letter", [("ZTITLE", .text("last"))])
            try maker.insert("Tag", [("ZNAME", .text("red"))])
            try maker.insert("Tag", [("ZNAME", .text("blue"))])
            try maker.insert(
                "Cover", [("ZIMAGE", .data([1, 2, 3])), ("ZNOTE", .integer(1)), ("Z4_NOTE", .integer(6))])
            try maker.insert(
                "Attachment", [("ZNAME", .text("a.pdf")), ("ZNOTE", .integer(2)), ("Z4_NOTE", .integer(5))])
            try maker.file.run(
                "INSERT INTO Z_4TAGS (Z_4NOTES, Z_7TAGS, Z_FOK_7TAGS) VALUES (1, 1, 2), (1, 2, 1), (2, 2, 1)")
            return maker
        }
    }
#endif
