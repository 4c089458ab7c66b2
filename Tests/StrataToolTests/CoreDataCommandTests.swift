#if SQLite
    import CoreDataFiles
    import Foundation
    import Testing

    @testable import StrataStorageTests

    /// `strata coredata`, as a user runs it.
    @Suite struct CoreDataCommandTests {
        let directory: TemporaryDirectory
        private var store: String { directory.path + "/Model.sqlite" }
        private var new: String { directory.path + "/App.strata" }

        init() throws {
            directory = try TemporaryDirectory()
            var note = CoreDataEntity(name: "Note")
            note.attributes = [
                CoreDataAttribute("title", .string, origin: .modelFile),
                CoreDataAttribute("isOpen", .boolean, origin: .modelFile),
            ]
            let maker = try StoreMaker(
                directory.path + "/Model.sqlite", CoreDataModel(entities: [note], origin: .modelFile))
            for index in 0..<3 { try maker.insert("Note", [("ZTITLE", .text("note \(index)"))]) }
            try maker.finish()
        }

        private func run(_ arguments: String...) throws -> StrataProcess {
            try StrataProcess.run(["coredata"] + arguments, in: directory.path)
        }

        @Test("info, import, verify and a second import report their findings and work")
        func wholeWay() throws {
            let info = try run("info", store)
            #expect(info.status == 0 && info.output.contains("Note: 3 rows in ZNOTE"), "\(info.output)\(info.error)")
            #expect(info.output.contains("  title: string, optional; ZTITLE, by Z_MODELCACHE\n"))
            let classes = try run("info", store, "--swift")
            #expect(classes.output.contains("final class Note: Object {\n"))
            let first = try run("import", store, "--to", new)
            #expect(first.status == 0, "\(first.error)")
            #expect(first.output.contains("first import; 3 rows in the store, 3 inserted, 0 changed"))
            let verified = try run("verify", store, "--to", new)
            #expect(verified.status == 0 && verified.output.contains("\nequal: 3 rows"), "\(verified.output)")
            let again = try run("import", store, "--to", new)
            #expect(again.output.contains("0 inserted, 0 changed, 0 deleted, 0 lists written"))
            let file = try SQLiteFile(store, .write)
            try file.run("UPDATE ZNOTE SET ZTITLE = '' WHERE Z_PK = 1")
            file.close()
            let differs = try run("verify", store, "--to", new)
            #expect(differs.status == 2 && differs.output.contains("row that differs: Note 1"), "\(differs.output)")
            #expect(differs.output.contains("NOT equal: 3 rows"))
        }

        @Test("impossible requests are errors with a remedy")
        func refused() throws {
            let word = try run("inof", store)
            #expect(word.status == 64 && word.error.contains("info"), "\(word.error)")
            let place = try run("import", store)
            #expect(place.status == 64 && place.error.contains("import needs --to NEW.strata"), "\(place.error)")
            let missing = try run("import", store + "x", "--to", new)
            #expect(missing.status == 64 && missing.error.contains("no such file"), "\(missing.error)")
            let early = try run("verify", store, "--to", new)
            #expect(early.status == 64 && early.error.contains("no such file"), "\(early.error)")
        }

        @Test("the page's commands run")
        func page() throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let text = try String(contentsOf: root.appendingPathComponent("docs/leaving-core-data.md"), encoding: .utf8)
            let lines = text.split(separator: "\n").filter { $0.hasPrefix("strata coredata ") }
            #expect(lines.count >= 4)
            for line in lines {
                // The shell's part, after `>`, is left out.
                let command = line.prefix { $0 != ">" }.split(separator: " ").dropFirst(2).map(String.init)
                let words = command.map { $0.contains(".") ? directory.path + "/" + $0 : $0 }
                let done = try StrataProcess.run(["coredata"] + words, in: directory.path)
                #expect(done.status == 0, "\(line): \(done.error)")
            }
        }
    }
#endif
