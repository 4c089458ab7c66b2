#if SQLite
    import Foundation
    import Testing

    @testable import CoreDataFiles

    /// Unusual stores: odd shapes are imported completely, impossible ones refused by name, and no bytes crash.
    @Suite struct OddStoreTests {
        let folder: StoreFolder

        init() throws { folder = try StoreFolder() }

        private func refusal() -> CoreDataError? { #expect(throws: CoreDataError.self) { try folder.importing() } }

        private func imports(_ rows: Int, _ comment: Comment? = nil) throws {
            let report = try folder.importing()
            let verified = try folder.verifying()
            #expect(verified.isEqual && verified.rows == rows, "\(verified.findings.summary)")
            #expect(report.inserted == rows)
            let again = try folder.importing()
            #expect(again.inserted + again.changed + again.deleted + again.lists == 0, comment)
        }

        // MARK: Shapes

        @Test("names in other scripts, with a leading underscore, and keywords", arguments: [true, false])
        func names(cachesModel: Bool) throws {
            var size = CoreDataEntity(name: "Größe")
            size.attributes = [
                StoreFolder.attribute("_id", .integer64), StoreFolder.attribute("class", .string),
                StoreFolder.attribute("été", .double), StoreFolder.attribute("pk", .string),
                StoreFolder.attribute("opt", .boolean), StoreFolder.attribute("data_2", .data),
            ]
            let empty = CoreDataEntity(name: "A")
            let maker = try StoreMaker(
                folder.store, CoreDataModel(entities: [empty, size], origin: .modelFile), cachesModel: cachesModel)
            try maker.insert(
                "Größe",
                [
                    ("Z_ID", .integer(7)), ("ZCLASS", .text("\u{0}")), ("ZÉTÉ", .real(-0.0)), ("ZPK", .text("p")),
                    ("ZOPT", .integer(1)), ("ZDATA_2", .data([0])),
                ])
            try maker.insert("Größe", [("Z_ID", .null)])
            try maker.finish()
            try imports(2)
            let found = try StoreDescription(
                folder.store, modelPath: nil, mapping: CoreDataMapping(), beside: folder.path + "/copy")
            #expect(found.layout.hierarchies[1].attributes.count == 6, "\(found.lines)")
            #expect(try SwiftText(found.layout, CoreDataMapping()).text.contains("var `class`: String?"))
        }

        @Test("thirty entities below one another, with a property of the same name in each")
        func deep() throws {
            var entities: [CoreDataEntity] = []
            for level in 0..<30 {
                var entity = CoreDataEntity(
                    name: "Level\(100 + level)", superName: level == 0 ? nil : "Level\(99 + level)")
                entity.attributes = [StoreFolder.attribute("own\(level)", .string)]
                entity.relationships = [StoreFolder.link("next\(level)", "Level100", nil)]
                entities.append(entity)
            }
            let maker = try StoreMaker(folder.store, CoreDataModel(entities: entities, origin: .modelFile))
            for level in 0..<30 {
                try maker.insert(
                    "Level\(100 + level)",
                    [
                        ("ZOWN\(level)", .text("\(level)")), ("ZNEXT\(level)", .integer(Int64(30 - level))),
                        ("Z1_NEXT\(level)", .integer(Int64(30 - level))),
                    ])
            }
            try maker.finish()
            try imports(30)
        }

        @Test("1 500 columns")
        func wide() throws {
            var wide = CoreDataEntity(name: "Wide")
            wide.attributes = (0..<1500).map { StoreFolder.attribute("a\($0)", $0 % 2 == 0 ? .integer64 : .string) }
            let maker = try StoreMaker(folder.store, CoreDataModel(entities: [wide], origin: .modelFile))
            for row in 0..<5 {
                try maker.insert("Wide", [("ZA\(row * 2)", .integer(1)), ("ZA\(row * 2 + 1)", .text("x"))])
            }
            try maker.finish()
            try imports(5)
        }

        @Test("rows with self-links and cycles, sparse and negative keys")
        func keys() throws {
            var node = CoreDataEntity(name: "Node")
            node.relationships = [StoreFolder.link("next", "Node", nil)]
            let maker = try StoreMaker(folder.store, CoreDataModel(entities: [node], origin: .modelFile))
            for (key, next) in [(-5, 9), (0, 0), (9, 1 << 60), (1 << 60, -5)] as [(Int64, Int64)] {
                try maker.insert("Node", key: key, [("ZNEXT", .integer(next))])
            }
            try maker.finish()
            try imports(4)
        }

        @Test("the largest key is imported, or refused by name", arguments: [Int64.max, Int64.min])
        func lastKey(key: Int64) throws {
            let node = CoreDataEntity(name: "Node")
            let maker = try StoreMaker(folder.store, CoreDataModel(entities: [node], origin: .modelFile))
            try maker.insert("Node", key: key, [])
            try maker.finish()
            do { try imports(1) } catch let error as CoreDataError { #expect(error.kind == .unfitValue) }
        }

        @Test("a store without a row, and a store in a read-only folder")
        func empty() throws {
            try StoreMaker(folder.store, StoreFolder.model).finish()
            let readOnly = folder.path + "/only"
            try FileManager.default.createDirectory(atPath: readOnly, withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: folder.store, toPath: readOnly + "/Model.sqlite")
            try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: readOnly)
            defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: readOnly) }
            let report = try CoreDataImport(readOnly + "/Model.sqlite", to: folder.new).run()
            #expect(report.rows == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: readOnly) == ["Model.sqlite"])
        }

        @Test(
            "an unknown shape is refused by name",
            arguments: [
                ("DROP TABLE ZTAG", "ZTAG"), ("DROP TABLE Z_4TAGS", "Note.tags"),
                ("DROP TABLE Z_METADATA", "Z_METADATA"),
                ("DELETE FROM Z_METADATA", "Z_UUID"), ("DELETE FROM Z_PRIMARYKEY", "Z_PRIMARYKEY"),
                ("UPDATE Z_PRIMARYKEY SET Z_SUPER = 5 WHERE Z_ENT = 4", "Note"),
                ("UPDATE Z_PRIMARYKEY SET Z_SUPER = 77 WHERE Z_ENT = 7", "77"),
                ("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Tag' WHERE Z_ENT = 3", "one name"),
                ("UPDATE Z_PRIMARYKEY SET Z_NAME = NULL WHERE Z_ENT = 3", "no name"),
                ("ALTER TABLE ZTAG RENAME COLUMN Z_OPT TO Z_OTHER", "Z_OPT"),
                ("UPDATE ZNOTE SET ZFOLDER = 'one' WHERE Z_PK = 1", "ZNOTE.ZFOLDER"),
                ("UPDATE ZNOTE SET ZPRICE = 'ten' WHERE Z_PK = 1", "ZNOTE.ZPRICE"),
                ("UPDATE ZNOTE SET ZIDENTIFIER = x'00' WHERE Z_PK = 1", "ZNOTE.ZIDENTIFIER"),
                ("UPDATE ZNOTE SET ZTITLE = CAST(x'FF' AS TEXT) WHERE Z_PK = 1", "ZNOTE.ZTITLE"),
                ("UPDATE ZNOTE SET ZCREATED = 'now' WHERE Z_PK = 1", "ZNOTE.ZCREATED"),
            ])
        func refused(change: String, word: String) throws {
            try folder.make().finish()
            try folder.change(change)
            let error = refusal()
            #expect(error?.description.contains(word) == true, "\(String(describing: error))")
            #expect([.unknownShape, .unfitValue, .notAStore].contains(error?.kind), "\(String(describing: error))")
            #expect(!FileManager.default.fileExists(atPath: folder.new))
        }

        @Test("duplicate keys are refused")
        func twice() throws {
            try folder.make().finish()
            try folder.change(
                "CREATE TABLE other AS SELECT * FROM ZTAG", "DROP TABLE ZTAG", "ALTER TABLE other RENAME TO ZTAG",
                "INSERT INTO ZTAG SELECT * FROM ZTAG WHERE Z_PK = 1")
            #expect(refusal()?.kind == .unknownShape)
        }

        @Test("a store of another version than its cached model is imported by its columns")
        func otherVersion() throws {
            try folder.make().finish()
            try folder.change("ALTER TABLE ZTAG RENAME COLUMN ZNAME TO ZLABEL")
            let report = try folder.importing()
            #expect(report.notes.contains { $0.hasPrefix("Z_MODELCACHE does not fit") }, "\(report.notes)")
            #expect(try folder.verifying().isEqual)
        }

        @Test("values of any type, different in each row")
        func any() throws {
            try folder.make().finish()
            try folder.change(
                "UPDATE ZTAG SET ZNAME = x'FF00'", "UPDATE ZTAG SET ZNAME = CAST(x'FF41' AS TEXT) WHERE Z_PK = 2",
                "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (3, 7, 1, 'text'), (4, 7, 1, NULL)")
            let mapping = try CoreDataMapping(
                "{entities: {Tag: {attributes: {name: {type: 'any'}}}}}", path: "mapping.json5")
            _ = try folder.importing { $0.mapping = mapping }
            #expect(try folder.verifying { $0.mapping = mapping }.isEqual)
            try folder.change("UPDATE ZTAG SET ZNAME = '' WHERE Z_PK = 4")
            #expect(try !folder.verifying { $0.mapping = mapping }.isEqual)
        }

        // MARK: Bytes

        /// The number of damaged files: few, or many with TESTS_FULL.
        private static let rounds = ProcessInfo.processInfo.environment["TESTS_FULL"] == nil ? 60 : 3000

        @Test("a truncated store is refused or imported, and never crashes")
        func truncated() throws {
            try folder.make(isLogged: false).finish()
            let whole = try Data(contentsOf: URL(fileURLWithPath: folder.store))
            for part in 0..<20 {
                try whole.prefix(whole.count * part / 20).write(to: URL(fileURLWithPath: folder.store))
                #expect([.damaged, .notAStore].contains(refusal()?.kind), "part \(part)")
                try? FileManager.default.removeItem(atPath: folder.new + ".importing")
            }
        }

        @Test("a store with flipped bytes is refused or imported, and never crashes")
        func flipped() throws {
            try folder.make(isLogged: false).finish()
            let whole = try Data(contentsOf: URL(fileURLWithPath: folder.store))
            var random = Seeded(state: 62)
            var refusals = 0
            for _ in 0..<Self.rounds {
                var bytes = whole
                for _ in 0..<1 + random.next(4) {
                    let page = random.next(bytes.count / 4096) * 4096
                    // Mostly page headers and page ends.
                    let place = [random.next(120), random.next(4096), 4095 - random.next(200)][random.next(3)]
                    bytes[page + place] = UInt8(random.next(256))
                }
                try bytes.write(to: URL(fileURLWithPath: folder.store))
                do { _ = try folder.importing() } catch is CoreDataError { refusals += 1 }
                for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
                where name.hasPrefix("new.strata") {
                    try FileManager.default.removeItem(atPath: folder.path + "/" + name)
                }
            }
            #expect(refusals > 0)
        }

        @Test("a cached model with flipped bytes is used, or the columns are, or the store is refused")
        func flippedModel() throws {
            try folder.make(isLogged: false).finish()
            let archive = ArchiveWriter.bytes(StoreFolder.model)
            var random = Seeded(state: 63)
            for _ in 0..<Self.rounds {
                var bytes = archive
                for _ in 0..<1 + random.next(3) { bytes[random.next(bytes.count)] = UInt8(random.next(256)) }
                let file = try SQLiteFile(folder.store, .write)
                let row = try file.statement("UPDATE Z_MODELCACHE SET Z_CONTENT = ?")
                row.bind(0, data: ArchiveWriter.deflated(bytes))
                try row.run()
                do { _ = try LayoutReading.read(file) } catch { #expect(error.kind != .failure, "\(error)") }
                file.close()
            }
        }
    }

    /// A repeatable sequence of numbers.
    struct Seeded {
        var state: UInt64

        mutating func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
    }
#endif
