#if SQLite
    import CoreDataFiles
    import Foundation
    import Testing

    /// Stores that the framework itself wrote, in the folder that CORE_DATA_STORES names.
    @Suite struct RealStoreTests {
        static let stores: [String] = {
            guard let folder = ProcessInfo.processInfo.environment["CORE_DATA_STORES"] else { return [] }
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let endings = [".sqlite", ".storedata", ".db"]
            return names.filter { name in endings.contains { name.hasSuffix($0) } }.sorted().map { folder + "/" + $0 }
        }()

        @Test(
            "a real store is imported, equal, and a second import changes nothing",
            .enabled(if: !stores.isEmpty, "skipped: CORE_DATA_STORES names no folder of stores"), arguments: stores)
        func real(path: String) throws {
            let folder = try StoreFolder()
            let report = try CoreDataImport(path, to: folder.new).run()
            let verified = try CoreDataVerification(path, against: folder.new).run()
            #expect(verified.isEqual, "\(verified.findings.summary)")
            #expect(verified.rows == report.rows && report.inserted == report.rows)
            #expect(report.findings.counts == [:], "\(report.findings.summary)")
            let again = try CoreDataImport(path, to: folder.new).run()
            #expect(again.inserted + again.changed + again.deleted + again.lists == 0)
        }
    }
#endif
