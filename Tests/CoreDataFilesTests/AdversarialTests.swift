#if SQLite
    import CoreDataFiles
    import Foundation
    import Platform
    import Testing

    /// Stores in a state that the framework does not leave: imported correctly, or refused by name.
    @Suite struct AdversarialTests {
        let folder: StoreFolder

        init() throws { folder = try StoreFolder() }

        private func refusal(_ change: (inout CoreDataImport.Options) -> Void = { _ in }) -> CoreDataError? {
            #expect(throws: CoreDataError.self) { try folder.importing(change) }
        }

        private func options(_ mapping: String) throws -> CoreDataMapping {
            try CoreDataMapping(mapping, path: "mapping.json5")
        }

        // MARK: Rows

        @Test("a Z_MAX below a key is reported, and all rows are imported")
        func lowMaximum() throws {
            try folder.make().finish()
            try folder.change("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Note'")
            let report = try folder.importing()
            #expect(report.findings.counts == [.lowMaximum: 1])
            #expect(try folder.verifying().isEqual)
        }

        @Test("a duplicate pair in a join is kept twice, and reported")
        func duplicateJoin() throws {
            try folder.make().finish()
            try folder.change(
                "CREATE TABLE other AS SELECT * FROM Z_4TAGS", "DROP TABLE Z_4TAGS",
                "ALTER TABLE other RENAME TO Z_4TAGS", "INSERT INTO Z_4TAGS VALUES (2, 2, 1)")
            #expect(try folder.importing().findings.counts == [.duplicateJoin: 1])
            #expect(try folder.verifying().isEqual)
        }

        @Test("a row of an unknown entity is refused, or left out by the mapping")
        func unknownEntity() throws {
            try folder.make().finish()
            try folder.change("UPDATE ZNOTE SET Z_ENT = 99 WHERE Z_PK = 4")
            #expect(refusal()?.kind == .unknownShape)
            let mapping = try options("{unknownEntities: 'leaveOut'}")
            let report = try folder.importing { $0.mapping = mapping }
            #expect(report.findings.counts == [.unknownEntity: 1])
            #expect(try folder.verifying { $0.mapping = mapping }.isEqual)
        }

        @Test("a polymorphic link with another entity's number is kept, and reported")
        func polymorphicMismatch() throws {
            try folder.make().finish()
            try folder.change("UPDATE ZATTACHMENT SET Z4_NOTE = 6")
            #expect(try folder.importing().findings.counts == [.wrongEntity: 1])
            #expect(try folder.verifying().isEqual)
        }

        @Test("dangling links are null, and reported one by one")
        func dangling() throws {
            try folder.make().finish()
            try folder.change(
                "UPDATE ZNOTE SET ZCOVER = 77 WHERE Z_PK = 1", "INSERT INTO Z_4TAGS VALUES (4, 88, 1)")
            let report = try folder.importing()
            #expect(report.findings.counts == [.danglingLink: 1, .danglingJoin: 1])
            #expect(report.findings.lines.contains("dangling link: Note 1, cover to 77"))
            #expect(try folder.verifying().isEqual)
        }

        @Test("a null in a required property makes it optional, and is reported")
        func unexpectedNull() throws {
            try folder.make().finish()
            try folder.change("UPDATE ZFOLDER SET ZNAME = NULL WHERE Z_PK = 2")
            #expect(try folder.importing().becameOptional == ["Folder.name"])
            #expect(try folder.verifying().isEqual)
        }

        @Test("a value of another type is refused with its place")
        func unfit() throws {
            try folder.make().finish()
            try folder.change("UPDATE ZNOTE SET ZRANK = 'many' WHERE Z_PK = 2")
            let error = refusal()
            #expect(error?.kind == .unfitValue)
            #expect(error?.description.contains("ZNOTE.ZRANK, Z_PK 2") == true)
        }

        @Test("a blob that has a file of its own is read; a missing one is refused, or left out by the mapping")
        func externalBlob() throws {
            try folder.make().finish()
            let name = "0F1E2D3C-4B5A-4978-8695-A4B3C2D1E0FF"
            let hex = (name + "\0").utf8.map { String(format: "%02x", $0) }.joined()
            try folder.change(
                "UPDATE ZCOVER SET ZIMAGE = x'02\(hex)'",
                "INSERT INTO ZCOVER (Z_PK, Z_ENT, Z_OPT, ZIMAGE) VALUES (2, 2, 1, x'01AABB')",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_NAME = 'Cover'")
            #expect(refusal()?.kind == .unfitValue)
            let mapping = try options("{missingBlobs: 'leaveOut'}")
            let missing = try folder.importing { $0.mapping = mapping }
            #expect(missing.findings.counts == [.missingBlob: 1])
            try FileManager.default.removeItem(atPath: folder.new)
            let blobs = folder.path + "/.Model_SUPPORT/_EXTERNAL_DATA"
            try FileManager.default.createDirectory(atPath: blobs, withIntermediateDirectories: true)
            let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
            try bytes.write(to: URL(fileURLWithPath: blobs + "/" + name))
            #expect(try folder.importing().findings.counts == [:])
            #expect(try folder.verifying().isEqual)
            try bytes.dropLast().write(to: URL(fileURLWithPath: blobs + "/" + name))
            #expect(try folder.verifying().findings.counts == [.differentRow: 1])
        }

        @Test("a corrupt keyed archive is kept as bytes, and reported")
        func corruptArchive() throws {
            try folder.make().finish()
            try folder.change("UPDATE ZNOTE SET ZEXTRA = x'62706c6973743030FFFF' WHERE Z_PK = 1")
            let mapping = try options("{entities: {Memo: {attributes: {extra: {decode: true}}}}}")
            #expect(try folder.importing { $0.mapping = mapping }.findings.counts == [.undecoded: 1])
            #expect(try folder.verifying { $0.mapping = mapping }.isEqual)
        }

        @Test("a corrupt cached model is reported, and the columns are used")
        func corruptCache() throws {
            try folder.make().finish()
            try folder.change("UPDATE Z_MODELCACHE SET Z_CONTENT = x'FFEEDD'")
            let report = try folder.importing()
            #expect(report.notes.contains { $0.hasPrefix("Z_MODELCACHE is no compressed archive") })
            #expect(try folder.verifying().isEqual)
        }

        // MARK: Files

        @Test("commits of the write-ahead log are read; a torn end is reported; a log that lacks commits is refused")
        func log() throws {
            let maker = try folder.make()
            try maker.finish()
            // A second connection prevents the log's removal at the close.
            let file = try SQLiteFile(folder.store, .write)
            try file.run("PRAGMA wal_autocheckpoint = 0")
            try file.run("UPDATE ZTAG SET ZNAME = 'first', Z_OPT = 2 WHERE Z_PK = 1")
            try file.run("UPDATE ZTAG SET ZNAME = 'second', Z_OPT = 3 WHERE Z_PK = 2")
            let other = folder.path + "/copied.sqlite"
            for suffix in ["", "-wal", "-shm"] {
                try FileManager.default.copyItem(atPath: folder.store + suffix, toPath: other + suffix)
            }
            file.close()
            func importing(_ name: String) throws -> CoreDataImport.Report {
                try CoreDataImport(other, to: folder.path + "/" + name).run()
            }
            #expect(try importing("whole").notes.contains { $0.hasPrefix("the write-ahead log is read") })
            #expect(
                try CoreDataVerification(other, against: folder.path + "/whole").run().isEqual)
            let whole = try Data(contentsOf: URL(fileURLWithPath: other + "-wal"))
            try whole.dropLast(100).write(to: URL(fileURLWithPath: other + "-wal"))
            let lost = #expect(throws: CoreDataError.self) { try importing("torn") }
            #expect(lost?.kind == .logLost)
            try FileManager.default.removeItem(atPath: other + "-shm")
            #expect(try importing("torn").notes.contains { $0.contains("torn") })
            try Data("no log".utf8).write(to: URL(fileURLWithPath: other + "-wal"))
            let damaged = #expect(throws: CoreDataError.self) { try importing("none") }
            #expect(damaged?.kind == .damaged)
            try FileManager.default.removeItem(atPath: other + "-wal")
            #expect(try importing("missing").notes.contains { $0.hasPrefix("there is no write-ahead log") })
        }

        @Test("a store that is open elsewhere is refused")
        func open() throws {
            try folder.make(isLogged: false).finish()
            // A lock of an open file description conflicts with process locks, also within one process.
            let descriptor = Platform.open(folder.store, O_RDWR)
            defer { close(descriptor) }
            var lock = flock()
            lock.l_type = Int16(F_RDLCK)
            lock.l_whence = Int16(SEEK_SET)
            lock.l_start = 0x4000_0002
            lock.l_len = 510
            #expect(fcntl(descriptor, 37, &lock) == 0)
            #expect(refusal()?.kind == .inUse)
        }

        @Test("a file that is no store is refused, with its kind")
        func others() throws {
            let url = URL(fileURLWithPath: folder.store)
            #expect(refusal()?.kind == .wrongInput)
            try Data("text".utf8).write(to: url)
            #expect(refusal()?.kind == .notAStore)
            var random = SystemRandomNumberGenerator()
            try Data((0..<8192).map { _ in UInt8.random(in: 0...255, using: &random) }).write(to: url)
            #expect(refusal()?.kind == .encrypted)
            try FileManager.default.removeItem(atPath: folder.store)
            try SQLiteFile(folder.store, .create).run("CREATE TABLE t (a)")
            #expect(refusal()?.kind == .notAStore)
        }

        @Test("a damaged store is refused, and no file remains")
        func damaged() throws {
            let maker = try folder.make(isLogged: false)
            for index in 0..<2000 { try maker.insert("Tag", [("ZNAME", .text("tag \(index)"))]) }
            try maker.finish()
            var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.store))
            for place in stride(from: 8192, to: bytes.count, by: 4096) {
                for offset in 0..<512 where place + offset < bytes.count { bytes[place + offset] = 0xA5 }
            }
            try bytes.write(to: URL(fileURLWithPath: folder.store))
            #expect(refusal()?.kind == .damaged)
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!left.contains { $0.contains(".source-") })
        }

        @Test("a file of another store is not written to")
        func otherStore() throws {
            try folder.make().finish()
            _ = try folder.importing()
            try folder.change("UPDATE Z_METADATA SET Z_UUID = 'other'")
            #expect(refusal()?.kind == .wrongInput)
        }

        @Test("a store without a model is imported by its columns")
        func columns() throws {
            try folder.make(cachesModel: false).finish()
            let report = try folder.importing()
            #expect(report.notes.contains { $0.contains("from the columns") })
            #expect(report.rows == 10)
            #expect(try folder.verifying().isEqual)
        }
    }
#endif
