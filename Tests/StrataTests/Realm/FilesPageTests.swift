import Foundation
import Strata
import Testing

/// The code of docs/files-durability-recovery.md.
@Suite struct FilesPageTests {
    @Test("a damaged file is salvaged and kept, and the handler is told")
    func damagedFileIsSalvaged() throws {
        let file = TemporaryFile()
        let url = file.url
        let kept = URL(fileURLWithPath: url.path + ".damaged-1")
        defer { try? FileManager.default.removeItem(at: kept) }
        do {
            let realm = try Realm(configuration: file.configuration([Note.self]))
            try realm.write { for rank in 0..<2_000 { realm.add(Note("note number \(rank)", rank: rank)) } }
        }
        // Overwrites the second half of the file, and with it the page of the newest root, wherever that lies in it.
        let handle = try FileHandle(forUpdating: url)
        let size = try handle.seekToEnd()
        try handle.seek(toOffset: size / 4096 / 2 * 4096)
        try handle.write(contentsOf: Data(repeating: 0x5A, count: Int(size / 2)))
        try handle.close()

        let lines = Locked<[String]>([])
        let log: @Sendable (String) -> Void = { line in lines.with { $0.append(line) } }
        var configuration = Realm.Configuration(fileURL: url, objectTypes: [Note.self])
        configuration.onDamage = .salvage
        configuration.recoveryHandler = { report in
            log("\(report.reason); kept as \(report.keptFileURL.lastPathComponent)")
        }
        configuration.closeFailureHandler = { error in log("\(error)") }
        var hooked = Realm.Configuration(fileURL: url, objectTypes: [Note.self])
        hooked.report = { report in log("\(report)") }
        #expect(hooked.report != nil)
        let realm = try Realm(configuration: configuration)
        _ = realm.objects(Note.self).count
        if let line = lines.current.first {
            #expect(line.hasSuffix("kept as \(kept.lastPathComponent)"))
            #expect(FileManager.default.fileExists(atPath: kept.path))
        }
    }

    @Test("a file starts with data, and too many versions in use stop writes until they are gone")
    func startsWithData() throws {
        let (file, other) = (TemporaryFile(), TemporaryFile())
        let (bundled, url) = (file.url, other.url)
        try Realm(configuration: file.configuration([Note.self])).write {}
        var seeded = Realm.Configuration(fileURL: url, objectTypes: [Note.self])
        seeded.seedFilePath = bundled
        #expect(try Realm(configuration: seeded).isEmpty)
        var limited = Realm.Configuration(fileURL: url, objectTypes: [Note.self])
        limited.maximumNumberOfActiveVersions = 3
        let realm = try Realm(configuration: limited)
        var frozen: [Realm] = []
        let error = #expect(throws: Realm.Error.self) {
            for _ in 0..<9 {
                frozen.append(realm.freeze())
                try realm.write { realm.add(Note("x")) }
            }
        }
        #expect(error?.code == .tooManyVersions)
    }

    @Test("the page shows the code of these tests")
    func pageShowsTheseTests() throws {
        try PageCode.expect("files-durability-recovery.md", in: #filePath)
    }
}
