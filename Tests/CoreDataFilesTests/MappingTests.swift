#if SQLite
    import CoreDataFiles
    import Foundation
    import Testing

    /// Mappings, and the page that describes them.
    @Suite struct MappingTests {
        private static let page: String = {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let url = root.appendingPathComponent("docs/leaving-core-data.md")
            return (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        }()

        /// The blocks of code in the page.
        private var blocks: [String] {
            let parts = Self.page.components(separatedBy: "```")
            return parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] }
        }

        @Test("the page's mapping is parsed, with every member that it shows")
        func pageMapping() throws {
            let text = try #require(blocks.first { $0.contains("entities:") })
            let mapping = try CoreDataMapping(text, path: "page")
            let note = try #require(mapping.entities["Note"])
            #expect(note.className == "Memo" && note.key == "identifier")
            let body = try #require(note.attributes["body"])
            #expect(body.type == .string && body.column == "ZBODY1" && body.name == "text" && body.isOptional == false)
            #expect(note.attributes["photo"]?.isExternal == true && note.attributes["settings"]?.isDecoded == true)
            let folder = try #require(note.relationships["folder"])
            #expect(folder.target == "Folder" && folder.inverse == "notes" && folder.column == "ZFOLDER")
            #expect(folder.deleteRule == .nullify)
            #expect(!mapping.leavesUnknownOut && !mapping.leavesBlobsOut)
            for type in CoreDataType.allCases { #expect(Self.page.contains("`\(type.rawValue)`"), "\(type)") }
        }

        @Test(
            "an impossible mapping is refused, with its place or name",
            arguments: [
                ("{", "page"), ("{other: 1}", "other is not known"), ("{entities: {Note: {key: 1}}}", "a string"),
                ("{entities: {Note: {attributes: {title: {type: 'text'}}}}}", "text was given"),
                ("{unknownEntities: 'drop'}", "drop was given"),
            ])
        func refused(text: String, words: String) {
            let error = #expect(throws: CoreDataError.self) { try CoreDataMapping(text, path: "page") }
            #expect(error?.kind == .wrongInput)
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        }

        @Test(
            "a mapping that does not fit the store is refused by name",
            arguments: [
                ("{entities: {Nota: {key: 'title'}}}", "Nota"),
                ("{entities: {Note: {attributes: {mood: {column: 'ZTITLE'}}}}}", "Note.mood"),
                ("{entities: {Note: {attributes: {mood: {type: 'string', column: 'ZMOOD'}}}}}", "ZMOOD"),
                ("{entities: {Note: {key: 'title'}}}", "cannot be the key"),
                ("{entities: {Note: {key: 'none'}}}", "none"),
                ("{entities: {Note: {class: 'Tag'}}}", "one name"),
            ])
        func unfit(text: String, words: String) throws {
            let folder = try StoreFolder()
            try folder.make().finish()
            let mapping = try CoreDataMapping(text, path: "page")
            let error = #expect(throws: CoreDataError.self) { try folder.importing { $0.mapping = mapping } }
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        }

        @Test("another class, another name, a business key and another type follow the mapping")
        func mapped() throws {
            let folder = try StoreFolder()
            try folder.make().finish()
            let mapping = try CoreDataMapping(
                "{entities: {Folder: {class: 'Box', key: 'label', attributes: {name: {name: 'label'}}}}}", path: "page")
            try folder.change("UPDATE ZFOLDER SET ZNAME = 'two' WHERE Z_PK = 2")
            let report = try folder.importing { $0.mapping = mapping }
            #expect(report.findings.summary == [])
            #expect(try folder.verifying { $0.mapping = mapping }.isEqual)
            let other = #expect(throws: CoreDataError.self) { try folder.importing() }
            #expect(other?.kind == .wrongInput)
            try folder.change("UPDATE ZFOLDER SET ZNAME = 'three', Z_OPT = 2 WHERE Z_PK = 2")
            #expect(try folder.importing { $0.mapping = mapping }.changed == 1)
            #expect(try folder.verifying { $0.mapping = mapping }.isEqual)
        }
    }
#endif
