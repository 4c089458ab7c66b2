#if SQLite
    import CoreDataFiles
    import Foundation
    import Synchronization
    import Testing

    /// A killed process leaves its files as they are. The test copies them at each batch, and resumes the import from
    /// the copy.
    @Suite struct ResumeTests {
        let folder: StoreFolder

        init() throws { folder = try StoreFolder() }

        @Test("killed at each batch and resumed, an import gives the same as an undisturbed one")
        func killed() throws {
            let maker = try folder.make()
            for index in 0..<600 { try maker.insert("Tag", [("ZNAME", .text("tag \(index)"))]) }
            for index in 3..<500 {
                try maker.file.run("INSERT INTO Z_4TAGS VALUES (\(index % 4 + 1), \(index), \(index))")
            }
            try maker.finish()
            let path = folder.path
            let moments = Mutex(0)
            let failures = Mutex<[String]>([])
            let report = try folder.importing {
                $0.rowsPerBatch = 50
                $0.afterBatch = {
                    let moment = moments.withLock {
                        $0 += 1; return $0
                    }
                    let copy = path + "/moment\(moment)"
                    do {
                        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
                        for name in try FileManager.default.contentsOfDirectory(atPath: path)
                        where name.hasPrefix("new.strata") && !name.contains(".source-") {
                            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy + "/" + name)
                        }
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
            #expect(failures.withLock { $0 } == [])
            let hash = try folder.verifying().storedHash
            let count = moments.withLock { $0 }
            #expect(report.inserted == 610 && count > 12, "\(count) batches")
            for moment in 1...count {
                let new = path + "/moment\(moment)/new.strata"
                let resumed = try CoreDataImport(folder.store, to: new).run()
                #expect(resumed.way == .resumed && resumed.deleted == 0)
                let verified = try CoreDataVerification(folder.store, against: new).run()
                #expect(verified.isEqual && verified.foundHash == hash, "\(moment): \(verified.findings.summary)")
                #expect(verified.lists == report.lists)
            }
        }

        @Test("a store that changed while its import was interrupted is imported in its new state")
        func changedMeanwhile() throws {
            let maker = try folder.make()
            for index in 0..<9000 { try maker.insert("Tag", [("ZNAME", .text("tag \(index)"))]) }
            try maker.finish()
            let stop = #expect(throws: CoreDataError.self) {
                try folder.importing {
                    $0.rowsPerBatch = 1000
                    $0.shouldStop = { true }
                }
            }
            #expect(stop?.kind == .stopped)
            try folder.change(
                "UPDATE ZTAG SET ZNAME = 'new', Z_OPT = 2 WHERE Z_PK = 5", "DELETE FROM ZTAG WHERE Z_PK = 700",
                "DELETE FROM ZNOTE WHERE Z_PK = 4", "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (20000, 7, 1)")
            let report = try folder.importing()
            #expect(report.way == .resumed && report.changed == 1 && report.deleted >= 1)
            let verified = try folder.verifying()
            #expect(verified.isEqual, "\(verified.findings.summary)")
        }

        @Test("the next import removes the copy of a killed process")
        func leftOver() throws {
            try folder.make().finish()
            // No process has this id: it is above the system's maximum.
            let left = folder.new + ".source-2000000000-1"
            try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
            try Data("rows".utf8).write(to: URL(fileURLWithPath: left + "/store"))
            _ = try folder.importing()
            #expect(!FileManager.default.fileExists(atPath: left))
        }
    }
#endif
